//! Messages that end before anybody has received them.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking, its helpers too")]

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::try_join_all;
use table_core::store::{ReceiveOptions, SendOptions, TimeToLive};
use table_core::{ManualClock, QueueName, QueueStore, Timestamp};
use table_embedded::{EmbeddedOptions, EmbeddedStore};

/// More than one write removes.
const MANY: usize = 1_300;

/// A queue of many messages that live for a minute, and behind them one that lives for ever.
async fn backlog(folder: &tempfile::TempDir) -> (EmbeddedStore, QueueName, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(Timestamp::now()));
    let options = EmbeddedOptions::new().with_clock(clock.clone());
    let store = options.open(folder.path().join("store.redb")).unwrap();
    let queue = QueueName::new("work").unwrap();
    store.create_queue(&queue).await.unwrap();
    let short = SendOptions::default().with_time_to_live(TimeToLive::For(Duration::from_secs(60)));
    try_join_all((0..MANY).map(|_| store.send(&queue, "short".into(), short))).await.unwrap();
    let for_ever = SendOptions::default().with_time_to_live(TimeToLive::Never);
    store.send(&queue, "long".into(), for_ever).await.unwrap();
    clock.advance(Duration::from_secs(61));
    (store, queue, clock)
}

#[tokio::test]
async fn a_message_is_found_behind_any_number_of_expired_ones() {
    let folder = tempfile::tempdir().unwrap();
    let (store, queue, _) = backlog(&folder).await;
    let received = store.receive(&queue, ReceiveOptions::default()).await.unwrap();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].body, "long");
    assert_eq!(store.queue_length(&queue).await.unwrap(), 1);
}

#[tokio::test]
async fn an_expired_message_is_never_received_beside_one_that_lives() {
    let folder = tempfile::tempdir().unwrap();
    let (store, queue, clock) = backlog(&folder).await;
    // Received once and given back, the one that lives stands before a new backlog.
    let received = store.receive(&queue, ReceiveOptions::default()).await.unwrap();
    store.update_message(&queue, &received[0].receipt, Duration::ZERO, None).await.unwrap();
    let short = SendOptions::default().with_time_to_live(TimeToLive::For(Duration::from_secs(60)));
    try_join_all((0..MANY).map(|_| store.send(&queue, "short".into(), short))).await.unwrap();
    clock.advance(Duration::from_secs(61));
    let received = store.receive(&queue, ReceiveOptions::default().with_count(32)).await.unwrap();
    assert_eq!(received.iter().map(|message| &message.body[..]).collect::<Vec<_>>(), [b"long"]);
}
