//! What the protocol puts on the queue.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use table_core::{ETag, EntityKey, Result, Table, TableName};

use super::rows;
use crate::eventually_consistent_transactions::WorkItem;

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
