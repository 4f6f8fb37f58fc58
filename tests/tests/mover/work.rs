//! Items, failures, leases and shutdown.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan};
use table_core::store::{ReceiveOptions, SendOptions};
use table_core::{Error, ErrorKind, ManualClock, MemoryStore, QueueName, QueueStore, Result, Timestamp};
use table_patterns::eventually_consistent_transactions::{Delivery, Mover, MoverOptions, Next, Outgoing, WorkItem};
use table_tests::stores::memory_store;

#[derive(Debug, Serialize, Deserialize, PartialEq)]
pub(crate) struct Count {
    pub(crate) to: u32,
}

impl WorkItem for Count {
    const KIND: &'static str = "count";
}

/// A mover whose handler is given how often it was called before.
pub(crate) async fn mover<R>(
    store: &MemoryStore,
    options: MoverOptions,
    handler: impl Fn(u32, Count, Delivery) -> R + Send + Sync + 'static,
) -> Mover
where
    R: Future<Output = Result<Next>> + Send + 'static,
{
    let calls = AtomicU32::new(0);
    let queues = Arc::new(store.clone());
    let builder = Mover::builder(queues, "moves").unwrap().with_options(options);
    let handler = move |item, delivery| handler(calls.fetch_add(1, Ordering::SeqCst), item, delivery);
    builder.on(handler).build().await.unwrap()
}

/// Runs what is due, lets all waits pass, and runs again, until the queue is empty.
pub(crate) async fn run_out(mover: &Mover, clock: &ManualClock) {
    for _ in 0..100 {
        mover.run_due().await.unwrap();
        if mover.progress().await.unwrap().queued == 0 {
            return;
        }
        clock.advance(Duration::from_secs(600));
    }
    panic!("the queue does not empty");
}

pub(crate) fn options() -> MoverOptions {
    MoverOptions::default().with_most_failures(3)
}

#[tokio::test(start_paused = true)]
async fn an_error_that_trying_again_mends_never_poisons() {
    let (store, clock) = memory_store();
    let mover = mover(&store, options(), |calls, _, _| async move {
        if calls < 20 { Err(Error::new(ErrorKind::Unavailable, "not now")) } else { Ok(Next::Done) }
    })
    .await;
    mover.send(&Count { to: 1 }).await.unwrap();
    run_out(&mover, &clock).await;
    let progress = mover.progress().await.unwrap();
    assert_eq!((progress.done, progress.retried, progress.poisoned), (1, 20, 0));
    assert!(mover.poisoned().await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_item_that_fails_for_good_is_poisoned_with_its_history_and_can_be_tried_again() {
    let (store, clock) = memory_store();
    let mover = mover(&store, options(), |calls, count, delivery| async move {
        delivery.step("look", async { Ok(()) }).await?;
        let failing = async { Err::<(), _>(Error::invalid_value(format!("failure {calls}"))) };
        if calls < 3 {
            delivery.step("count", failing).await?;
        }
        assert_eq!(count.to, 7);
        Ok(Next::Done)
    })
    .await;
    mover.send(&Count { to: 7 }).await.unwrap();
    run_out(&mover, &clock).await;

    let poisoned = mover.poisoned().await.unwrap();
    assert_eq!((poisoned.len(), poisoned[0].kind.as_str()), (1, "count"));
    assert_eq!(poisoned[0].item::<Count>().unwrap(), Count { to: 7 });
    let errors: Vec<_> = poisoned[0].failures.iter().map(|failure| (failure.step.as_str(), &*failure.error)).collect();
    let expected = ["invalid value: failure 0", "invalid value: failure 1", "invalid value: failure 2"];
    assert_eq!(errors, expected.map(|error| ("count", error)));

    assert_eq!(mover.retry_poisoned("nonsense").await.unwrap_err().kind(), ErrorKind::NotFound);
    mover.retry_poisoned(&poisoned[0].id).await.unwrap();
    run_out(&mover, &clock).await;
    assert_eq!(mover.progress().await.unwrap().done, 1);
    assert!(mover.poisoned().await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn poisoned_items_can_be_dropped_one_by_one() {
    let (store, clock) = memory_store();
    let mover = mover(&store, options(), |_, _, _| async { Err(Error::invalid_value("never")) }).await;
    for to in 0..40 {
        mover.send(&Count { to }).await.unwrap();
    }
    run_out(&mover, &clock).await;
    let poisoned = mover.poisoned().await.unwrap();
    mover.drop_poisoned(&poisoned[5].id).await.unwrap();
    let left = store.queue_length(&QueueName::new("moves-poison").unwrap()).await.unwrap();
    assert_eq!(left, 39);
    assert!(mover.poisoned().await.unwrap().iter().all(|item| item.id != poisoned[5].id));
}

#[tokio::test(start_paused = true)]
async fn what_is_no_work_item_is_put_aside_whole() {
    let (store, clock) = memory_store();
    let mover = mover(&store, options(), |_, _, _| async { Ok(Next::Done) }).await;
    let queue = QueueName::new("moves").unwrap();
    store.send(&queue, "no JSON".into(), SendOptions::default()).await.unwrap();
    store.send(&queue, r#"{"kind":"count","item":"no count"}"#.into(), SendOptions::default()).await.unwrap();
    run_out(&mover, &clock).await;
    let poisoned = mover.poisoned().await.unwrap();
    assert_eq!(poisoned.len(), 2);
    assert_eq!(poisoned[0].body(), b"no JSON");
    assert!(poisoned[1].failures[0].error.contains("cannot be read"), "{:?}", poisoned[1].failures);
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_fails_its_item_and_nothing_else() {
    let (store, clock) = memory_store();
    let mover = mover(&store, options(), |_, count, _| async move {
        assert!(count.to != 1, "one is too many");
        Ok(Next::Done)
    })
    .await;
    for to in [0, 1, 2] {
        mover.send(&Count { to }).await.unwrap();
    }
    run_out(&mover, &clock).await;
    assert_eq!(mover.progress().await.unwrap().done, 2);
    assert_eq!(mover.poisoned().await.unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_message_can_come_later_and_become_another() {
    let (store, clock) = memory_store();
    let mover = mover(&store, options(), |calls, count, _| async move {
        Ok(match calls {
            0 => Next::Later(Duration::from_secs(60)),
            1 => Next::Become(Outgoing::of(&Count { to: count.to + 1 })?, Duration::from_secs(60)),
            _ => {
                assert_eq!(count.to, 2);
                Next::Done
            }
        })
    })
    .await;
    mover.send(&Count { to: 1 }).await.unwrap();
    for ran in [1, 0, 1, 0, 1] {
        assert_eq!(mover.run_due().await.unwrap(), ran);
        clock.advance(Duration::from_secs(if ran == 1 { 59 } else { 1 }));
    }
    assert_eq!(mover.progress().await.unwrap().queued, 0);
}

/// Turns the queue's clock with tokio's, so that leases and timers agree.
fn turn_together(clock: &Arc<ManualClock>) {
    let clock = Arc::clone(clock);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            clock.advance(Duration::from_secs(1));
        }
    });
}

#[tokio::test(start_paused = true)]
async fn a_long_run_keeps_its_lease_and_a_hopeless_one_loses_it() {
    let (store, clock) = memory_store();
    turn_together(&clock);
    let options = options().with_lease(Duration::from_secs(10)).with_longest_run(Duration::from_secs(300));
    let mover = mover(&store, options, |calls, _, _| async move {
        let run = if calls == 0 { 1000 } else { 100 };
        tokio::time::sleep(Duration::from_secs(run)).await;
        Ok(Next::Done)
    })
    .await;
    mover.send(&Count { to: 1 }).await.unwrap();
    let workers = mover.start();
    // While it runs nobody else can take it; after its longest run it is taken again.
    tokio::time::sleep(Duration::from_secs(200)).await;
    let queue = QueueName::new("moves").unwrap();
    assert!(store.receive(&queue, ReceiveOptions::default()).await.unwrap().is_empty());
    mover.drain().await.unwrap();
    workers.shutdown().await;
    let progress = mover.progress().await.unwrap();
    assert_eq!((progress.done, progress.retried), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_waits_for_what_ends_soon_and_releases_the_rest() {
    let (store, clock) = memory_store();
    turn_together(&clock);
    let options = options().with_shutdown_wait(Duration::from_secs(5)).with_lease(Duration::from_secs(3600));
    let mover = mover(&store, options, |_, count, _| async move {
        tokio::time::sleep(Duration::from_secs(count.to.into())).await;
        Ok(Next::Done)
    })
    .await;
    for to in [3, 500] {
        mover.send(&Count { to }).await.unwrap();
    }
    let workers = mover.start();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(mover.progress().await.unwrap().running, 2);
    workers.shutdown().await;
    assert_eq!(mover.progress().await.unwrap().done, 1);
    // Released, not just left: another worker has it at once, long before the lease is over.
    let queue = QueueName::new("moves").unwrap();
    assert_eq!(store.receive(&queue, ReceiveOptions::default()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn many_items_and_several_movers_on_one_queue_do_each_item_once() {
    let store = MemoryStore::new();
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let mut movers = Vec::new();
    for _ in 0..3 {
        let seen = Arc::clone(&seen);
        let mover = mover(&store, options().with_concurrency(8), move |_, count, _| {
            let seen = Arc::clone(&seen);
            async move {
                tokio::task::yield_now().await;
                seen.lock().unwrap().push(count.to);
                Ok(Next::Done)
            }
        });
        movers.push(mover.await);
    }
    for to in 0..300 {
        movers[0].send(&Count { to }).await.unwrap();
    }
    let workers: Vec<_> = movers.iter().map(Mover::start).collect();
    movers[0].drain().await.unwrap();
    for workers in workers {
        workers.shutdown().await;
    }
    let mut seen = seen.lock().unwrap().clone();
    seen.sort_unstable();
    assert_eq!(seen, (0..300).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn an_item_that_kills_its_workers_is_poisoned_and_one_that_must_wait_is_not() {
    let (store, clock) = memory_store();
    let options = options().with_most_deliveries(4);
    let mover = mover(&store, options, |calls, _, _| async move {
        if calls < 50 { Err(Error::new(ErrorKind::Unavailable, "not now")) } else { Ok(Next::Done) }
    })
    .await;
    let queue = QueueName::new("moves").unwrap();
    mover.send(&Count { to: 1 }).await.unwrap();
    run_out(&mover, &clock).await;
    assert_eq!(mover.progress().await.unwrap().done, 1, "fifty failures that mend poison nothing");

    mover.send(&Count { to: 2 }).await.unwrap();
    for _ in 0..4 {
        // A worker takes it and is never heard of again.
        assert_eq!(store.receive(&queue, ReceiveOptions::default()).await.unwrap().len(), 1);
        clock.advance(Duration::from_secs(60));
    }
    run_out(&mover, &clock).await;
    let poisoned = mover.poisoned().await.unwrap();
    assert_eq!((poisoned.len(), mover.progress().await.unwrap().done), (1, 1));
    assert!(poisoned[0].failures[0].error.contains("no worker"), "{:?}", poisoned[0].failures);
    assert_eq!(poisoned[0].item::<Count>().unwrap(), Count { to: 2 });

    // Tried again, it begins anew.
    mover.retry_poisoned(&poisoned[0].id).await.unwrap();
    run_out(&mover, &clock).await;
    assert_eq!(mover.progress().await.unwrap().done, 2);
}

#[tokio::test(start_paused = true)]
async fn an_item_put_aside_twice_has_one_id() {
    let (store, clock) = memory_store();
    let failing = |_, _, _| async { Err(Error::invalid_value("never")) };
    let mover = mover(&store, options().with_most_failures(1), failing).await;
    let receipt = mover.send(&Count { to: 1 }).await.unwrap();
    // The answer to the deletion is lost on a worker that dies right then.
    let plan = FaultPlan::new(FaultOptions::default().with_death(5, FaultMoment::Before));
    let faulty = Arc::new(Fault::new(store.clone(), plan.clone()));
    let dying = Mover::builder(faulty, "moves").unwrap().with_options(options().with_most_failures(1));
    let dying = dying.on(|_: Count, _| async { Err(Error::invalid_value("never")) }).build().await.unwrap();
    drop(dying.run_due().await);
    assert!(plan.is_dead());
    run_out_after(&mover, &clock).await;
    let ids: Vec<_> = mover.poisoned().await.unwrap().into_iter().map(|item| item.item_id.unwrap()).collect();
    assert_eq!(ids, [receipt.id.clone(), receipt.id]);
}

/// As [`run_out`], once all leases are over.
async fn run_out_after(mover: &Mover, clock: &ManualClock) {
    clock.advance(Duration::from_secs(600));
    run_out(mover, clock).await;
}

#[tokio::test(start_paused = true)]
async fn the_wait_before_a_repetition_doubles_up_to_its_bound() {
    let (store, clock) = memory_store();
    let options = options().with_first_wait(Duration::from_secs(2)).with_longest_wait(Duration::from_secs(6));
    let mover = mover(&store, options, |_, _, _| async { Err(Error::new(ErrorKind::Throttled, "busy")) }).await;
    mover.send(&Count { to: 1 }).await.unwrap();
    assert_eq!(mover.run_due().await.unwrap(), 1);
    for wait in [2, 4, 6, 6] {
        clock.advance(Duration::from_secs(wait - 1));
        assert_eq!(mover.run_due().await.unwrap(), 0, "it comes too early, before {wait} s");
        clock.advance(Duration::from_secs(1));
        assert_eq!(mover.run_due().await.unwrap(), 1, "it does not come after {wait} s");
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_items_run_at_once_than_allowed() {
    let (store, clock) = memory_store();
    turn_together(&clock);
    let (running, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (now, peak) = (Arc::clone(&running), Arc::clone(&most));
    let mover = mover(&store, options().with_concurrency(3), move |_, _, _| {
        let (now, peak) = (Arc::clone(&now), Arc::clone(&peak));
        async move {
            peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_secs(1)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(Next::Done)
        }
    })
    .await;
    for to in 0..20 {
        mover.send(&Count { to }).await.unwrap();
    }
    let workers = mover.start();
    mover.drain().await.unwrap();
    workers.shutdown().await;
    assert_eq!((most.load(Ordering::SeqCst), mover.progress().await.unwrap().done), (3, 20));
}

#[tokio::test]
async fn queues_know_nothing_of_each_other() {
    let store = MemoryStore::new();
    let one = mover(&store, options(), |_, _, _| async { Ok(Next::Done) }).await;
    let other = Mover::builder(Arc::new(store.clone()), "others").unwrap();
    let other = other.on(|_: Count, _| async { Ok(Next::Done) }).build().await.unwrap();
    one.send(&Count { to: 1 }).await.unwrap();
    other.send(&Count { to: 2 }).await.unwrap();
    other.send(&Count { to: 3 }).await.unwrap();
    let workers = [one.start(), other.start()];
    one.drain().await.unwrap();
    other.drain().await.unwrap();
    for workers in workers {
        workers.shutdown().await;
    }
    assert_eq!((one.progress().await.unwrap().done, other.progress().await.unwrap().done), (1, 2));
}

#[tokio::test]
async fn the_oldest_item_that_is_due_tells_how_far_behind_the_workers_are() {
    let (store, clock) = memory_store();
    clock.set(Timestamp::now().saturating_sub(Duration::from_secs(500)));
    let mover = mover(&store, options(), |_, _, _| async { Ok(Next::Done) }).await;
    assert_eq!(mover.progress().await.unwrap().oldest, None);
    mover.send(&Count { to: 1 }).await.unwrap();
    clock.advance(Duration::from_secs(400));
    mover.send(&Count { to: 2 }).await.unwrap();
    let oldest = mover.progress().await.unwrap().oldest.unwrap();
    assert!((Duration::from_secs(499)..Duration::from_secs(560)).contains(&oldest), "{oldest:?}");
    mover.run_due().await.unwrap();
    assert_eq!(mover.progress().await.unwrap().oldest, None);
}
