//! Work items, and the envelope in which they travel.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use table_core::{Error, Result, Timestamp, limits};

/// The largest item, as it travels. What is left of a message is for what went wrong with it: the counts, and at
/// least its last failure.
pub(crate) const ITEM_BYTES: usize = limits::MESSAGE_BYTES - 4 * 1024;
/// Failures that an envelope keeps; older ones make room.
const MOST_FAILURES: usize = 5;
/// Characters of an error that an envelope keeps.
const MOST_ERROR_CHARS: usize = 500;

/// Something to be done, which serde can carry through a queue.
///
/// An item names what is concerned and never what it looks like: handlers read the current state.
///
/// See the [module](crate::eventually_consistent_transactions) for an example.
pub trait WorkItem: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Which handler runs it. It travels with the item: once items are on a queue, the name must not change.
    const KIND: &'static str;

    /// What else tells its handler, where several handle items of one kind: the table concerned.
    #[doc(hidden)]
    #[expect(clippy::unnecessary_literal_bound, reason = "implementations return a field")]
    fn scope(&self) -> &str {
        ""
    }
}

/// The name under which the handler of a kind and a scope is registered.
pub(super) fn handler_name(kind: &str, scope: &str) -> String {
    if scope.is_empty() { kind.to_owned() } else { format!("{kind}/{scope}") }
}

/// One failure of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemFailure {
    /// The step that failed.
    pub step: String,
    /// What went wrong, in the error's own words.
    pub error: String,
    /// When.
    pub at: Timestamp,
}

/// An item on the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Envelope {
    pub(super) kind: String,
    pub(super) item: serde_json::Value,
    /// How often it failed for good, which counts towards the poison queue.
    #[serde(default)]
    pub(super) failed: u32,
    #[serde(default)]
    pub(super) failures: Vec<ItemFailure>,
    /// How often it failed since it last did not, for whatever reason: the wait before the next time follows it.
    #[serde(default)]
    pub(super) in_a_row: u32,
    /// Deliveries whose worker lived to say what became of them.
    #[serde(default)]
    pub(super) answered: u32,
    /// The id that it had on its queue, once it is on the poison queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) poisoned: Option<String>,
}

impl Envelope {
    const fn new(kind: String, item: serde_json::Value) -> Self {
        Self { kind, item, failed: 0, failures: Vec::new(), in_a_row: 0, answered: 0, poisoned: None }
    }

    /// The same item, of which nothing is known but how often it was delivered.
    pub(super) fn afresh(self, answered: u32) -> Self {
        Self { answered, ..Self::new(self.kind, self.item) }
    }

    pub(super) fn of<W: WorkItem>(item: &W) -> Result<Self> {
        let kind = handler_name(W::KIND, item.scope());
        let item = serde_json::to_value(item)
            .map_err(|error| Error::invalid_value("the work item cannot be written as JSON").with_source(error))?;
        Ok(Self::new(kind, item))
    }

    pub(super) fn encode(&self) -> Result<Bytes> {
        serde_json::to_vec(self)
            .map(Bytes::from)
            .map_err(|error| Error::invalid_value("the work item cannot be written as JSON").with_source(error))
    }

    /// The body for a message that is already there; older failures make room where it would be too large, and
    /// where that is not enough there is none, and the message keeps the body that it has.
    pub(super) fn encode_again(&self) -> Result<Option<Bytes>> {
        for forgotten in 0..=self.failures.len() {
            let failures = self.failures.iter().skip(forgotten).cloned().collect();
            let body = Self { failures, ..self.clone() }.encode()?;
            if body.len() <= limits::MESSAGE_BYTES {
                return Ok(Some(body));
            }
        }
        Ok(None)
    }

    pub(super) fn decode(body: &[u8]) -> Result<Self> {
        serde_json::from_slice(body)
            .map_err(|error| Error::corrupted("the message is no work item of this program").with_source(error))
    }

    /// Notes a failure, and forgets the oldest where there are many.
    pub(super) fn note(&mut self, step: &str, error: &Error) {
        self.failed = self.failed.saturating_add(1);
        let error = error.to_string().chars().take(MOST_ERROR_CHARS).collect();
        self.failures.push(ItemFailure { step: step.to_owned(), error, at: Timestamp::now() });
        let surplus = self.failures.len().saturating_sub(MOST_FAILURES);
        self.failures.drain(..surplus);
    }
}

/// An item ready to be sent: by a [`Mover`](super::Mover), or in place of the message that a handler holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    pub(super) body: Bytes,
}

impl Outgoing {
    /// Makes an item ready.
    ///
    /// # Errors
    /// [`InvalidValue`](table_core::ErrorKind::InvalidValue) where serde cannot write it;
    /// [`LimitExceeded`](table_core::ErrorKind::LimitExceeded) above 44 KiB, so that a message of 48 KiB has room for
    /// what may go wrong with it.
    pub fn of<W: WorkItem>(item: &W) -> Result<Self> {
        let body = Envelope::of(item)?.encode()?;
        if body.len() > ITEM_BYTES {
            return Err(Error::limit_exceeded(format!(
                "an item takes at most {ITEM_BYTES} bytes as JSON, so that its message has room for its failures, and this {} takes {}; store the content and send its key",
                W::KIND,
                body.len()
            )));
        }
        Ok(Self { body })
    }

    /// How much of its message it takes.
    pub(crate) const fn bytes(&self) -> usize {
        self.body.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_make_room_where_a_message_would_be_too_large() {
        let item = serde_json::Value::String("x".repeat(limits::MESSAGE_BYTES - 1000));
        let mut envelope = Envelope::new(String::new(), item);
        for number in 0..3 {
            envelope.note("step", &Error::invalid_value(format!("{number} {}", "y".repeat(300))));
        }
        let body = envelope.encode_again().unwrap().unwrap();
        let kept = Envelope::decode(&body).unwrap();
        assert_eq!((kept.failed, kept.failures.len()), (3, 2));
        assert!(kept.failures[0].error.contains("1 y"), "the oldest is forgotten first");
        envelope.item = serde_json::Value::String("x".repeat(limits::MESSAGE_BYTES));
        assert_eq!(envelope.encode_again().unwrap(), None);
    }
}
