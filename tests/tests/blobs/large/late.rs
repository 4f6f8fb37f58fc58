//! Writers and workers that wake up after others took them for dead.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use table_core::Result;
use table_core::layer::{FaultMoment, FaultOptions, FaultPlan};
use table_patterns::large_entities::Large;
use table_tests::blobs::FaultyBlobs;
use table_tests::gate::{Call, Gate, Turn};
use tokio::sync::Semaphore;

use super::{Employee, World, employee, key};

/// Falls asleep before the n-th call, until it is woken.
#[derive(Debug)]
struct Nap {
    before: u32,
    calls: AtomicU32,
    asleep: Semaphore,
    wake: Semaphore,
}

impl Nap {
    fn before(call: u32) -> Arc<Self> {
        let (asleep, wake) = (Semaphore::new(0), Semaphore::new(0));
        Arc::new(Self { before: call, calls: AtomicU32::new(0), asleep, wake })
    }

    /// Waits until it sleeps; false where it never does.
    async fn asleep(&self) -> bool {
        tokio::time::timeout(Duration::from_secs(5), self.asleep.acquire()).await.is_ok()
    }
}

impl Turn for Nap {
    async fn before(&self, call: Call<'_>) -> Result<()> {
        if call.name != "create_queue" && self.calls.fetch_add(1, Ordering::SeqCst) + 1 == self.before {
            self.asleep.add_permits(1);
            self.wake.acquire().await.unwrap().forget();
        }
        Ok(())
    }
}

async fn napping(world: &World, nap: &Arc<Nap>) -> Large<Employee> {
    let tables = Gate::new(Arc::clone(&world.tables), nap.clone());
    let queues = Gate::new(Arc::clone(&world.queues), nap.clone());
    let blobs = FaultyBlobs::gated(Arc::clone(&world.blobs), nap.clone());
    world.large_on(Arc::new(tables), Arc::new(queues), Arc::new(blobs)).await.unwrap()
}

/// A writer sleeps before its n-th call; a worker takes it for dead, and a rival writes; then it goes on.
async fn sleeping_writer(
    prepare: impl AsyncFn(&Large<Employee>),
    late: impl AsyncFn(&Large<Employee>) -> Result<()>,
    rival: impl AsyncFn(&Large<Employee>),
    check: impl Fn(&Result<()>, Option<Employee>, &str),
) {
    let mut slept = 0;
    // Whether the rival comes, and whether its old blobs are collected before the late one wakes up.
    for (rivals, days) in [(false, 0), (true, 0), (true, 1)] {
        for call in 1..20 {
            let world = World::new().await;
            prepare(&world.large().await).await;
            let nap = Nap::before(call);
            let large = napping(&world, &nap).await;
            let others = async {
                if !nap.asleep().await {
                    return false;
                }
                world.work().await;
                if rivals {
                    rival(&world.large().await).await;
                }
                for _ in 0..days {
                    // Almost the grace period of the fence, and more than that of the blobs before it.
                    world.clock.advance(Duration::from_secs(24 * 60 * 60 - 100));
                    world.mover().await.run_due().await.unwrap();
                }
                nap.wake.add_permits(1);
                true
            };
            let (result, napped) = tokio::join!(late(&large), others);
            slept += u32::from(napped);
            world.settle().await;
            check(&result, world.stored(1).await, &format!("before call {call}, rival: {rivals}, days: {days}"));
        }
    }
    assert!(slept >= 15, "it slept only {slept} times");
}

#[tokio::test(start_paused = true)]
async fn a_late_insert_finds_a_fence_and_begins_again() {
    sleeping_writer(
        async |_| {},
        async |large| large.insert(&employee(1, "late")).await.map(|_| ()),
        async |large| drop(large.insert(&employee(1, "rival")).await),
        |result, stored, at| match result {
            Ok(()) => assert_eq!(stored, Some(employee(1, "late")), "{at}"),
            Err(_) => assert_eq!(stored, Some(employee(1, "rival")), "{at}"),
        },
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_late_update_loses_nobodys_change() {
    sleeping_writer(
        async |large| drop(large.insert(&employee(1, "old")).await.unwrap()),
        async |large| large.update(key(1), |jo| jo.photo = Some("late".into())).await.map(|_| ()),
        async |large| drop(large.update(key(1), |jo| jo.letter = "rival".into()).await.unwrap()),
        |result, stored, at| {
            assert!(result.is_ok(), "{at}: {result:?}");
            let rivals = at.contains("rival: true");
            let stored = stored.unwrap();
            assert_eq!(stored.photo.as_deref(), Some(&b"late"[..]), "{at}");
            assert!(stored.letter != "rival" || rivals, "{at}");
        },
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_late_delete_deletes_what_is_there_or_says_so() {
    sleeping_writer(
        async |large| drop(large.insert(&employee(1, "old")).await.unwrap()),
        async |large| large.delete_by_key(key(1)).await.map(|_| ()),
        async |large| drop(large.upsert(&employee(1, "rival")).await.unwrap()),
        |result, stored, at| {
            assert!(result.is_ok(), "{at}: {result:?}");
            assert!(stored.is_none() || stored == Some(employee(1, "rival")), "{at}: {stored:?}");
        },
    )
    .await;
}

/// A worker takes a message and sleeps before its n-th call, while another does the work and the entity is changed
/// back to what it was.
#[tokio::test(start_paused = true)]
async fn a_late_worker_deletes_nothing_that_is_in_use() {
    let mut slept = 0;
    for abandoned in [false, true] {
        for call in 1..14 {
            let world = World::new().await;
            let large = world.large().await;
            large.insert(&employee(1, "old")).await.unwrap();
            if abandoned {
                // Two queues, the read, three blobs, the message, the put, the row; dies before its message is closed.
                let plan = FaultPlan::new(FaultOptions::default().with_death(9, FaultMoment::After));
                let dying = world
                    .large_on(
                        Arc::new(table_core::layer::Fault::new(Arc::clone(&world.tables), plan.clone())),
                        Arc::new(table_core::layer::Fault::new(Arc::clone(&world.queues), plan.clone())),
                        Arc::new(FaultyBlobs::new(Arc::clone(&world.blobs), plan)),
                    )
                    .await
                    .unwrap();
                dying.update(key(1), |jo| jo.photo = Some("new".into())).await.unwrap_err();
            } else {
                large.update(key(1), |jo| jo.photo = Some("new".into())).await.unwrap();
            }
            assert_eq!(world.stored(1).await, Some(employee(1, "new")));
            world.clock.advance(Duration::from_secs(24 * 60 * 60));
            let nap = Nap::before(call);
            let tables = Gate::new(Arc::clone(&world.tables), nap.clone());
            let queues = Gate::new(Arc::clone(&world.queues), nap.clone());
            let blobs = FaultyBlobs::gated(Arc::clone(&world.blobs), nap.clone());
            let late = world.mover_on(Arc::new(tables), Arc::new(queues), Arc::new(blobs)).await.unwrap();
            let running = tokio::spawn(async move { late.run_due().await });
            if nap.asleep().await {
                slept += 1;
                world.work().await;
                large.update(key(1), |jo| jo.photo = Some("old".into())).await.unwrap();
                world.work().await;
                nap.wake.add_permits(1);
            } else {
                large.update(key(1), |jo| jo.photo = Some("old".into())).await.unwrap();
            }
            drop(running.await.unwrap());
            world.settle().await;
            assert_eq!(world.stored(1).await, Some(employee(1, "old")), "abandoned: {abandoned}, call {call}");
        }
    }
    assert!(slept >= 8, "it slept only {slept} times");
}
