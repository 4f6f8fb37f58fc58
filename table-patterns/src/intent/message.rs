//! What the protocol puts on the queue.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use table_core::{ETag, EntityKey, Error, ErrorKind, Result, Table, TableName};

use super::rows;
use crate::eventually_consistent_transactions::{Outgoing, WorkItem};

/// The largest message of an intent. What it becomes later names the same places with their versions, and whatever
/// goes wrong with it until then is noted in it.
const INTENT_BYTES: usize = 40 * 1024;

/// What the message of an intent names beside the entity: where its change is to be seen.
pub(crate) trait Named: Clone + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Which handler runs it. Once messages are on a queue, the name must not change.
    const KIND: &'static str;
}

/// A change of an entity is to reach other places.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "N: Named")]
pub(crate) struct Intent<N> {
    /// Which worker has it.
    pub(crate) scope: String,
    /// What the intent row is called.
    pub(crate) id: String,
    /// The entity.
    pub(crate) source: EntityKey,
    /// The other places.
    #[serde(flatten)]
    pub(crate) named: N,
    /// How long the writer wants tombstones and fences to stay.
    pub(crate) grace: Duration,
}

impl<N> Intent<N> {
    /// Where the intent row stands, or its fence.
    pub(crate) fn key(&self) -> Result<EntityKey> {
        rows::intent_key(&self.source, &self.id)
    }
}

impl<N: Named> Intent<N> {
    /// The message of a change that begins.
    ///
    /// # Errors
    /// [`LimitExceeded`](ErrorKind::LimitExceeded) where it names more than a message has room for.
    pub(super) fn outgoing(&self) -> Result<Outgoing> {
        let refused = |bytes: Option<usize>| {
            let takes = bytes.map_or_else(|| "more".to_owned(), |bytes| bytes.to_string());
            let message = format!(
                "the message of a change that reaches other places takes at most {INTENT_BYTES} bytes, and with the keys of all of them this one takes {takes}; declare fewer of them, or with shorter keys"
            );
            Error::limit_exceeded(message).with_key(self.source.clone())
        };
        match Outgoing::of(self) {
            Ok(item) if item.bytes() > INTENT_BYTES => Err(refused(Some(item.bytes()))),
            Err(error) if error.kind() == ErrorKind::LimitExceeded => Err(refused(None).with_source(error)),
            made => made,
        }
    }
}

impl<N: Named> WorkItem for Intent<N> {
    const KIND: &'static str = N::KIND;

    fn scope(&self) -> &str {
        &self.scope
    }
}

/// Tombstones and fences have stood long enough.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Collect {
    pub(crate) scope: String,
    pub(crate) rows: Vec<Garbage>,
    pub(crate) grace: Duration,
}

impl Collect {
    /// As many messages as the rows take, each with as many of them as it has room for; at least one.
    pub(super) fn outgoing(self) -> Result<Vec<Outgoing>> {
        match Outgoing::of(&self) {
            Err(error) if error.kind() == ErrorKind::LimitExceeded && self.rows.len() > 1 => {}
            made => return made.map(|item| vec![item]),
        }
        let Self { scope, mut rows, grace } = self;
        let rest = rows.split_off(rows.len() / 2);
        let mut items = Self { scope: scope.clone(), rows, grace }.outgoing()?;
        items.extend(Self { scope, rows: rest, grace }.outgoing()?);
        Ok(items)
    }
}

impl WorkItem for Collect {
    const KIND: &'static str = "table-patterns/collect-index";

    fn scope(&self) -> &str {
        &self.scope
    }
}

/// A row to be removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Garbage {
    pub(super) table: TableName,
    pub(super) key: EntityKey,
    /// The version of a tombstone; none for a fence, whose place nobody else needs.
    pub(super) etag: Option<ETag>,
}

impl Garbage {
    /// A tombstone, if it still is this version.
    pub(crate) fn tombstone(table: &TableName, key: &EntityKey, etag: ETag) -> Self {
        Self { table: table.clone(), key: key.clone(), etag: Some(etag) }
    }

    /// A fence, if there is one.
    pub(crate) fn fence(table: &Table, key: EntityKey) -> Self {
        Self { table: table.name().clone(), key, etag: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize)]
    struct Text {
        text: String,
    }

    impl Named for Text {
        const KIND: &'static str = "text";
    }

    #[test]
    fn an_intent_that_leaves_no_room_for_what_comes_later_is_refused() {
        let intent = |length| Intent {
            scope: String::new(),
            id: "1".into(),
            source: EntityKey::parse("p", "r").unwrap(),
            named: Text { text: "x".repeat(length) },
            grace: Duration::ZERO,
        };
        assert!(intent(INTENT_BYTES - 300).outgoing().is_ok());
        for length in [INTENT_BYTES, 100_000] {
            let error = intent(length).outgoing().unwrap_err();
            assert_eq!((error.kind(), error.key()), (ErrorKind::LimitExceeded, Some(&intent(0).source)));
            assert!(error.message().contains("shorter keys"), "{error}");
        }
    }

    #[test]
    fn what_is_to_be_collected_takes_as_many_messages_as_it_needs() {
        let table = TableName::new("Table").unwrap();
        let garbage = |number| Garbage {
            table: table.clone(),
            key: EntityKey::parse(&"€".repeat(500), &format!("{number}")).unwrap(),
            etag: None,
        };
        let collect = |rows: u32| Collect {
            scope: "s".into(),
            rows: (0..rows).map(garbage).collect(),
            grace: Duration::from_secs(1),
        };
        for (rows, messages) in [(0, 1), (25, 1), (40, 2), (100, 4)] {
            assert_eq!(collect(rows).outgoing().unwrap().len(), messages, "{rows} rows");
        }
    }
}
