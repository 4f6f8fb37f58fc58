//! What counts towards the poison queue, what does not, and how long an item waits.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use table_core::store::{ReceiveOptions, SendOptions};
use table_core::{Error, ErrorKind, MemoryStore, QueueName, QueueStore};
use table_patterns::eventually_consistent_transactions::{Mover, Next, Outgoing, WorkItem};
use table_tests::stores::memory_store;

use crate::work::{Count, mover, options, run_out};

/// An item as large as wanted.
#[derive(Debug, Serialize, Deserialize)]
struct Text(String);

impl WorkItem for Text {
    const KIND: &'static str = "text";
}

/// The largest text that an item has room for.
fn longest() -> Text {
    let fits = |length: &usize| Outgoing::of(&Text("x".repeat(*length))).is_ok();
    let length = (43 * 1024..44 * 1024).rev().find(fits);
    Text("x".repeat(length.expect("an item of 43 KiB is none too large")))
}

#[tokio::test(start_paused = true)]
async fn an_item_without_a_handler_here_waits_for_a_process_that_has_one() {
    let (store, clock) = memory_store();
    let old = mover(&store, options().with_most_deliveries(4), |_, _, _| async { Ok(Next::Done) }).await;
    old.send(&Text("new".into())).await.unwrap();
    for _ in 0..20 {
        assert_eq!(old.run_due().await.unwrap(), 1);
        clock.advance(Duration::from_secs(299));
        assert_eq!(old.run_due().await.unwrap(), 0, "it waits for as long as any");
        clock.advance(Duration::from_secs(1));
    }
    let progress = old.progress().await.unwrap();
    assert_eq!((progress.unhandled, progress.retried, progress.poisoned, progress.queued), (20, 20, 0, 1));

    // The new version fails once: it is its first failure, and so is the wait.
    let new = Mover::builder(Arc::new(store.clone()), "moves").unwrap().with_options(options());
    let new = new.on(|_: Text, _| async { Err(Error::invalid_value("never")) }).build().await.unwrap();
    assert_eq!(new.run_due().await.unwrap(), 1);
    clock.advance(Duration::from_secs(1));
    run_out(&new, &clock).await;
    let poisoned = new.poisoned().await.unwrap();
    assert_eq!((poisoned.len(), poisoned[0].failures.len()), (1, 3), "{poisoned:?}");
}

#[tokio::test(start_paused = true)]
async fn what_an_operator_mends_is_counted_and_never_poisons() {
    for kind in [ErrorKind::PermissionDenied, ErrorKind::TableNotFound, ErrorKind::QueueNotFound] {
        let (store, clock) = memory_store();
        let mover = mover(&store, options(), move |calls, _, _| async move {
            if calls < 20 { Err(Error::new(kind, "ask the operator")) } else { Ok(Next::Done) }
        })
        .await;
        mover.send(&Count { to: 1 }).await.unwrap();
        mover.run_due().await.unwrap();
        for wait in [1, 2, 4, 8] {
            clock.advance(Duration::from_secs(wait - 1));
            assert_eq!(mover.run_due().await.unwrap(), 0, "{kind} comes too early, before {wait} s");
            clock.advance(Duration::from_secs(1));
            assert_eq!(mover.run_due().await.unwrap(), 1, "{kind} does not come after {wait} s");
        }
        run_out(&mover, &clock).await;
        let progress = mover.progress().await.unwrap();
        assert_eq!((progress.done, progress.blocked, progress.retried, progress.poisoned), (1, 20, 20, 0), "{kind}");
    }
}

#[tokio::test]
async fn two_handlers_of_one_name_are_refused() {
    let builder = || Mover::builder(Arc::new(MemoryStore::new()), "moves").unwrap();
    let twice = builder().on(|_: Count, _| async { Ok(Next::Done) }).on(|_: Count, _| async { Ok(Next::Done) });
    let error = twice.build().await.unwrap_err();
    assert_eq!((error.kind(), error.table()), (ErrorKind::AlreadyExists, None));
    assert!(error.message().contains("\"count\" of the queue moves;"), "{error}");
    let two = builder().on(|_: Count, _| async { Ok(Next::Done) }).on(|_: Text, _| async { Ok(Next::Done) });
    two.build().await.unwrap();
}

#[tokio::test]
async fn an_item_that_no_message_has_room_for_is_refused_before_it_leaves() {
    let (store, _) = memory_store();
    let mover = mover(&store, options(), |_, _, _| async { Ok(Next::Done) }).await;
    let mut text = longest();
    mover.send(&text).await.unwrap();
    text.0.push('x');
    let error = mover.send(&text).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert!(error.message().contains("store the content and send its key"), "{error}");
    assert_eq!(mover.progress().await.unwrap().queued, 1);
}

#[tokio::test(start_paused = true)]
async fn what_can_never_become_of_an_item_poisons_it() {
    let week = Duration::from_secs(7 * 24 * 60 * 60);
    for (length, due, named) in [(60_000, Duration::ZERO, "takes at most"), (1, 2 * week, "seven days")] {
        let (store, clock) = memory_store();
        let mover = mover(&store, options(), move |_, _, _| async move {
            Ok(Next::Become(Outgoing::of(&Text("x".repeat(length)))?, due))
        })
        .await;
        mover.send(&Count { to: 1 }).await.unwrap();
        run_out(&mover, &clock).await;
        let poisoned = mover.poisoned().await.unwrap();
        let progress = mover.progress().await.unwrap();
        assert_eq!((poisoned.len(), progress.done, progress.retried), (1, 0, 2), "{named}");
        assert!(poisoned[0].failures[2].error.contains(named), "{:?}", poisoned[0].failures);
    }
}

#[tokio::test(start_paused = true)]
async fn the_largest_item_is_poisoned_with_its_error() {
    let (store, clock) = memory_store();
    let mover = Mover::builder(Arc::new(store.clone()), "moves").unwrap().with_options(options());
    // No character takes more room in JSON than this one, which an error can hold.
    let failing = |_: Text, _| async { Err(Error::invalid_value("\u{1}".repeat(1000))) };
    let mover = mover.on(failing).build().await.unwrap();
    mover.send(&longest()).await.unwrap();
    run_out(&mover, &clock).await;
    let poisoned = mover.poisoned().await.unwrap();
    assert_eq!((poisoned.len(), poisoned[0].item::<Text>().unwrap().0.len()), (1, longest().0.len()));
    assert!(poisoned[0].failures[0].error.contains("\u{1}\u{1}"), "{:?}", poisoned[0].failures);
}

#[tokio::test(start_paused = true)]
async fn an_item_whose_message_has_no_room_for_its_failures_is_put_aside_at_once() {
    let (store, clock) = memory_store();
    let mover = Mover::builder(Arc::new(store.clone()), "moves").unwrap().with_options(options());
    let failing = |_: Text, _| async { Err(Error::invalid_value("never")) };
    let mover = mover.on(failing).build().await.unwrap();
    let queue = QueueName::new("moves").unwrap();
    // Another program sends what `Outgoing::of` refuses.
    let full = format!(r#"{{"kind":"text","item":"{}"}}"#, "x".repeat(48 * 1024 - 25));
    assert_eq!(full.len(), 48 * 1024);
    store.send(&queue, full.into(), SendOptions::default()).await.unwrap();
    assert_eq!(mover.run_due().await.unwrap(), 1);
    clock.advance(Duration::from_secs(600));
    assert_eq!((mover.run_due().await.unwrap(), mover.poisoned().await.unwrap().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn the_wait_follows_the_failures_in_a_row_and_not_the_deliveries() {
    let (store, clock) = memory_store();
    let mover = mover(&store, options(), |calls, _, _| async move {
        match calls {
            0 | 1 | 3 => Err(Error::new(ErrorKind::Unavailable, "not now")),
            2 => Ok(Next::Later(Duration::ZERO)),
            _ => Ok(Next::Done),
        }
    })
    .await;
    mover.send(&Count { to: 1 }).await.unwrap();
    let queue = QueueName::new("moves").unwrap();
    for _ in 0..10 {
        // A process takes it, is told to end, and releases it.
        let taken = store.receive(&queue, ReceiveOptions::default()).await.unwrap();
        store.update_message(&queue, &taken[0].receipt, Duration::ZERO, None).await.unwrap();
    }
    assert_eq!(mover.run_due().await.unwrap(), 1);
    // The first failure, the second, and one after a delivery that was none.
    for (wait, ran) in [(1, 1), (2, 2), (1, 1)] {
        assert_eq!(mover.run_due().await.unwrap(), 0);
        clock.advance(Duration::from_secs(wait));
        assert_eq!(mover.run_due().await.unwrap(), ran, "after {wait} s");
    }
    assert_eq!(mover.progress().await.unwrap().done, 1);
}
