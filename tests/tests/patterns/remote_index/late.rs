//! Writers and workers that fall asleep before one of their calls, and wake up when others are long done.

use std::sync::Arc;

use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan};
use table_core::{QueueStore, Table, TableStore};
use table_patterns::Indexed;
use table_tests::gate::Gate;
use table_tests::pattern::memory;

use super::{Employee, World, employee, key};
use crate::nap::Nap;

fn gated(world: &World<'_>, nap: &Arc<Nap>) -> (Arc<dyn TableStore>, Arc<dyn QueueStore>) {
    let tables = Gate::new(world.store.tables.clone(), nap.clone());
    let queues = Gate::new(world.store.queues.clone(), nap.clone());
    (Arc::new(tables), Arc::new(queues))
}

async fn prepared(store: &table_tests::pattern::TestStore) -> World<'_> {
    let world = World::new(store).await;
    for id in [1, 2] {
        world.employees().insert(&employee(id)).await.unwrap();
    }
    world
}

/// A change, and what others do while its writer or worker sleeps.
type Others = fn(&mut Employee);

const OTHERS: [Others; 4] = [
    |_| (),
    |jones| jones.email = Some("third@contoso.com".into()),
    |jones| jones.email = Some("e1@contoso.com".into()),
    |jones| jones.first_name = "Jo".into(),
];

/// The call by which an update claims its value: after the entity was read, four index rows, and a message sent.
const CLAIM: u32 = 7;
/// The call by which it writes the entity.
const TRANSACT: u32 = 8;
/// The calls by which a mover is made.
const CREATE_QUEUES: u64 = 2;

fn change(jones: &mut Employee) {
    jones.email = Some("new@contoso.com".into());
    jones.office = Some("South".into());
}

/// What happens while somebody sleeps: a worker takes everything that is due, and somebody else makes a change
/// and takes the address that was left.
async fn meanwhile(world: &World<'_>, others: Others) {
    world.store.clock.advance(super::HIDDEN);
    world.mover.run_due().await.unwrap();
    world.employees().update(key(1), others).await.unwrap();
    drop(world.employees().update(key(2), |smith| smith.email = Some("e1@contoso.com".into())).await);
    world.store.clock.advance(super::HIDDEN);
    world.mover.run_due().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_late_writer_leaves_no_index_stale() {
    let mut naps = 0;
    for others in OTHERS {
        for call in 1.. {
            let store = memory();
            let world = prepared(&store).await;
            let nap = Nap::before(call);
            let (tables, queues) = gated(&world, &nap);
            let mover = super::mover(&tables, &queues).await.unwrap();
            let late = Indexed::<Employee>::kept_by(Table::new(tables, "Employees").unwrap(), &mover).unwrap();
            let writing = tokio::spawn(async move { late.update(key(1), change).await });
            let slept = nap.asleep().await;
            if slept {
                meanwhile(&world, others).await;
                nap.wake();
                naps += 1;
            }
            drop(writing.await.unwrap());
            world.settle().await;
            world.assert_consistent().await;
            if !slept {
                break;
            }
        }
    }
    assert!(naps > 40, "only {naps} naps");
}

#[tokio::test(start_paused = true)]
async fn a_late_worker_leaves_no_index_stale() {
    let mut naps = 0;
    for others in OTHERS {
        for call in 1.. {
            let store = memory();
            let world = prepared(&store).await;
            // A writer that is only heard of through its message: it died right after its transaction.
            let dead = table_core::layer::FaultOptions::default().with_death(9, table_core::layer::FaultMoment::After);
            let plan = table_core::layer::FaultPlan::new(dead);
            let tables: Arc<dyn TableStore> =
                Arc::new(table_core::layer::Fault::new(store.tables.clone(), plan.clone()));
            let mover = &world.mover;
            let dying = Indexed::<Employee>::kept_by(Table::new(tables, "Employees").unwrap(), mover).unwrap();
            drop(dying.update(key(1), change).await);
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

/// A writer sleeps before any of its calls while a worker looks after its intent and what that left is
/// collected or not; then it goes on, and dies before its end.
#[tokio::test(start_paused = true)]
async fn a_late_writer_that_dies_has_not_committed_unseen() {
    let mut committed = 0;
    for (nap_before, dies_after) in (2..=TRANSACT).flat_map(|nap| (nap..=12).map(move |death| (nap, death))) {
        for slept in [super::HIDDEN, super::GRACE] {
            // Who sleeps for a day within one of these calls cannot know of it.
            if nap_before >= CLAIM && slept == super::GRACE {
                continue;
            }
            let store = memory();
            let world = prepared(&store).await;
            let nap = Nap::before(nap_before);
            let death = u64::from(dies_after) + CREATE_QUEUES;
            let plan = FaultPlan::new(FaultOptions::default().with_death(death, FaultMoment::After));
            let tables = Gate::new(Fault::new(store.tables.clone(), plan.clone()), nap.clone());
            let queues = Gate::new(Fault::new(store.queues.clone(), plan.clone()), nap.clone());
            let (tables, queues): (Arc<dyn TableStore>, Arc<dyn QueueStore>) = (Arc::new(tables), Arc::new(queues));
            let mover = super::mover(&tables, &queues).await.unwrap();
            let late = Indexed::<Employee>::kept_by(Table::new(tables, "Employees").unwrap(), &mover).unwrap();
            let writing = tokio::spawn(async move { late.update(key(1), change).await });
            assert!(nap.asleep().await);
            if slept == super::GRACE {
                world.settle().await;
                tokio::time::advance(slept).await;
            } else {
                store.clock.advance(slept);
                world.mover.run_due().await.unwrap();
            }
            nap.wake();
            drop(writing.await.unwrap());
            committed += u32::from(world.stored().await[0].office.as_deref() == Some("South"));
            world.settle().await;
            world.assert_consistent().await;
        }
    }
    assert!(committed > 5, "only {committed} writers committed");
}

/// Two changes of one entity want the same value. The first is only heard of through its message; the worker that
/// gets it must not free the claim of the second, which is about to be carried out.
#[tokio::test(start_paused = true)]
async fn a_claim_of_another_change_is_not_freed_before_its_writer_is_stopped() {
    let store = memory();
    let world = prepared(&store).await;
    let half = super::HIDDEN / 2;
    let death = u64::from(CLAIM) - 1 + CREATE_QUEUES;
    let plan = FaultPlan::new(FaultOptions::default().with_death(death, FaultMoment::After));
    let tables: Arc<dyn TableStore> = Arc::new(Fault::new(store.tables.clone(), plan.clone()));
    let queues: Arc<dyn QueueStore> = Arc::new(Fault::new(store.queues.clone(), plan));
    let mover = super::mover(&tables, &queues).await.unwrap();
    let dying = Indexed::<Employee>::kept_by(Table::new(tables, "Employees").unwrap(), &mover).unwrap();
    dying.update(key(1), change).await.unwrap_err();
    store.clock.advance(half);

    let nap = Nap::before(TRANSACT);
    let (tables, queues) = gated(&world, &nap);
    let mover = super::mover(&tables, &queues).await.unwrap();
    let second = Indexed::<Employee>::kept_by(Table::new(tables, "Employees").unwrap(), &mover).unwrap();
    let writing = tokio::spawn(async move { second.update(key(1), change).await });
    assert!(nap.asleep().await);
    store.clock.advance(half);
    assert_eq!(world.mover.run_due().await.unwrap(), 1, "the message of the first alone");
    let rival = Employee { email: Some("new@contoso.com".into()), ..employee(3) };
    let won = world.employees().insert(&rival).await.is_ok();
    nap.wake();
    assert_eq!(writing.await.unwrap().is_ok(), !won, "one of the two has the value");
    world.settle().await;
    world.assert_consistent().await;
}

/// By then its fence is collected, so that nobody but itself can stop it.
#[tokio::test(start_paused = true)]
async fn a_writer_that_slept_for_a_day_after_its_message_does_not_commit() {
    let store = memory();
    let world = prepared(&store).await;
    let nap = Nap::before(CLAIM);
    let death = u64::from(TRANSACT) + CREATE_QUEUES;
    let plan = FaultPlan::new(FaultOptions::default().with_death(death, FaultMoment::After));
    let tables: Arc<dyn TableStore> = Arc::new(Gate::new(Fault::new(store.tables.clone(), plan.clone()), nap.clone()));
    let queues: Arc<dyn QueueStore> = Arc::new(Gate::new(Fault::new(store.queues.clone(), plan), nap.clone()));
    let mover = super::mover(&tables, &queues).await.unwrap();
    let late = Indexed::<Employee>::kept_by(Table::new(tables, "Employees").unwrap(), &mover).unwrap();
    let writing = tokio::spawn(async move { late.update(key(1), change).await });
    assert!(nap.asleep().await);
    world.settle().await;
    tokio::time::advance(super::GRACE).await;
    nap.wake();
    assert!(writing.await.unwrap().is_err(), "it dies");
    assert_eq!(world.stored().await[0], employee(1));
}

/// A writer that sleeps for a day before it writes its entity gives its intent up: its fence may be gone.
#[tokio::test(start_paused = true)]
async fn a_writer_that_is_too_late_begins_again() {
    for call in 2..7 {
        let store = memory();
        let world = prepared(&store).await;
        let nap = Nap::before(call);
        let (tables, queues) = gated(&world, &nap);
        let mover = super::mover(&tables, &queues).await.unwrap();
        let late = Indexed::<Employee>::kept_by(Table::new(tables, "Employees").unwrap(), &mover).unwrap();
        let writing = tokio::spawn(async move { late.update(key(1), change).await });
        assert!(nap.asleep().await);
        world.settle().await;
        tokio::time::advance(super::GRACE).await;
        nap.wake();
        writing.await.unwrap().unwrap();
        world.settle().await;
        world.assert_consistent().await;
        assert_eq!(world.stored().await[0].email.as_deref(), Some("new@contoso.com"), "call {call}");
    }
}
