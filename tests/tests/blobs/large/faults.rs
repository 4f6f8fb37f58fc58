//! A fault at every call of a writer and of a worker, to tables, queue and blobs.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan, Retry, RetryOptions};
use table_core::{QueueStore, Result, TableStore};
use table_patterns::large_entities::Large;
use table_tests::blobs::FaultyBlobs;

use super::{Employee, World, employee, key};

const MOMENTS: [FaultMoment; 3] = [FaultMoment::Before, FaultMoment::RequestLost, FaultMoment::After];

/// How a writer meets a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Caller {
    /// It dies: no later call reaches a store.
    Dies,
    /// It takes the error as it comes.
    GivesUp,
    /// Its tables and its queue are behind `Retry`.
    Repeats,
}

/// Runs a change with a fault at every call, and lets the queue drain: the entity is the old one or the new one, as
/// the answer says, and rows and blobs belong together.
async fn every_fault(
    prepare: impl AsyncFn(&Large<Employee>),
    act: impl AsyncFn(&Large<Employee>) -> Result<()>,
) -> usize {
    let world = World::new().await;
    prepare(&world.large().await).await;
    let old = world.stored(1).await;
    act(&world.large().await).await.unwrap();
    let new = world.stored(1).await;
    assert_ne!(old, new, "the change must be seen");
    world.settle().await;
    assert_eq!(world.stored(1).await, new);
    let mut runs = 0;
    for caller in [Caller::Dies, Caller::GivesUp, Caller::Repeats] {
        for moment in MOMENTS {
            for call in 1.. {
                let options = FaultOptions::default();
                let plan = FaultPlan::new(match caller {
                    Caller::Dies => options.with_death(call, moment),
                    Caller::GivesUp | Caller::Repeats => options.with_failure(call, moment),
                });
                let world = World::new().await;
                prepare(&world.large().await).await;
                let result = async { act(&behind(&world, &plan, caller).await?).await }.await;
                let through = plan.calls() < call;
                world.settle().await;
                let state = world.stored(1).await;
                let at = format!("{caller:?} {moment:?} at call {call} gave {result:?}: {:?}", plan.records());
                match &result {
                    Ok(()) => assert_eq!(state, new, "success without the new state: {at}"),
                    Err(error) if error.outcome_unknown() => assert!(state == old || state == new, "{at}: {state:?}"),
                    Err(_) => assert_eq!(state, old, "a refusal without the old state: {at}"),
                }
                if through {
                    break;
                }
                runs += 1;
            }
        }
    }
    runs
}

async fn behind(world: &World, plan: &FaultPlan, caller: Caller) -> Result<Large<Employee>> {
    let tables = Fault::new(Arc::clone(&world.tables), plan.clone());
    let queues = Fault::new(Arc::clone(&world.queues), plan.clone());
    let at_once = RetryOptions::default().with_first_wait(Duration::ZERO);
    let (tables, queues): (Arc<dyn TableStore>, Arc<dyn QueueStore>) = match caller {
        Caller::Repeats => {
            (Arc::new(Retry::with_options(tables, at_once.clone())), Arc::new(Retry::with_options(queues, at_once)))
        }
        Caller::Dies | Caller::GivesUp => (Arc::new(tables), Arc::new(queues)),
    };
    world.large_on(tables, queues, Arc::new(FaultyBlobs::new(Arc::clone(&world.blobs), plan.clone()))).await
}

async fn old(large: &Large<Employee>) {
    large.insert(&employee(1, "old")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_insert_happens_or_not_and_leaves_nothing_over() {
    let insert = async |large: &Large<Employee>| large.insert(&employee(1, "png")).await.map(|_| ());
    let runs = every_fault(async |_| {}, insert).await;
    assert!(runs >= 9 * 8, "only {runs} calls were failed");
}

#[tokio::test(start_paused = true)]
async fn an_update_happens_or_not_and_leaves_nothing_over() {
    let update = async |large: &Large<Employee>| {
        let change = |jo: &mut Employee| {
            jo.photo = Some("new".into());
            jo.letter = "new".into();
            jo.email = None;
        };
        large.update(key(1), change).await.map(|_| ())
    };
    let runs = every_fault(old, update).await;
    assert!(runs >= 9 * 8, "only {runs} calls were failed");
}

#[tokio::test(start_paused = true)]
async fn a_delete_happens_or_not_and_leaves_nothing_over() {
    let delete = async |large: &Large<Employee>| large.delete_by_key(key(1)).await.map(|_| ());
    let runs = every_fault(old, delete).await;
    assert!(runs >= 9 * 6, "only {runs} calls were failed");
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_written_or_not_and_leaves_nothing_over() {
    let write = async |large: &Large<Employee>| {
        // Two whole parts and a rest.
        let chunks = (0..17_u8).map(|chunk| Ok(vec![chunk; 1024 * 1024].into()));
        large.write(key(1), &Employee::PHOTO, stream::iter(chunks)).await.map(|_| ())
    };
    let runs = every_fault(old, write).await;
    assert!(runs >= 9 * 8, "only {runs} calls were failed");
}

/// A worker dies or fails at every call while it looks after what a writer left: one that died after its blobs were
/// put, and one that replaced them.
#[tokio::test(start_paused = true)]
async fn a_worker_that_dies_at_any_call_is_followed_by_one_that_ends_its_work() {
    let mut runs = 0;
    for fails_once in [false, true] {
        for moment in MOMENTS {
            for call in 1.. {
                let world = World::new().await;
                let large = world.large().await;
                large.insert(&employee(1, "old")).await.unwrap();
                large.update(key(1), |jo| jo.photo = Some("new".into())).await.unwrap();
                // Queue's creation twice, the message, three blobs: dies before the row.
                let death = FaultPlan::new(FaultOptions::default().with_death(7, FaultMoment::Before));
                let dying = behind(&world, &death, Caller::Dies).await.unwrap();
                dying.insert(&employee(2, "lost")).await.unwrap_err();
                let options = FaultOptions::default();
                let plan = FaultPlan::new(if fails_once {
                    options.with_failure(call, moment)
                } else {
                    options.with_death(call, moment)
                });
                let faulty = async {
                    let tables = Fault::new(Arc::clone(&world.tables), plan.clone());
                    let queues = Fault::new(Arc::clone(&world.queues), plan.clone());
                    let blobs = FaultyBlobs::new(Arc::clone(&world.blobs), plan.clone());
                    let mover = world.mover_on(Arc::new(tables), Arc::new(queues), Arc::new(blobs)).await?;
                    for _ in 0..4 {
                        world.clock.advance(Duration::from_secs(24 * 60 * 60));
                        mover.run_due().await?;
                    }
                    Ok::<_, table_core::Error>(())
                };
                drop(faulty.await);
                let through = plan.calls() < call;
                world.settle().await;
                assert_eq!(world.stored(1).await, Some(employee(1, "new")), "call {call} {moment:?}");
                assert_eq!((world.stored(2).await, world.blob_count().await), (None, 3), "call {call} {moment:?}");
                if through {
                    break;
                }
                runs += 1;
            }
        }
    }
    assert!(runs >= 60, "only {runs} calls were failed");
}
