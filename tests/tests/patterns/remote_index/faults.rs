//! A fault at every store call, of the tables and of the queue; then a worker does what is left.

use std::sync::Arc;
use std::time::Duration;

use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan, Retry, RetryOptions};
use table_core::{QueueStore, Result, Table, TableStore};
use table_patterns::Indexed;
use table_tests::pattern::{TestStore, memory, stores};

use super::{Employee, World, employee, key};

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
    A: AsyncFn(Indexed<Employee>) -> Result<()>,
{
    let mover = super::mover(&tables, &queues).await?;
    act(Indexed::kept_by(Table::new(tables, "Employees")?, &mover)?).await
}

fn plan(caller: Caller, call: u64, moment: FaultMoment) -> FaultPlan {
    let options = FaultOptions::default();
    FaultPlan::new(match caller {
        Caller::Dies => options.with_death(call, moment),
        Caller::GivesUp | Caller::Repeats => options.with_failure(call, moment),
    })
}

async fn prepared(store: &TestStore) -> World<'_> {
    let world = World::new(store).await;
    for id in [1, 2] {
        world.employees().insert(&employee(id)).await.unwrap();
    }
    world
}

/// Runs a change with a fault at each of its calls, on every store, and says how often there was one.
async fn everywhere(act: impl AsyncFn(Indexed<Employee>) -> Result<()>) -> u32 {
    let mut runs = 0;
    let new = {
        let store = memory();
        let world = prepared(&store).await;
        act(world.employees()).await.expect("it works");
        world.stored().await
    };
    for caller in CALLERS {
        for moment in MOMENTS {
            for call in BUILDING + 1.. {
                let mut reached = false;
                for store in &stores() {
                    let plan = plan(caller, call, moment);
                    let world = prepared(store).await;
                    let old = world.stored().await;
                    let result = act_on(layered(store, &plan, caller == Caller::Repeats), &act).await;
                    world.settle().await;
                    world.assert_consistent().await;
                    let state = world.stored().await;
                    let at = format!("{} {caller:?} {moment:?} at call {call}: {result:?} {state:#?}", store.name);
                    match &result {
                        Ok(()) => assert_eq!(state, new, "success without the new state: {at}"),
                        Err(error) if error.outcome_unknown() => assert!(state == old || state == new, "{at}"),
                        Err(_) => assert_eq!(state, old, "a refusal without the old state: {at}"),
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
async fn an_insert_happens_or_not() {
    let insert = async |employees: Indexed<Employee>| employees.insert(&employee(3)).await.map(|_| ());
    assert!(everywhere(insert).await > 100);
}

#[tokio::test(start_paused = true)]
async fn a_change_of_the_indexed_fields_happens_or_not() {
    let update = async |employees: Indexed<Employee>| {
        let change = |jones: &mut Employee| {
            jones.email = Some("new@contoso.com".into());
            jones.office = Some("South".into());
            jones.last_name = "Smith".into();
        };
        employees.update(key(1), change).await.map(|_| ())
    };
    assert!(everywhere(update).await > 100);
}

#[tokio::test(start_paused = true)]
async fn an_upsert_happens_or_not() {
    let upsert = async |employees: Indexed<Employee>| {
        employees.upsert(&Employee { email: None, ..employee(1) }).await.map(|_| ())
    };
    assert!(everywhere(upsert).await > 100);
}

/// The intent tells whose delete it was, so no lost answer stays open behind retries.
#[tokio::test(start_paused = true)]
async fn a_delete_happens_or_not() {
    let delete = async |employees: Indexed<Employee>| employees.delete_by_key(key(1)).await.map(|_| ());
    assert!(everywhere(delete).await > 100);
}

/// A writer dies at any call, a worker dies at any call of its own, and the next one ends it.
#[tokio::test(start_paused = true)]
async fn a_worker_that_dies_at_any_call_leaves_nothing_undone() {
    let mut deaths = 0;
    for writer_dies in BUILDING + 1.. {
        let mut writer_died = false;
        for worker_dies in BUILDING + 1.. {
            let store = memory();
            let world = prepared(&store).await;
            let writing = plan(Caller::Dies, writer_dies, FaultMoment::After);
            let change = async |employees: Indexed<Employee>| {
                let change = |jones: &mut Employee| {
                    jones.email = Some("new@contoso.com".into());
                    jones.office = None;
                };
                employees.update(key(1), change).await.map(|_| ())
            };
            drop(act_on(layered(&store, &writing, false), &change).await);
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
    assert!(deaths > 50, "only {deaths} deaths");
}

#[tokio::test(start_paused = true)]
async fn lost_answers_behind_retries_leave_every_index_right() {
    for seed in 0..100 {
        let store = memory();
        let world = prepared(&store).await;
        let losses = FaultOptions::default().with_losses(0.2).with_throttling(0.2).with_seed(seed);
        let plan = FaultPlan::new(losses);
        let act = async |employees: Indexed<Employee>| {
            employees.insert(&employee(3)).await?;
            employees.update(key(1), |jones| jones.email = Some("new@contoso.com".into())).await?;
            employees.update(key(2), |jones| jones.email = employee(1).email).await?;
            employees.delete_by_key(key(3)).await.map(|_| ())
        };
        drop(act_on(layered(&store, &plan, true), &act).await);
        world.settle().await;
        world.assert_consistent().await;
    }
}
