//! The memory store as a queue store.

use std::sync::{Arc, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use super::queue::Queue;
use super::{MemoryStore, read, write};
use crate::error::{Error, ErrorKind, Result};
use crate::names::QueueName;
use crate::store::queue::{check_body, check_count, check_visibility};
use crate::store::{Message, MessageReceipt, PeekedMessage, QueueStore, ReceiveOptions, SendOptions};

impl MemoryStore {
    fn messages(&self, queue: &QueueName) -> Result<Arc<RwLock<Queue>>> {
        read(&self.shared.queues).get(queue).cloned().ok_or_else(no_such_queue)
    }
}

fn no_such_queue() -> Error {
    Error::new(ErrorKind::QueueNotFound, "create the queue first")
}

fn locate<'a>(operation: &'static str, queue: &'a QueueName) -> impl Fn(Error) -> Error + 'a {
    move |error| error.with_operation(operation).with_table(queue.as_str())
}

#[async_trait]
impl QueueStore for MemoryStore {
    async fn create_queue(&self, queue: &QueueName) -> Result<()> {
        write(&self.shared.queues).entry(queue.clone()).or_default();
        Ok(())
    }

    async fn delete_queue(&self, queue: &QueueName) -> Result<()> {
        let messages = write(&self.shared.queues).remove(queue);
        messages.map(drop).ok_or_else(no_such_queue).map_err(locate("delete_queue", queue))
    }

    async fn send(&self, queue: &QueueName, body: Bytes, options: SendOptions) -> Result<MessageReceipt> {
        let located = locate("send", queue);
        options.check(&body).map_err(&located)?;
        let messages = self.messages(queue).map_err(&located)?;
        let receipt = write(&messages).send(body, options, &self.shared.stamps);
        Ok(receipt)
    }

    async fn receive(&self, queue: &QueueName, options: ReceiveOptions) -> Result<Vec<Message>> {
        let located = locate("receive", queue);
        options.check().map_err(&located)?;
        let messages = self.messages(queue).map_err(&located)?;
        let received = write(&messages).receive(options, &self.shared.stamps);
        Ok(received)
    }

    async fn update_message(
        &self,
        queue: &QueueName,
        receipt: &MessageReceipt,
        visibility: Duration,
        body: Option<Bytes>,
    ) -> Result<MessageReceipt> {
        let located = locate("update_message", queue);
        check_visibility(visibility).map_err(&located)?;
        body.as_ref().map_or(Ok(()), check_body).map_err(&located)?;
        let messages = self.messages(queue).map_err(&located)?;
        let updated = write(&messages).update(receipt, visibility, body, &self.shared.stamps);
        updated.map_err(located)
    }

    async fn delete_message(&self, queue: &QueueName, receipt: &MessageReceipt) -> Result<()> {
        let located = locate("delete_message", queue);
        let messages = self.messages(queue).map_err(&located)?;
        let deleted = write(&messages).delete(receipt, &self.shared.stamps);
        deleted.map_err(located)
    }

    async fn peek(&self, queue: &QueueName, count: usize) -> Result<Vec<PeekedMessage>> {
        let located = locate("peek", queue);
        check_count(count).map_err(&located)?;
        let messages = self.messages(queue).map_err(&located)?;
        let peeked = read(&messages).peek(count, self.shared.stamps.now());
        Ok(peeked)
    }

    async fn queue_length(&self, queue: &QueueName) -> Result<u64> {
        let messages = self.messages(queue).map_err(locate("queue_length", queue))?;
        let length = read(&messages).len(self.shared.stamps.now());
        Ok(u64::try_from(length).unwrap_or(u64::MAX))
    }
}
