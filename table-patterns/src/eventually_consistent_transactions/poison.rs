//! The poison queue: items that failed too often, to be looked at, tried again or dropped.

use std::time::Duration;

use serde::de::DeserializeOwned;
use table_core::store::{Message, ReceiveOptions, SendOptions, TimeToLive};
use table_core::{Error, Result};

use super::item::{Envelope, ItemFailure};
use super::mover::Mover;

/// How long a poisoned item is held while it is looked for.
const LOOKING: Duration = Duration::from_secs(30);

/// An item that failed too often.
///
/// ```
/// use std::sync::Arc;
/// use serde::{Deserialize, Serialize};
/// use table_core::{Error, MemoryStore};
/// use table_patterns::eventually_consistent_transactions::{Mover, MoverOptions, WorkItem};
///
/// #[derive(Serialize, Deserialize)]
/// struct Greet(String);
///
/// impl WorkItem for Greet {
///     const KIND: &'static str = "greet";
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let mover = Mover::builder(Arc::new(MemoryStore::new()), "greetings")?
///     .with_options(MoverOptions::default().with_most_failures(1))
///     .on(|greet: Greet, _| async move { Err(Error::invalid_value(format!("nobody is called {}", greet.0))) })
///     .build()
///     .await?;
/// mover.send(&Greet("Jo".into())).await?;
/// mover.run_due().await?;
///
/// let poisoned = mover.poisoned().await?;
/// assert_eq!(poisoned[0].item::<Greet>()?.0, "Jo");
/// assert!(poisoned[0].failures[0].error.contains("nobody is called Jo"));
/// mover.drop_poisoned(&poisoned[0].id).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PoisonedItem {
    /// Its id on the poison queue.
    pub id: String,
    /// Its kind; empty where the message was no work item at all.
    pub kind: String,
    /// The id that it had on its queue. Where a worker died while it put the item aside, there are two with one.
    pub item_id: Option<String>,
    /// Its latest failures, oldest first.
    pub failures: Vec<ItemFailure>,
    item: serde_json::Value,
    body: bytes::Bytes,
}

impl PoisonedItem {
    fn read(id: String, body: bytes::Bytes) -> Self {
        let envelope = Envelope::decode(&body).ok();
        let (kind, item_id, failures, item) = envelope.map_or_else(Default::default, |envelope| {
            (envelope.kind, envelope.poisoned, envelope.failures, envelope.item)
        });
        Self { id, kind, item_id, failures, item, body }
    }

    /// The item itself.
    ///
    /// # Errors
    /// [`Corrupted`](table_core::ErrorKind::Corrupted) where it is not of this type.
    pub fn item<W: DeserializeOwned>(&self) -> Result<W> {
        serde_json::from_value(self.item.clone())
            .map_err(|error| Error::corrupted("the poisoned item is of another type").with_source(error))
    }

    /// The message as it was sent.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }
}

impl Mover {
    /// Up to 32 of the poisoned items.
    ///
    /// # Errors
    /// Those of reaching the store.
    pub async fn poisoned(&self) -> Result<Vec<PoisonedItem>> {
        let messages = self.shared.queues.peek(&self.shared.poison, 32).await?;
        Ok(messages.into_iter().map(|message| PoisonedItem::read(message.id, message.body)).collect())
    }

    /// Sends a poisoned item to the queue again, with its failures forgotten.
    ///
    /// # Errors
    /// [`NotFound`](table_core::ErrorKind::NotFound) where there is no such item.
    pub async fn retry_poisoned(&self, id: &str) -> Result<()> {
        let message = self.take_poisoned(id).await?;
        let envelope = Envelope::decode(&message.body)?.afresh(0);
        let for_ever = SendOptions::default().with_time_to_live(TimeToLive::Never);
        self.shared.queues.send(&self.shared.queue, envelope.encode()?, for_ever).await?;
        self.shared.news.notify_waiters();
        self.shared.queues.delete_message(&self.shared.poison, &message.receipt).await
    }

    /// Drops a poisoned item for good.
    ///
    /// # Errors
    /// [`NotFound`](table_core::ErrorKind::NotFound) where there is no such item.
    pub async fn drop_poisoned(&self, id: &str) -> Result<()> {
        let message = self.take_poisoned(id).await?;
        self.shared.queues.delete_message(&self.shared.poison, &message.receipt).await
    }

    /// Takes messages off the poison queue until the wanted one comes, and gives the others back.
    async fn take_poisoned(&self, id: &str) -> Result<Message> {
        let (queues, poison) = (&self.shared.queues, &self.shared.poison);
        let mut others = Vec::new();
        let found = loop {
            let messages =
                queues.receive(poison, ReceiveOptions::default().with_count(32).with_visibility(LOOKING)).await?;
            if messages.is_empty() {
                break None;
            }
            let (mut wanted, rest): (Vec<_>, Vec<_>) =
                messages.into_iter().partition(|message| message.receipt.id == id);
            others.extend(rest);
            if let Some(message) = wanted.pop() {
                break Some(message);
            }
        };
        for other in others {
            queues.update_message(poison, &other.receipt, Duration::ZERO, None).await?;
        }
        found.ok_or_else(|| {
            Error::not_found("there is no such poisoned item, or somebody else is looking at it")
                .with_table(poison.as_str())
        })
    }
}
