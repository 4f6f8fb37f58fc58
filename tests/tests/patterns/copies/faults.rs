//! A fault at every store call, of the tables and of the queue; then a worker does what is left.

use std::sync::Arc;
use std::time::Duration;

use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan, Retry, RetryOptions};
use table_core::{QueueStore, Result, TableStore};
use table_patterns::Denormalized;
use table_tests::pattern::{TestStore, memory, our_stores};

use super::{Department, Employee, World, department, department_key, employee, key};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Caller {
    Dies,
    GivesUp,
    Repeats,
}

const CALLERS: [Caller; 3] = [Caller::Dies, Caller::GivesUp, Caller::Repeats];
const MOMENTS: [FaultMoment; 3] = [FaultMoment::Before, FaultMoment::RequestLost, FaultMoment::After];
/// The calls by which a mover creates its two queues.
const BUILDING: u64 = 2;

type Layered = (Arc<dyn TableStore>, Arc<dyn QueueStore>);

/// The stores behind one plan of faults, which counts the calls of both.
fn layered(store: &TestStore, plan: &FaultPlan, repeats: bool) -> Layered {
    let tables = Fault::new(store.tables.clone(), plan.clone());
    let queues = Fault::new(store.queues.clone(), plan.clone());
    if repeats {
        let at_once = || RetryOptions::default().with_first_wait(Duration::ZERO);
        (Arc::new(Retry::with_options(tables, at_once())), Arc::new(Retry::with_options(queues, at_once())))
    } else {
        (Arc::new(tables), Arc::new(queues))
    }
}

async fn act_on<A>((tables, queues): Layered, act: &A) -> Result<()>
where
    A: AsyncFn(Denormalized<Department>) -> Result<()>,
{
    let mover = super::mover(&tables, &queues).await?;
    act(super::staff(&tables, &mover)?).await
}

fn plan(caller: Caller, call: u64, moment: FaultMoment) -> FaultPlan {
    let options = FaultOptions::default();
    FaultPlan::new(match caller {
        Caller::Dies => options.with_death(call, moment),
        Caller::GivesUp | Caller::Repeats => options.with_failure(call, moment),
    })
}

async fn state(world: &World<'_>) -> (Vec<Employee>, Vec<Department>) {
    (world.employees().await, world.departments().await)
}

/// Runs a change with a fault at each of its calls, on every store, and says how often there was one.
async fn everywhere(act: impl AsyncFn(Denormalized<Department>) -> Result<()>) -> u32 {
    let mut runs = 0;
    let (old, new) = {
        let store = memory();
        let world = World::prepared(&store).await;
        let old = state(&world).await;
        act(world.staff()).await.expect("it works");
        (old, state(&world).await)
    };
    assert_ne!(old, new);
    for caller in CALLERS {
        for moment in MOMENTS {
            for call in BUILDING + 1.. {
                let mut reached = false;
                for store in &our_stores() {
                    let plan = plan(caller, call, moment);
                    let world = World::prepared(store).await;
                    let result = act_on(layered(store, &plan, caller == Caller::Repeats), &act).await;
                    world.settle().await;
                    world.assert_consistent().await;
                    let ended = state(&world).await;
                    let at = format!("{} {caller:?} {moment:?} at call {call}: {result:?} {ended:#?}", store.name);
                    match &result {
                        Ok(()) => assert_eq!(ended, new, "success without the new state: {at}"),
                        Err(error) if error.outcome_unknown() => assert!(ended == old || ended == new, "{at}"),
                        Err(_) => assert_eq!(ended, old, "a refusal without the old state: {at}"),
                    }
                    if caller == Caller::Repeats {
                        assert!(result.is_ok(), "one fault is too much for a caller that repeats: {at}");
                    }
                    reached |= plan.calls() >= call;
                    runs += 1;
                }
                if !reached {
                    break;
                }
            }
        }
    }
    runs
}

#[tokio::test(start_paused = true)]
async fn an_insert_of_a_source_happens_or_not() {
    let insert = async |staff: Denormalized<Department>| staff.insert(&employee(3, "Di")).await.map(|_| ());
    assert!(everywhere(insert).await > 100);
}

#[tokio::test(start_paused = true)]
async fn a_change_of_a_source_happens_or_not() {
    let update = async |staff: Denormalized<Department>| {
        let change = |jo: &mut Employee| (jo.name, jo.email) = ("Joanna".into(), "joanna@contoso.com".into());
        staff.update(key(1), change).await.map(|_| ())
    };
    assert!(everywhere(update).await > 200);
}

#[tokio::test(start_paused = true)]
async fn a_delete_of_a_source_happens_or_not() {
    let delete = async |staff: Denormalized<Department>| staff.delete(key(1)).await.map(|_| ());
    assert!(everywhere(delete).await > 200);
}

#[tokio::test(start_paused = true)]
async fn a_target_is_pointed_at_another_source_or_not() {
    let point = async |staff: Denormalized<Department>| {
        staff.update_target(department_key("north", "Sales"), |sales| sales.manager = Some(2)).await.map(|_| ())
    };
    assert!(everywhere(point).await > 100);
}

#[tokio::test(start_paused = true)]
async fn a_target_is_inserted_or_not() {
    let insert = async |staff: Denormalized<Department>| {
        staff.insert_target(&department("north", "New", Some(2))).await.map(|_| ())
    };
    assert!(everywhere(insert).await > 100);
}

/// A writer dies at any call, a worker dies at any call of its own, and the next one ends it.
#[tokio::test(start_paused = true)]
async fn a_worker_that_dies_at_any_call_leaves_nothing_undone() {
    let change: [(u32, &dyn AsyncAct); 3] = [(40, &Rename), (15, &Point), (30, &Delete)];
    for (enough, act) in change {
        let mut deaths = 0;
        for writer_dies in BUILDING + 1.. {
            let mut writer_died = false;
            for worker_dies in BUILDING + 1.. {
                let store = memory();
                let world = World::prepared(&store).await;
                let writing = plan(Caller::Dies, writer_dies, FaultMoment::After);
                let (tables, queues) = layered(&store, &writing, false);
                let mover = super::mover(&tables, &queues).await.unwrap();
                act.act(super::staff(&tables, &mover).unwrap()).await;
                store.clock.advance(super::HIDDEN);
                let working = plan(Caller::Dies, worker_dies, FaultMoment::After);
                let (tables, queues) = layered(&store, &working, false);
                drop(super::mover(&tables, &queues).await.unwrap().run_due().await);
                world.settle().await;
                world.assert_consistent().await;
                writer_died = writing.is_dead();
                if !working.is_dead() {
                    break;
                }
                deaths += 1;
            }
            if !writer_died {
                break;
            }
        }
        assert!(deaths > enough, "only {deaths} deaths");
    }
}

/// Something that a writer does who may die on the way.
trait AsyncAct {
    fn act(&self, staff: Denormalized<Department>) -> futures_util::future::LocalBoxFuture<'_, ()>;
}

struct Rename;
struct Point;
struct Delete;

impl AsyncAct for Rename {
    fn act(&self, staff: Denormalized<Department>) -> futures_util::future::LocalBoxFuture<'_, ()> {
        Box::pin(async move { drop(staff.update(key(1), |jo| jo.name = "Joanna".into()).await) })
    }
}

impl AsyncAct for Point {
    fn act(&self, staff: Denormalized<Department>) -> futures_util::future::LocalBoxFuture<'_, ()> {
        Box::pin(async move {
            drop(staff.update_target(department_key("north", "Sales"), |sales| sales.manager = Some(2)).await);
        })
    }
}

impl AsyncAct for Delete {
    fn act(&self, staff: Denormalized<Department>) -> futures_util::future::LocalBoxFuture<'_, ()> {
        Box::pin(async move { drop(staff.delete(key(1)).await) })
    }
}

#[tokio::test(start_paused = true)]
async fn lost_answers_behind_retries_leave_every_copy_right() {
    for seed in 0..60 {
        let store = memory();
        let world = World::prepared(&store).await;
        let losses = FaultOptions::default().with_losses(0.2).with_throttling(0.2).with_seed(seed);
        let plan = FaultPlan::new(losses);
        let act = async |staff: Denormalized<Department>| {
            staff.insert(&employee(3, "Di")).await?;
            staff.update(key(1), |jo| jo.name = "Joanna".into()).await?;
            staff.update_target(department_key("south", "IT"), |it| it.manager = Some(3)).await?;
            staff.insert_target(&department("north", "New", Some(1))).await?;
            staff.delete(key(3)).await.map(|_| ())
        };
        drop(act_on(layered(&store, &plan, true), &act).await);
        world.settle().await;
        world.assert_consistent().await;
    }
}
