//! Repeated calls to queues.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use super::Retry;
use super::attempts::undecided;
use crate::error::{ErrorKind, Result};
use crate::names::QueueName;
use crate::store::{Message, MessageReceipt, PeekedMessage, QueueStore, ReceiveOptions, SendOptions};

#[async_trait]
impl<S: QueueStore> QueueStore for Retry<S> {
    async fn create_queue(&self, queue: &QueueName) -> Result<()> {
        self.attempts().repeat(|| self.inner.create_queue(queue)).await
    }

    async fn delete_queue(&self, queue: &QueueName) -> Result<()> {
        self.repeat_until_done(ErrorKind::QueueNotFound, || self.inner.delete_queue(queue)).await
    }

    async fn send(&self, queue: &QueueName, body: Bytes, options: SendOptions) -> Result<MessageReceipt> {
        self.attempts().repeat(|| self.inner.send(queue, body.clone(), options)).await
    }

    async fn receive(&self, queue: &QueueName, options: ReceiveOptions) -> Result<Vec<Message>> {
        self.attempts().repeat(|| self.inner.receive(queue, options)).await
    }

    async fn update_message(
        &self,
        queue: &QueueName,
        receipt: &MessageReceipt,
        visibility: Duration,
        body: Option<Bytes>,
    ) -> Result<MessageReceipt> {
        self.repeat_with_receipt(|| self.inner.update_message(queue, receipt, visibility, body.clone())).await
    }

    async fn delete_message(&self, queue: &QueueName, receipt: &MessageReceipt) -> Result<()> {
        self.repeat_with_receipt(|| self.inner.delete_message(queue, receipt)).await
    }

    async fn peek(&self, queue: &QueueName, count: usize) -> Result<Vec<PeekedMessage>> {
        self.attempts().repeat(|| self.inner.peek(queue, count)).await
    }

    async fn queue_length(&self, queue: &QueueName) -> Result<u64> {
        self.attempts().repeat(|| self.inner.queue_length(queue)).await
    }
}

impl<S> Retry<S> {
    /// Repeats a call with a receipt, which is stale once the call has happened.
    ///
    /// It is as stale when the lease ended and another worker has the message, and nothing tells the
    /// two apart: a message that was deleted and one that is being worked on are both not to be seen.
    async fn repeat_with_receipt<T, F>(&self, mut call: impl FnMut() -> F + Send) -> Result<T>
    where
        F: Future<Output = Result<T>> + Send,
    {
        let mut attempts = self.attempts();
        loop {
            let error = match attempts.make(call()).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let stale = matches!(error.kind(), ErrorKind::PreconditionFailed | ErrorKind::NotFound);
            if attempts.answer_lost && stale {
                return Err(undecided(error));
            }
            attempts.wait_after(error).await?;
        }
    }
}
