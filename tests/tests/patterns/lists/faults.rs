//! A fault at every call of tables, queue and blobs; then a worker does what is left.

use std::sync::Arc;
use std::time::Duration;

use table_core::Result;
use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan, Retry, RetryOptions};
use table_patterns::IndexEntities;
use table_tests::blobs::FaultyBlobs;
use table_tests::pattern::{memory, our_stores};

use super::{Employee, FEW, NO_BLOBS, Stores, World, employee, kept, key};

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

/// The stores behind one plan of faults, which counts the calls of all.
fn layered(world: &World<'_>, plan: &FaultPlan, repeats: bool) -> Stores {
    let tables = Fault::new(world.store.tables.clone(), plan.clone());
    let queues = Fault::new(world.store.queues.clone(), plan.clone());
    let blobs = Arc::new(FaultyBlobs::new(world.blobs.clone(), plan.clone()));
    if repeats {
        let at_once = || RetryOptions::default().with_first_wait(Duration::ZERO);
        (Arc::new(Retry::with_options(tables, at_once())), Arc::new(Retry::with_options(queues, at_once())), blobs)
    } else {
        (Arc::new(tables), Arc::new(queues), blobs)
    }
}

fn plan(caller: Caller, call: u64, moment: FaultMoment) -> FaultPlan {
    let options = FaultOptions::default();
    FaultPlan::new(match caller {
        Caller::Dies => options.with_death(call, moment),
        Caller::GivesUp | Caller::Repeats => options.with_failure(call, moment),
    })
}

/// Three employees; of the lists with few keys, those of all three are in blobs.
async fn prepared(store: &table_tests::pattern::TestStore, above: usize) -> World<'_> {
    let world = World::new(store, above).await;
    for id in 1..=3 {
        world.employees.insert(&employee(id)).await.unwrap();
    }
    world
}

/// Runs a change with a fault at each of its calls, on every store, and says how often there was one.
async fn everywhere(before: usize, above: usize, act: impl AsyncFn(IndexEntities<Employee>) -> Result<()>) -> u32 {
    let mut runs = 0;
    let new = {
        let store = memory();
        let world = prepared(&store, before).await;
        act(world.employees.clone()).await.expect("it works");
        world.stored().await
    };
    for (caller, moment) in CALLERS.into_iter().flat_map(|caller| MOMENTS.map(|moment| (caller, moment))) {
        for call in BUILDING + 1.. {
            let mut reached = false;
            // Blobs are beside the table store, whichever it is.
            let stores = if before == NO_BLOBS { our_stores() } else { vec![memory()] };
            for store in &stores {
                let plan = plan(caller, call, moment);
                let world = prepared(store, before).await;
                let old = world.stored().await;
                let repeats = caller == Caller::Repeats;
                let (lists, _) = kept(layered(&world, &plan, repeats), above).await.unwrap();
                let result = act(lists).await;
                world.settle().await;
                world.assert_consistent().await;
                let state = world.stored().await;
                let at = format!("{} {caller:?} {moment:?} at call {call}: {result:?} {state:#?}", store.name);
                match &result {
                    Ok(()) => assert_eq!(state, new, "success without the new state: {at}"),
                    Err(error) if error.outcome_unknown() => assert!(state == old || state == new, "{at}"),
                    Err(_) => assert_eq!(state, old, "a refusal without the old state: {at}"),
                }
                // Blobs repeat by themselves, in their store.
                if repeats && before == NO_BLOBS {
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
    runs
}

#[tokio::test(start_paused = true)]
async fn an_insert_happens_or_not() {
    let insert = async |lists: IndexEntities<Employee>| lists.insert(&employee(4)).await.map(|_| ());
    assert!(everywhere(NO_BLOBS, NO_BLOBS, insert).await > 100);
    assert!(everywhere(FEW, FEW, insert).await > 100);
}

#[tokio::test(start_paused = true)]
async fn a_change_of_listed_values_happens_or_not() {
    let update = async |lists: IndexEntities<Employee>| {
        let change = |jones: &mut Employee| {
            jones.city = "Bonn".into();
            jones.team = None;
            jones.last_name = "Smith".into();
        };
        lists.update(key(1), change).await.map(|_| ())
    };
    assert!(everywhere(NO_BLOBS, NO_BLOBS, update).await > 100);
    assert!(everywhere(FEW, FEW, update).await > 100);
}

#[tokio::test(start_paused = true)]
async fn a_delete_happens_or_not() {
    let delete = async |lists: IndexEntities<Employee>| lists.delete(key(1)).await.map(|_| ());
    assert!(everywhere(NO_BLOBS, NO_BLOBS, delete).await > 100);
    assert!(everywhere(FEW, FEW, delete).await > 100);
}

/// The lists were written into blobs, and are small now.
#[tokio::test(start_paused = true)]
async fn a_move_back_from_a_blob_happens_or_not() {
    let insert = async |lists: IndexEntities<Employee>| lists.insert(&employee(4)).await.map(|_| ());
    assert!(everywhere(FEW, NO_BLOBS, insert).await > 100);
}

/// A writer dies at any call, a worker dies at any call of its own, and the next one ends it.
#[tokio::test(start_paused = true)]
async fn a_worker_that_dies_at_any_call_leaves_nothing_undone() {
    let mut deaths = 0;
    for above in [NO_BLOBS, FEW] {
        for writer_dies in BUILDING + 1.. {
            let mut writer_died = false;
            for worker_dies in BUILDING + 1.. {
                let store = memory();
                let world = prepared(&store, above).await;
                let writing = plan(Caller::Dies, writer_dies, FaultMoment::After);
                let (lists, _) = kept(layered(&world, &writing, false), above).await.unwrap();
                let change = |jones: &mut Employee| {
                    jones.city = "Bonn".into();
                    jones.team = None;
                };
                drop(lists.update(key(1), change).await);
                store.clock.advance(super::HIDDEN);
                let working = plan(Caller::Dies, worker_dies, FaultMoment::After);
                let (_, mover) = kept(layered(&world, &working, false), above).await.unwrap();
                drop(mover.run_due().await);
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
    }
    assert!(deaths > 100, "only {deaths} deaths");
}

#[tokio::test(start_paused = true)]
async fn lost_answers_behind_retries_leave_every_list_right() {
    for seed in 0..60 {
        let store = memory();
        let world = prepared(&store, if seed % 2 == 0 { NO_BLOBS } else { FEW }).await;
        let losses = FaultOptions::default().with_losses(0.2).with_throttling(0.2).with_seed(seed);
        let act = async {
            let (lists, _) = kept(layered(&world, &FaultPlan::new(losses), true), world.above).await?;
            lists.insert(&employee(4)).await?;
            lists.update(key(1), |jones| jones.city = "Bonn".into()).await?;
            lists.update(key(2), |jones| jones.team = None).await?;
            lists.delete(key(4)).await
        };
        drop(act.await);
        world.settle().await;
        world.assert_consistent().await;
    }
}
