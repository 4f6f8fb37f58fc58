//! Receipts: the latest one can update and delete, and no other.

use bytes::Bytes;
use std::time::Duration;
use table_core::ErrorKind;
use table_core::store::MessageReceipt;

use crate::context::Context;
use crate::failure::{Outcome, ensure, ensure_eq, ensure_kind};
use crate::test_queue::{LONG, SHORT, TestQueue};

/// Checks that a receipt can neither update nor delete.
async fn expect_stale(queue: &TestQueue, receipt: &MessageReceipt, what: &str) -> Outcome {
    let length = queue.length().await?;
    ensure_kind(queue.update(receipt, LONG).await, ErrorKind::PreconditionFailed, &format!("an update by {what}"))?;
    let error =
        ensure_kind(queue.delete(receipt).await, ErrorKind::PreconditionFailed, &format!("a delete by {what}"))?;
    ensure(!error.is_retryable(), "a stale receipt is worth no retry")?;
    ensure_eq(queue.length().await?, length, "the length after the refusals")
}

pub(crate) async fn a_receiver_can_delete(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send("done").await?;
    let message = queue.receive(SHORT).await?;
    queue.delete(&message.receipt).await?;
    ensure_eq(queue.length().await?, 0, "the length after the delete")?;
    context.advance(SHORT).await;
    queue.expect_visible(&[], "a deleted message, after its visibility").await
}

pub(crate) async fn the_sender_can_delete(context: Context) -> Outcome {
    let queue = context.queue().await?;
    let receipt = queue.send("regretted").await?;
    queue.delete(&receipt).await?;
    queue.expect_visible(&[], "the messages after the delete").await
}

pub(crate) async fn the_sender_can_update(context: Context) -> Outcome {
    let queue = context.queue().await?;
    let receipt = queue.send("first").await?;
    let body = Some(Bytes::from_static(b"second"));
    queue.store.update_message(&queue.name, &receipt, Duration::ZERO, body).await?;
    queue.expect_visible(&["second"], "the message after the update").await
}

pub(crate) async fn a_receiver_can_update_the_body(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send("step 1").await?;
    let message = queue.receive(LONG).await?;
    let body = Some(Bytes::from_static(&[0xff, 0, b'2']));
    let receipt = queue.store.update_message(&queue.name, &message.receipt, Duration::ZERO, body.clone()).await?;
    let again = queue.receive(LONG).await?;
    ensure_eq(Some(again.body), body, "the new body")?;
    ensure_eq(again.receipt.id, receipt.id, "the id, which stays")
}

pub(crate) async fn an_update_without_a_body_keeps_it(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send("kept").await?;
    let message = queue.receive(LONG).await?;
    queue.update(&message.receipt, Duration::ZERO).await?;
    queue.expect_visible(&["kept"], "the message after the update").await
}

pub(crate) async fn an_update_gives_a_new_receipt(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send("x").await?;
    let message = queue.receive(LONG).await?;
    let updated = queue.update(&message.receipt, LONG).await?;
    ensure(updated != message.receipt, "an update gave the same receipt")?;
    expect_stale(&queue, &message.receipt, "the receipt before the update").await?;
    Ok(queue.delete(&updated).await?)
}

pub(crate) async fn a_receive_makes_the_senders_receipt_stale(context: Context) -> Outcome {
    let queue = context.queue().await?;
    let sent = queue.send("x").await?;
    let message = queue.receive(LONG).await?;
    ensure_eq(&message.receipt.id, &sent.id, "the id, which stays")?;
    expect_stale(&queue, &sent, "the sender's receipt").await
}

pub(crate) async fn a_second_receive_makes_the_first_stale(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send("x").await?;
    let first = queue.receive(SHORT).await?;
    context.advance(SHORT).await;
    let second = queue.receive(LONG).await?;
    expect_stale(&queue, &first.receipt, "the first receiver").await?;
    Ok(queue.delete(&second.receipt).await?)
}

pub(crate) async fn a_deleted_message_has_stale_receipts(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send("x").await?;
    let message = queue.receive(LONG).await?;
    queue.delete(&message.receipt).await?;
    expect_stale(&queue, &message.receipt, "the receipt of a deleted message").await
}

pub(crate) async fn a_receipt_outlives_its_visibility_until_the_next_receive(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send("x").await?;
    let message = queue.receive(SHORT).await?;
    context.advance(SHORT).await;
    let renewed = queue.update(&message.receipt, LONG).await?;
    queue.expect_visible(&[], "a message that was hidden again").await?;
    Ok(queue.delete(&renewed).await?)
}

pub(crate) async fn a_receipt_of_a_deleted_queue_is_stale(context: Context) -> Outcome {
    let queue = context.queue().await?;
    let lost = queue.send("lost").await?;
    queue.store.delete_queue(&queue.name).await?;
    match queue.store.create_queue(&queue.name).await {
        Ok(()) => {}
        // A service may refuse while it still deletes.
        Err(error) if error.kind() == ErrorKind::Busy => return Ok(()),
        Err(error) => return Err(error.into()),
    }
    queue.send("new").await?;
    expect_stale(&queue, &lost, "a receipt of the queue before it was deleted").await
}

pub(crate) async fn a_receipt_can_be_carried_as_text(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send("x").await?;
    let MessageReceipt { id, receipt } = queue.receive(LONG).await?.receipt;
    Ok(queue.delete(&MessageReceipt { id, receipt }).await?)
}

pub(crate) async fn a_receipt_of_another_message_is_stale(context: Context) -> Outcome {
    let queue = context.queue().await?;
    let (one, other) = (queue.send("one").await?, queue.send("other").await?);
    let mixed = MessageReceipt { id: one.id, receipt: other.receipt };
    expect_stale(&queue, &mixed, "the receipt of another message").await
}
