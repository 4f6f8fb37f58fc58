//! A fresh queue with shorthands, so that a case reads as what it says.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use table_core::store::{Message, MessageReceipt, PeekedMessage, ReceiveOptions, SendOptions};
use table_core::{QueueName, QueueStore, Result as StoreResult};

use crate::failure::{Failure, Outcome, ensure_eq};

/// The visibility of a message that a case does not expect to see again.
pub(crate) const LONG: Duration = Duration::from_secs(600);
/// The visibility of a message that a case waits for.
pub(crate) const SHORT: Duration = Duration::from_secs(2);

/// Empty answers after which a queue is taken to have nothing visible.
const EMPTY_ANSWERS: usize = 2;

/// A queue of the store under test.
#[derive(Debug, Clone)]
pub(crate) struct TestQueue {
    pub(crate) store: Arc<dyn QueueStore>,
    pub(crate) name: QueueName,
}

impl TestQueue {
    pub(crate) async fn send(&self, body: &str) -> Result<MessageReceipt, Failure> {
        self.send_with(body, SendOptions::default()).await
    }

    pub(crate) async fn send_with(&self, body: &str, options: SendOptions) -> Result<MessageReceipt, Failure> {
        Ok(self.store.send(&self.name, Bytes::copy_from_slice(body.as_bytes()), options).await?)
    }

    /// Receives what is visible, whatever number of calls that takes, and hides it.
    pub(crate) async fn receive_all(&self, visibility: Duration) -> Result<Vec<Message>, Failure> {
        let options = ReceiveOptions::default().with_count(32).with_visibility(visibility);
        let mut all = Vec::new();
        let mut empty = 0;
        while empty < EMPTY_ANSWERS {
            let some = self.store.receive(&self.name, options).await?;
            empty = if some.is_empty() { empty + 1 } else { 0 };
            all.extend(some);
            if all.len() > 10_000 {
                return Err(Failure::new("a queue hands out more messages than were ever sent"));
            }
        }
        Ok(all)
    }

    /// Receives one message that must be there.
    pub(crate) async fn receive(&self, visibility: Duration) -> Result<Message, Failure> {
        let options = ReceiveOptions::default().with_visibility(visibility);
        for _ in 0..=EMPTY_ANSWERS {
            if let Some(message) = self.store.receive(&self.name, options).await?.pop() {
                return Ok(message);
            }
        }
        Err(Failure::new("no message is visible where one should be"))
    }

    /// Checks what is visible now, and hides it for long.
    pub(crate) async fn expect_visible(&self, expected: &[&str], what: &str) -> Outcome {
        let received = self.receive_all(LONG).await?;
        let mut bodies: Vec<_> = received.iter().map(|message| String::from_utf8_lossy(&message.body)).collect();
        bodies.sort();
        ensure_eq(bodies, expected, what)
    }

    pub(crate) async fn update(&self, receipt: &MessageReceipt, visibility: Duration) -> StoreResult<MessageReceipt> {
        self.store.update_message(&self.name, receipt, visibility, None).await
    }

    pub(crate) async fn delete(&self, receipt: &MessageReceipt) -> StoreResult<()> {
        self.store.delete_message(&self.name, receipt).await
    }

    pub(crate) async fn peek(&self) -> Result<Vec<PeekedMessage>, Failure> {
        Ok(self.store.peek(&self.name, 32).await?)
    }

    pub(crate) async fn length(&self) -> Result<u64, Failure> {
        Ok(self.store.queue_length(&self.name).await?)
    }
}
