//! Messages sent, received, peeked at and counted.

use std::collections::HashSet;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::try_join_all;
use table_core::store::{ReceiveOptions, SendOptions, TimeToLive};
use table_core::{ErrorKind, limits};

use crate::context::Context;
use crate::failure::{Failure, Outcome, ensure, ensure_eq, ensure_kind};
use crate::test_queue::{LONG, TestQueue};

const WEEK: Duration = Duration::from_secs(limits::VISIBILITY_SECONDS);
const SECOND: Duration = Duration::from_secs(1);

/// Sends bytes and receives them.
async fn round_trip(queue: &TestQueue, body: Bytes) -> Outcome {
    queue.store.send(&queue.name, body.clone(), SendOptions::default()).await?;
    let message = queue.receive(LONG).await?;
    ensure(message.body == body, "the body came back otherwise than it was sent")?;
    Ok(queue.delete(&message.receipt).await?)
}

pub(crate) async fn a_message_comes_as_it_was_sent(context: Context) -> Outcome {
    let queue = context.queue().await?;
    for body in ["text", "", "<xml>&amp;</xml>", "caf\u{e9} \u{1f600}", " spaces ", "bGlrZSBiYXNlNjQ="] {
        round_trip(&queue, Bytes::copy_from_slice(body.as_bytes())).await?;
    }
    Ok(())
}

pub(crate) async fn any_bytes_are_a_body(context: Context) -> Outcome {
    let queue = context.queue().await?;
    round_trip(&queue, (0..=u8::MAX).collect()).await?;
    round_trip(&queue, Bytes::from_static(&[0, 0, 0xff, 0xfe])).await
}

pub(crate) async fn the_longest_body(context: Context) -> Outcome {
    let queue = context.queue().await?;
    round_trip(&queue, (0..=u8::MAX).cycle().take(limits::MESSAGE_BYTES).collect()).await
}

pub(crate) async fn a_body_that_is_too_long_is_refused(context: Context) -> Outcome {
    let queue = context.queue().await?;
    let long = Bytes::from(vec![b'x'; limits::MESSAGE_BYTES + 1]);
    let sent = queue.store.send(&queue.name, long.clone(), SendOptions::default()).await;
    ensure_kind(sent, ErrorKind::LimitExceeded, "sending a body that is too long")?;
    queue.send("short").await?;
    let message = queue.receive(LONG).await?;
    let updated = queue.store.update_message(&queue.name, &message.receipt, LONG, Some(long)).await;
    ensure_kind(updated, ErrorKind::LimitExceeded, "a new body that is too long")?;
    Ok(queue.delete(&message.receipt).await?)
}

pub(crate) async fn every_message_is_delivered(context: Context) -> Outcome {
    let queue = context.queue().await?;
    let mut sent: Vec<_> = (0..40).map(|number| format!("message {number:02}")).collect();
    for body in &sent {
        queue.send(body).await?;
    }
    sent.sort();
    queue.expect_visible(&sent.iter().map(String::as_str).collect::<Vec<_>>(), "the messages received").await
}

pub(crate) async fn equal_bodies_are_messages_of_their_own(context: Context) -> Outcome {
    let queue = context.queue().await?;
    let ids = [queue.send("same").await?.id, queue.send("same").await?.id];
    ensure(ids[0] != ids[1], "two messages have one id")?;
    queue.expect_visible(&["same", "same"], "two messages of one body").await
}

pub(crate) async fn a_receive_keeps_its_count(context: Context) -> Outcome {
    let queue = context.queue().await?;
    for _ in 0..5 {
        queue.send("x").await?;
    }
    for count in [1, 3] {
        let options = ReceiveOptions::default().with_count(count).with_visibility(LONG);
        let received = queue.store.receive(&queue.name, options).await?;
        ensure(received.len() <= count, "a receive gave more messages than it was asked for")?;
    }
    Ok(())
}

pub(crate) async fn a_count_out_of_bounds_is_refused(context: Context) -> Outcome {
    let queue = context.queue().await?;
    for count in [0, limits::RECEIVE_MESSAGES + 1] {
        let received = queue.store.receive(&queue.name, ReceiveOptions::default().with_count(count)).await;
        ensure_kind(received, ErrorKind::LimitExceeded, "a receive")?;
        ensure_kind(queue.store.peek(&queue.name, count).await, ErrorKind::LimitExceeded, "a peek")?;
    }
    Ok(())
}

pub(crate) async fn times_out_of_bounds_are_refused(context: Context) -> Outcome {
    let queue = context.queue().await?;
    let too_long = WEEK + SECOND;
    for visibility in [Duration::ZERO, too_long] {
        let options = ReceiveOptions::default().with_visibility(visibility);
        let received = queue.store.receive(&queue.name, options).await;
        ensure_kind(received, ErrorKind::LimitExceeded, "the visibility of a receive")?;
    }
    let default = SendOptions::default();
    let refused = [
        default.with_delay(too_long).with_time_to_live(TimeToLive::Never),
        default.with_time_to_live(TimeToLive::For(Duration::ZERO)),
        default.with_delay(LONG).with_time_to_live(TimeToLive::For(SECOND)),
    ];
    for options in refused {
        let sent = queue.store.send(&queue.name, Bytes::from_static(b"x"), options).await;
        ensure_kind(sent, ErrorKind::LimitExceeded, "the times of a send")?;
    }
    queue.send("x").await?;
    let message = queue.receive(LONG).await?;
    ensure_kind(queue.update(&message.receipt, too_long).await, ErrorKind::LimitExceeded, "the times of an update")?;
    Ok(())
}

pub(crate) async fn a_message_tells_its_times(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send("x").await?;
    let message = queue.receive(LONG).await?;
    ensure(message.next_visible > message.sent, "a message is visible again before it was sent")?;
    let hidden = message.next_visible.saturating_since(message.sent);
    // A service's clock may tick in seconds, and a slow case takes some.
    ensure(hidden + SECOND >= LONG, "a message is visible again before its time")?;
    ensure(hidden <= LONG + Duration::from_secs(120), "a message is hidden far beyond its time")
}

pub(crate) async fn a_peek_takes_nothing(context: Context) -> Outcome {
    let queue = context.queue().await?;
    let id = queue.send("seen").await?.id;
    for _ in 0..3 {
        let peeked = queue.peek().await?;
        ensure_eq(peeked.len(), 1, "the messages seen")?;
        ensure(peeked.iter().all(|each| each.id == id && each.body == "seen"), "a peek shows another message")?;
        ensure(peeked.iter().all(|each| each.dequeue_count == 0), "a peek counts as a receive")?;
    }
    let message = queue.receive(LONG).await?;
    ensure_eq(message.dequeue_count, 1, "the first receive after all peeks")
}

pub(crate) async fn a_peek_shows_what_is_visible(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send("taken").await?;
    queue.receive(LONG).await?;
    queue.send_with("delayed", SendOptions::default().with_delay(LONG)).await?;
    queue.send("visible").await?;
    let bodies: Vec<_> = queue.peek().await?.into_iter().map(|each| each.body).collect();
    ensure_eq(bodies, ["visible"], "the messages seen")
}

pub(crate) async fn the_length_counts_hidden_messages(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send("one").await?;
    queue.send_with("two", SendOptions::default().with_delay(LONG)).await?;
    let message = queue.receive(LONG).await?;
    ensure_eq(queue.length().await?, 2, "the length with both messages hidden")?;
    queue.delete(&message.receipt).await?;
    ensure_eq(queue.length().await?, 1, "the length after a delete")
}

pub(crate) async fn a_message_goes_to_one_receiver(context: Context) -> Outcome {
    const MESSAGES: usize = 60;
    let queue = context.queue().await?;
    for number in 0..MESSAGES {
        queue.send(&number.to_string()).await?;
    }
    let receivers = (0..6).map(|_| {
        let queue = queue.clone();
        tokio::spawn(async move { queue.receive_all(LONG).await })
    });
    let received =
        try_join_all(receivers).await.map_err(|panic| Failure::of_run(format!("a task panicked: {panic}")))?;
    let mut ids = HashSet::new();
    for message in received.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten() {
        ensure(ids.insert(message.receipt.id), "two receivers hold one message")?;
    }
    ensure_eq(ids.len(), MESSAGES, "the messages that all receivers got")
}
