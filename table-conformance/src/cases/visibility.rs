//! Time: delays, visibility, counts of deliveries, and expiry.

use std::time::Duration;

use table_core::ErrorKind;
use table_core::store::{SendOptions, TimeToLive};

use crate::context::Context;
use crate::failure::{Outcome, ensure_eq, ensure_kind};
use crate::test_queue::{LONG, SHORT};

pub(crate) async fn a_received_message_is_hidden(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send("x").await?;
    queue.receive(LONG).await?;
    queue.expect_visible(&[], "what others see of a received message").await
}

pub(crate) async fn a_message_comes_back_after_its_visibility(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send("x").await?;
    queue.receive(SHORT).await?;
    queue.expect_visible(&[], "before the visibility has ended").await?;
    context.advance(SHORT).await;
    queue.expect_visible(&["x"], "after the visibility has ended").await
}

pub(crate) async fn every_receive_is_counted(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send("x").await?;
    for count in 1..=3 {
        ensure_eq(queue.receive(SHORT).await?.dequeue_count, count, "how often it was received")?;
        context.advance(SHORT).await;
    }
    let peeked = queue.peek().await?;
    ensure_eq(peeked.iter().map(|each| each.dequeue_count).collect::<Vec<_>>(), [3], "the count that a peek shows")
}

pub(crate) async fn an_update_is_not_counted(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send("x").await?;
    let message = queue.receive(LONG).await?;
    queue.update(&message.receipt, Duration::ZERO).await?;
    ensure_eq(queue.receive(LONG).await?.dequeue_count, 2, "how often it was received")
}

pub(crate) async fn a_delayed_message_comes_later(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send_with("later", SendOptions::default().with_delay(SHORT)).await?;
    queue.send("now").await?;
    queue.expect_visible(&["now"], "before the delay has ended").await?;
    context.advance(SHORT).await;
    queue.expect_visible(&["later"], "after the delay has ended").await
}

pub(crate) async fn an_update_hides_from_now_on(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send("x").await?;
    let message = queue.receive(SHORT).await?;
    let receipt = queue.update(&message.receipt, LONG).await?;
    context.advance(SHORT).await;
    queue.expect_visible(&[], "a message whose time was extended").await?;
    queue.update(&receipt, SHORT).await?;
    context.advance(SHORT).await;
    queue.expect_visible(&["x"], "a message whose time was cut").await
}

pub(crate) async fn an_update_can_show_a_message_at_once(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send("x").await?;
    let message = queue.receive(LONG).await?;
    queue.update(&message.receipt, Duration::ZERO).await?;
    queue.expect_visible(&["x"], "a message that was given back").await
}

pub(crate) async fn an_expired_message_is_gone(context: Context) -> Outcome {
    let queue = context.queue().await?;
    let brief = SendOptions::default().with_time_to_live(TimeToLive::For(SHORT));
    let receipt = queue.send_with("brief", brief).await?;
    queue.send("lasting").await?;
    context.advance(SHORT).await;
    ensure_eq(queue.peek().await?.len(), 1, "the messages that a peek shows")?;
    ensure_eq(queue.length().await?, 1, "the length")?;
    ensure_kind(queue.delete(&receipt).await, ErrorKind::PreconditionFailed, "deleting an expired message")?;
    queue.expect_visible(&["lasting"], "the messages received").await
}

pub(crate) async fn a_hidden_message_expires_too(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send_with("brief", SendOptions::default().with_time_to_live(TimeToLive::For(SHORT))).await?;
    let message = queue.receive(LONG).await?;
    context.advance(SHORT).await;
    ensure_kind(queue.update(&message.receipt, Duration::ZERO).await, ErrorKind::PreconditionFailed, "an update")?;
    queue.expect_visible(&[], "the messages received").await
}

pub(crate) async fn a_message_can_live_for_ever(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send_with("x", SendOptions::default().with_time_to_live(TimeToLive::Never)).await?;
    context.advance(SHORT).await;
    queue.expect_visible(&["x"], "a message without an end").await
}

pub(crate) async fn hidden_messages_do_not_hold_others_back(context: Context) -> Outcome {
    let queue = context.queue().await?;
    for _ in 0..40 {
        queue.send("taken").await?;
    }
    ensure_eq(queue.receive_all(LONG).await?.len(), 40, "the messages taken")?;
    queue.send("next").await?;
    queue.expect_visible(&["next"], "the message behind forty hidden ones").await
}
