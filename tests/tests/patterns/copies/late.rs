//! Writers and workers that fall asleep before one of their calls, and wake up when others are long done.

use std::sync::Arc;

use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan};
use table_core::{QueueStore, TableStore};
use table_patterns::Denormalized;
use table_tests::gate::Gate;
use table_tests::pattern::memory;

use super::{Department, World, department_key, key};
use crate::nap::Nap;

fn gated(world: &World<'_>, nap: &Arc<Nap>) -> (Arc<dyn TableStore>, Arc<dyn QueueStore>) {
    let tables = Gate::new(world.store.tables.clone(), nap.clone());
    let queues = Gate::new(world.store.queues.clone(), nap.clone());
    (Arc::new(tables), Arc::new(queues))
}

/// What happens to the name of the first employee while somebody sleeps.
const OTHERS: [&[&str]; 3] = [&[], &["Third"], &["Third", "Jo"]];

/// A worker takes everything that is due, and somebody else changes the source, and whom a department names.
async fn meanwhile(world: &World<'_>, names: &[&str]) {
    world.store.clock.advance(super::HIDDEN);
    world.mover.run_due().await.unwrap();
    for name in names {
        world.staff().update(key(1), |jo| jo.name = (*name).into()).await.unwrap();
    }
    let it = department_key("south", "IT");
    world.staff().update_target(it, |it| it.manager = Some(1)).await.unwrap();
    world.store.clock.advance(super::HIDDEN);
    world.mover.run_due().await.unwrap();
}

async fn renames(staff: Denormalized<Department>) {
    drop(staff.update(key(1), |jo| jo.name = "Joanna".into()).await);
}

async fn points(staff: Denormalized<Department>) {
    let sales = department_key("north", "Sales");
    drop(staff.update_target(sales, |sales| sales.manager = Some(2 - sales.manager.unwrap_or(0) % 2)).await);
    drop(staff.insert_target(&super::department("south", "New", Some(1))).await);
}

#[tokio::test(start_paused = true)]
async fn a_late_writer_leaves_no_copy_stale() {
    let mut naps = 0;
    for (others, is_of_source) in OTHERS.into_iter().flat_map(|others| [(others, true), (others, false)]) {
        for call in 1.. {
            let store = memory();
            let world = World::prepared(&store).await;
            let nap = Nap::before(call);
            let (tables, queues) = gated(&world, &nap);
            let mover = super::mover(&tables, &queues).await.unwrap();
            let late = super::staff(&tables, &mover).unwrap();
            let writing =
                tokio::spawn(async move { if is_of_source { renames(late).await } else { points(late).await } });
            let slept = nap.asleep().await;
            if slept {
                meanwhile(&world, others).await;
                nap.wake();
                naps += 1;
            }
            writing.await.unwrap();
            world.settle().await;
            world.assert_consistent().await;
            if !slept {
                break;
            }
        }
    }
    assert!(naps > 50, "only {naps} naps");
}

#[tokio::test(start_paused = true)]
async fn a_late_worker_leaves_no_copy_stale() {
    let mut naps = 0;
    for (others, is_of_source) in OTHERS.into_iter().flat_map(|others| [(others, true), (others, false)]) {
        for call in 1.. {
            let store = memory();
            let world = World::prepared(&store).await;
            // A writer that is only heard of through its message: it died right after its transaction, and so has read
            // and sent before.
            let dead = FaultOptions::default().with_death(if is_of_source { 2 } else { 3 }, FaultMoment::After);
            let plan = FaultPlan::new(dead);
            let tables: Arc<dyn TableStore> = Arc::new(Fault::new(store.tables.clone(), plan.clone()));
            let dying = super::staff(&tables, &world.mover).unwrap();
            if is_of_source {
                renames(dying).await;
            } else {
                points(dying).await;
            }
            assert!(plan.is_dead());
            store.clock.advance(super::HIDDEN);
            let nap = Nap::before(call);
            let (tables, queues) = gated(&world, &nap);
            let late = super::mover(&tables, &queues).await.unwrap();
            let working = tokio::spawn(async move { late.run_due().await });
            let slept = nap.asleep().await;
            if slept {
                meanwhile(&world, others).await;
                nap.wake();
                naps += 1;
            }
            drop(working.await.unwrap());
            world.settle().await;
            world.assert_consistent().await;
            if !slept {
                break;
            }
        }
    }
    assert!(naps > 30, "only {naps} naps");
}

/// A writer that sleeps for a day before it writes its entity gives its intent up: its fence may be gone.
#[tokio::test(start_paused = true)]
async fn a_writer_that_is_too_late_begins_again() {
    let store = memory();
    let world = World::prepared(&store).await;
    // After the source is read and the message is sent, another message for its index.
    let nap = Nap::before(3);
    let (tables, queues) = gated(&world, &nap);
    let mover = super::mover(&tables, &queues).await.unwrap();
    let late = super::staff(&tables, &mover).unwrap();
    let writing = tokio::spawn(async move { late.update(key(1), |jo| jo.name = "Joanna".into()).await });
    assert!(nap.asleep().await);
    world.settle().await;
    tokio::time::advance(super::GRACE).await;
    nap.wake();
    writing.await.unwrap().unwrap();
    world.settle().await;
    world.assert_consistent().await;
    assert_eq!(world.departments().await[0].manager_name.as_deref(), Some("Joanna"));
}
