//! Moving entities to an archive: nothing is lost, doubled or moved twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan, Retry};
use table_core::{Entity, ManualClock, MemoryStore, QueueStore, Table, TableStore};
use table_patterns::eventually_consistent_transactions::{Archive, Mover, MoverOptions};
use table_tests::gate::{Call, Gate, Turn};
use table_tests::stores::memory_store;
use tokio::sync::Semaphore;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
}

fn employee(name: &str) -> Employee {
    Employee { department: "Sales".into(), id: 456, name: name.into() }
}

fn key() -> table_core::Key<Employee> {
    Employee::key("Sales", 456)
}

struct World {
    store: MemoryStore,
    clock: Arc<ManualClock>,
    /// Straight to the store, past all faults.
    current: Table,
    archive: Table,
}

impl World {
    async fn new() -> Self {
        let (store, clock) = memory_store();
        let table = |name| Table::new(Arc::new(store.clone()), name).unwrap();
        let (current, archive) = (table("Current"), table("Archive"));
        current.create().await.unwrap();
        archive.create().await.unwrap();
        current.insert(&employee("Jo")).await.unwrap();
        Self { store, clock, current, archive }
    }

    /// A mover that reaches the tables and the queue through a layer.
    async fn mover<S: TableStore + QueueStore + Clone>(&self, layered: S) -> table_core::Result<Mover> {
        let table = |name| Table::new(Arc::new(layered.clone()), name).unwrap();
        let archive = Archive::new(table("Current"), table("Archive")).with_grace(Duration::from_secs(3600));
        let options = MoverOptions::default();
        Mover::builder(Arc::new(layered.clone()), "moves")?.with_options(options).archive(archive).build().await
    }

    async fn names(&self) -> (Option<String>, Option<String>) {
        let name = |found: Option<table_core::Versioned<Employee>>| found.map(|employee| employee.name.clone());
        (name(self.current.get(key()).await.unwrap()), name(self.archive.get(key()).await.unwrap()))
    }

    /// Lets every wait pass until the queue is empty, and looks for rows that were left behind.
    async fn settle(&self) {
        let mover = self.mover(self.store.clone()).await.unwrap();
        for _ in 0..50 {
            self.clock.advance(Duration::from_secs(4000));
            mover.run_due().await.unwrap();
        }
        assert_eq!(mover.progress().await.unwrap().queued, 0);
        assert!(mover.poisoned().await.unwrap().is_empty());
        let all = table_core::Query::<table_core::DynamicEntity>::all().allow_scan();
        let rows = self.current.all(all).await.unwrap();
        assert!(rows.iter().all(|row| !row.key.row.as_str().starts_with('~')), "a fence was left: {rows:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_entity_is_moved_and_its_fence_collected() {
    let world = World::new().await;
    let mover = world.mover(world.store.clone()).await.unwrap();
    mover.archive(&world.current, key()).await.unwrap();
    assert_eq!(mover.run_due().await.unwrap(), 1);
    assert_eq!(world.names().await, (None, Some("Jo".into())));
    world.settle().await;
    assert_eq!(world.names().await, (None, Some("Jo".into())));
}

#[tokio::test(start_paused = true)]
async fn what_is_not_there_is_nothing_to_move() {
    let world = World::new().await;
    let mover = world.mover(world.store.clone()).await.unwrap();
    world.current.delete_unconditionally(key()).await.unwrap();
    mover.archive(&world.current, key()).await.unwrap();
    world.settle().await;
    assert_eq!(world.names().await, (None, None));
}

/// Fails or dies at every call of a move, in every way, and comes back.
#[tokio::test(start_paused = true)]
async fn a_death_at_any_call_leaves_the_entity_in_one_table_in_the_end() {
    let mut calls = 0;
    for moment in [FaultMoment::Before, FaultMoment::RequestLost, FaultMoment::After] {
        for call in 1.. {
            let world = World::new().await;
            let plan = FaultPlan::new(FaultOptions::default().with_death(call, moment));
            let faulty = Fault::new(world.store.clone(), plan.clone());
            let sent = async {
                let mover = world.mover(faulty).await?;
                mover.archive(&world.current, key()).await?;
                mover.run_due().await
            };
            let sent = sent.await;
            world.settle().await;
            match world.names().await {
                (None, Some(name)) => assert_eq!(name, "Jo"),
                (Some(name), None) => {
                    assert_eq!(name, "Jo");
                    assert!(plan.is_dead() && sent.is_err(), "call {call} {moment:?}: an acknowledged move was lost");
                }
                other => panic!("call {call} {moment:?}: {other:?}"),
            }
            if !plan.is_dead() {
                break;
            }
            calls += 1;
        }
    }
    assert!(calls > 20, "only {calls} calls were failed");
}

/// An update at every moment of a move is found in the end, in one table or the other.
#[tokio::test(start_paused = true)]
async fn an_update_in_between_is_never_lost() {
    for call in 1..12 {
        let world = World::new().await;
        // The move stops before its n-th call; the update comes; then the message comes again.
        let plan = FaultPlan::new(FaultOptions::default().with_death(call, FaultMoment::Before));
        let faulty = Fault::new(world.store.clone(), plan);
        let mover = world.mover(world.store.clone()).await.unwrap();
        mover.archive(&world.current, key()).await.unwrap();
        if let Ok(mover) = world.mover(faulty).await {
            drop(mover.run_due().await);
        }
        let updated = world.current.replace_unconditionally(&employee("Joe")).await.is_ok();
        world.settle().await;
        let expected = if updated { "Joe" } else { "Jo" };
        assert_eq!(world.names().await, (None, Some(expected.into())), "call {call}");
    }
}

/// An entity that is created anew after its predecessor was moved is not moved by the old message.
#[tokio::test(start_paused = true)]
async fn an_old_message_does_not_move_a_new_entity() {
    let mut recreated = 0;
    for moment in [FaultMoment::Before, FaultMoment::After] {
        for call in 1..12 {
            let world = World::new().await;
            let mover = world.mover(world.store.clone()).await.unwrap();
            mover.archive(&world.current, key()).await.unwrap();
            let plan = FaultPlan::new(FaultOptions::default().with_death(call, moment));
            if let Ok(mover) = world.mover(Fault::new(world.store.clone(), plan)).await {
                drop(mover.run_due().await);
            }
            let through = world.names().await.0.is_none();
            if through {
                world.current.insert(&employee("New")).await.unwrap();
                recreated += 1;
            }
            world.settle().await;
            let expected = (through.then(|| "New".to_owned()), Some("Jo".to_owned()));
            assert_eq!(world.names().await, expected, "call {call} {moment:?}");
        }
    }
    assert!(recreated > 2, "the move was through before the death only {recreated} times");
}

/// Falls asleep before the n-th call to a table after the mover was built, until it is woken.
#[derive(Debug)]
struct Nap {
    before: u32,
    calls: AtomicU32,
    asleep: Semaphore,
    wake: Semaphore,
}

impl Nap {
    fn before(call: u32) -> Self {
        Self { before: call, calls: AtomicU32::new(0), asleep: Semaphore::new(0), wake: Semaphore::new(0) }
    }

    /// Waits until it sleeps; false where it never does.
    async fn asleep(&self) -> bool {
        tokio::time::timeout(Duration::from_secs(5), self.asleep.acquire()).await.is_ok()
    }

    fn wake(&self) {
        self.wake.add_permits(1);
    }
}

impl Turn for Nap {
    async fn before(&self, call: Call<'_>) -> table_core::Result<()> {
        let of_the_move = matches!(call.name, "get" | "insert" | "replace" | "transact");
        if of_the_move && self.calls.fetch_add(1, Ordering::SeqCst) + 1 == self.before {
            self.asleep.add_permits(1);
            self.wake.acquire().await.unwrap().forget();
        }
        Ok(())
    }
}

/// A worker whose lease is over goes on, while another has done the move and an entity was created anew.
#[tokio::test(start_paused = true)]
async fn a_late_worker_overwrites_nothing() {
    for late_after in 1..9 {
        let world = World::new().await;
        let mover = world.mover(world.store.clone()).await.unwrap();
        mover.archive(&world.current, key()).await.unwrap();
        // The late one sleeps before its n-th call for longer than its lease, and its queue does not tell
        // it so: renewals go another way than the calls of the move.
        let nap = Arc::new(Nap::before(late_after));
        let late = world.mover(Gate::new(world.store.clone(), nap.clone())).await.unwrap();
        let running = tokio::spawn(async move { late.run_due().await });
        if nap.asleep().await {
            world.clock.advance(Duration::from_secs(60));
            mover.run_due().await.unwrap();
            world.current.insert_or_replace(&employee("New")).await.unwrap();
            nap.wake();
        }
        drop(running.await.unwrap());
        if world.names().await.0.is_none() {
            // The move was through before the nap.
            world.current.insert(&employee("New")).await.unwrap();
        }
        world.settle().await;
        assert_eq!(world.names().await, (Some("New".into()), Some("Jo".into())), "late after {late_after}");
    }
}

#[tokio::test(start_paused = true)]
async fn lost_answers_behind_retries_move_nothing_twice() {
    for seed in 0..50 {
        let world = World::new().await;
        let losses = FaultOptions::default().with_losses(0.2).with_throttling(0.2).with_seed(seed);
        let layered = Retry::new(Fault::new(world.store.clone(), FaultPlan::new(losses)));
        let sent = async {
            let mover = world.mover(layered).await?;
            mover.archive(&world.current, key()).await?;
            mover.run_due().await
        };
        let sent = sent.await;
        world.settle().await;
        match world.names().await {
            (None, Some(name)) => assert_eq!(name, "Jo"),
            (Some(_), None) => assert!(sent.is_err(), "seed {seed}: an acknowledged move was lost"),
            other => panic!("seed {seed}: {other:?}"),
        }
    }
}
