//! Queues as a whole: created, deleted, and apart from each other.

use bytes::Bytes;
use table_core::ErrorKind;
use table_core::store::{MessageReceipt, ReceiveOptions, SendOptions};

use crate::context::Context;
use crate::failure::{Outcome, ensure_eq, ensure_kind};
use crate::test_queue::LONG;

pub(crate) async fn a_created_queue_is_empty(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.expect_visible(&[], "the messages of a new queue").await?;
    ensure_eq(queue.length().await?, 0, "the length of a new queue")
}

pub(crate) async fn creating_a_queue_twice_keeps_its_messages(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send("kept").await?;
    queue.store.create_queue(&queue.name).await?;
    queue.expect_visible(&["kept"], "the messages after creating the queue again").await
}

pub(crate) async fn every_call_on_a_missing_queue_is_refused(context: Context) -> Outcome {
    let (store, name) = (context.queues()?, context.queue_name()?);
    let receipt = MessageReceipt { id: "1".into(), receipt: "1".into() };
    let sent = store.send(&name, Bytes::from_static(b"x"), SendOptions::default()).await;
    let error = ensure_kind(sent, ErrorKind::QueueNotFound, "send")?;
    ensure_eq(error.table(), Some(name.as_str()), "the queue that the error names")?;
    ensure_kind(store.receive(&name, ReceiveOptions::default()).await, ErrorKind::QueueNotFound, "receive")?;
    ensure_kind(store.update_message(&name, &receipt, LONG, None).await, ErrorKind::QueueNotFound, "update")?;
    ensure_kind(store.delete_message(&name, &receipt).await, ErrorKind::QueueNotFound, "delete")?;
    ensure_kind(store.peek(&name, 1).await, ErrorKind::QueueNotFound, "peek")?;
    ensure_kind(store.queue_length(&name).await, ErrorKind::QueueNotFound, "length")?;
    ensure_kind(store.delete_queue(&name).await, ErrorKind::QueueNotFound, "delete the queue")?;
    Ok(())
}

pub(crate) async fn a_deleted_queue_is_gone(context: Context) -> Outcome {
    let queue = context.queue().await?;
    queue.send("lost").await?;
    queue.store.delete_queue(&queue.name).await?;
    ensure_kind(queue.store.peek(&queue.name, 1).await, ErrorKind::QueueNotFound, "a peek into a deleted queue")?;
    Ok(())
}

pub(crate) async fn queues_are_apart(context: Context) -> Outcome {
    let (one, other) = (context.queue().await?, context.queue().await?);
    one.send("one").await?;
    other.expect_visible(&[], "the messages of the other queue").await?;
    let message = one.receive(LONG).await?;
    let deleted = other.delete(&message.receipt).await;
    ensure_kind(deleted, ErrorKind::PreconditionFailed, "the receipt of another queue")?;
    ensure_eq(one.length().await?, 1, "the length of the one queue")
}
