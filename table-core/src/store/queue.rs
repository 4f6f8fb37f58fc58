//! The trait of queue stores.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::limits;
use crate::names::QueueName;
use crate::timestamp::Timestamp;

/// A store of queues: messages that are received, hidden for a while, and deleted when done.
///
/// Order is not promised, and a message is delivered at least once.
///
/// ```
/// use std::time::Duration;
/// use bytes::Bytes;
/// use table_core::store::{ReceiveOptions, SendOptions};
/// use table_core::{MemoryStore, QueueName, QueueStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let (store, queue) = (MemoryStore::new(), QueueName::new("reminders")?);
/// store.create_queue(&queue).await?;
/// store.send(&queue, Bytes::from_static(b"call Jo"), SendOptions::default()).await?;
///
/// // Hidden for a minute from everybody else.
/// let minute = ReceiveOptions::default().with_visibility(Duration::from_secs(60));
/// let messages = store.receive(&queue, minute).await?;
/// assert_eq!((messages.len(), &*messages[0].body), (1, &b"call Jo"[..]));
/// store.delete_message(&queue, &messages[0].receipt).await?;
/// assert_eq!(store.queue_length(&queue).await?, 0);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait QueueStore: fmt::Debug + Send + Sync + 'static {
    /// Creates a queue; one that is there already is left as it is.
    ///
    /// # Errors
    /// Those of reaching the store.
    async fn create_queue(&self, queue: &QueueName) -> Result<()>;

    /// Deletes a queue and all its messages.
    ///
    /// # Errors
    /// [`QueueNotFound`](crate::ErrorKind::QueueNotFound).
    async fn delete_queue(&self, queue: &QueueName) -> Result<()>;

    /// Adds a message. The receipt can update or delete it before anyone receives it.
    ///
    /// # Errors
    /// [`LimitExceeded`](crate::ErrorKind::LimitExceeded) for a body over 48 KiB,
    /// [`QueueNotFound`](crate::ErrorKind::QueueNotFound).
    async fn send(&self, queue: &QueueName, body: Bytes, options: SendOptions) -> Result<MessageReceipt>;

    /// Takes messages and hides them from others for a while.
    ///
    /// # Errors
    /// [`LimitExceeded`](crate::ErrorKind::LimitExceeded) for more than 32 messages or seven days,
    /// [`QueueNotFound`](crate::ErrorKind::QueueNotFound).
    async fn receive(&self, queue: &QueueName, options: ReceiveOptions) -> Result<Vec<Message>>;

    /// Hides a received message for a while from now on, with a new body or the one it has.
    ///
    /// # Errors
    /// [`PreconditionFailed`](crate::ErrorKind::PreconditionFailed) where the receipt is stale: the
    /// message was received again, updated or deleted since.
    async fn update_message(
        &self,
        queue: &QueueName,
        receipt: &MessageReceipt,
        visibility: Duration,
        body: Option<Bytes>,
    ) -> Result<MessageReceipt>;

    /// Deletes a message.
    ///
    /// # Errors
    /// [`PreconditionFailed`](crate::ErrorKind::PreconditionFailed) where the receipt is stale.
    async fn delete_message(&self, queue: &QueueName, receipt: &MessageReceipt) -> Result<()>;

    /// Looks at visible messages without taking them.
    ///
    /// # Errors
    /// [`LimitExceeded`](crate::ErrorKind::LimitExceeded) for more than 32,
    /// [`QueueNotFound`](crate::ErrorKind::QueueNotFound).
    async fn peek(&self, queue: &QueueName, count: usize) -> Result<Vec<PeekedMessage>>;

    /// How many messages there are, hidden ones included; a service may answer about.
    ///
    /// # Errors
    /// [`QueueNotFound`](crate::ErrorKind::QueueNotFound).
    async fn queue_length(&self, queue: &QueueName) -> Result<u64>;
}

/// How long a message lives if nobody deletes it.
///
/// See [`QueueStore`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeToLive {
    /// For this long.
    For(Duration),
    /// For ever.
    Never,
}

/// How a message is sent.
///
/// See [`QueueStore`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendOptions {
    /// How long the message stays hidden at first.
    pub delay: Duration,
    /// How long it lives; seven days where nothing is said, as the service does.
    pub time_to_live: TimeToLive,
}

impl Default for SendOptions {
    fn default() -> Self {
        Self {
            delay: Duration::ZERO,
            time_to_live: TimeToLive::For(Duration::from_secs(limits::DEFAULT_TIME_TO_LIVE_SECONDS)),
        }
    }
}

impl SendOptions {
    /// Hides the message at first.
    #[must_use]
    pub const fn with_delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Lets the message live this long.
    #[must_use]
    pub const fn with_time_to_live(mut self, time_to_live: TimeToLive) -> Self {
        self.time_to_live = time_to_live;
        self
    }

    /// Refuses what the service would refuse.
    ///
    /// # Errors
    /// [`LimitExceeded`](crate::ErrorKind::LimitExceeded), naming the limit.
    pub fn check(&self, body: &Bytes) -> Result<()> {
        check_body(body)?;
        check_visibility(self.delay)?;
        match self.time_to_live {
            TimeToLive::For(life) if life < Duration::from_secs(1) => {
                Err(Error::limit_exceeded("a message lives for at least one second; use a longer time to live"))
            }
            TimeToLive::For(life) if life <= self.delay => {
                Err(Error::limit_exceeded("a message must outlive its delay; use a longer time to live"))
            }
            _ => Ok(()),
        }
    }
}

/// Refuses a body that is too long for the service.
///
/// # Errors
/// [`LimitExceeded`](crate::ErrorKind::LimitExceeded), naming the limit.
pub fn check_body(body: &Bytes) -> Result<()> {
    if body.len() <= limits::MESSAGE_BYTES {
        return Ok(());
    }
    Err(Error::limit_exceeded(format!(
        "a message holds at most {} bytes (64 KiB as base64), this one has {}; store the content and send its key",
        limits::MESSAGE_BYTES,
        body.len()
    )))
}

/// Refuses a time that is too long for the service.
///
/// # Errors
/// [`LimitExceeded`](crate::ErrorKind::LimitExceeded), naming the limit.
pub fn check_visibility(visibility: Duration) -> Result<()> {
    if visibility <= Duration::from_secs(limits::VISIBILITY_SECONDS) {
        return Ok(());
    }
    Err(Error::limit_exceeded("a message stays hidden for at most seven days; use a shorter time"))
}

/// How messages are received.
///
/// See [`QueueStore`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiveOptions {
    /// At most so many messages, and never more than 32.
    pub count: usize,
    /// How long they stay hidden from others.
    pub visibility: Duration,
}

impl Default for ReceiveOptions {
    /// One message for 30 seconds.
    fn default() -> Self {
        Self { count: 1, visibility: Duration::from_secs(30) }
    }
}

impl ReceiveOptions {
    /// Takes at most so many messages.
    #[must_use]
    pub const fn with_count(mut self, count: usize) -> Self {
        self.count = count;
        self
    }

    /// Hides the messages for this long.
    #[must_use]
    pub const fn with_visibility(mut self, visibility: Duration) -> Self {
        self.visibility = visibility;
        self
    }

    /// Refuses what the service would refuse.
    ///
    /// # Errors
    /// [`LimitExceeded`](crate::ErrorKind::LimitExceeded), naming the limit.
    pub fn check(&self) -> Result<()> {
        check_count(self.count)?;
        check_visibility(self.visibility)?;
        if self.visibility < Duration::from_secs(1) {
            return Err(Error::limit_exceeded("a received message stays hidden for at least one second"));
        }
        Ok(())
    }
}

/// Refuses a count that the service would refuse.
///
/// # Errors
/// [`LimitExceeded`](crate::ErrorKind::LimitExceeded), naming the limit.
pub fn check_count(count: usize) -> Result<()> {
    if (1..=limits::RECEIVE_MESSAGES).contains(&count) {
        return Ok(());
    }
    Err(Error::limit_exceeded(format!(
        "one call takes 1 to {} messages, not {count}; call again for more",
        limits::RECEIVE_MESSAGES
    )))
}

/// The right to update or delete one delivery of a message.
///
/// See [`QueueStore`] for an example.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MessageReceipt {
    /// The message.
    pub id: String,
    /// This delivery of it, in the store's own words.
    pub receipt: String,
}

/// A message that was received.
///
/// See [`QueueStore`] for an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The right to update or delete it.
    pub receipt: MessageReceipt,
    /// What was sent.
    pub body: Bytes,
    /// How often it has been received, this time included.
    pub dequeue_count: u32,
    /// When it was sent.
    pub sent: Timestamp,
    /// When it becomes visible again, unless it is deleted.
    pub next_visible: Timestamp,
}

/// A message that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeekedMessage {
    /// The message.
    pub id: String,
    /// What was sent.
    pub body: Bytes,
    /// How often it has been received.
    pub dequeue_count: u32,
    /// When it was sent.
    pub sent: Timestamp,
}
