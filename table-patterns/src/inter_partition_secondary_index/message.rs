//! What the protocol puts on the queue.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use table_core::{ETag, Entity, EntityKey, Table, TableName};

use super::place::Place;
use crate::eventually_consistent_transactions::WorkItem;

/// A change of an entity is to reach these index rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Intent {
    /// Which worker has it.
    pub(super) scope: String,
    /// What the intent row is called.
    pub(super) id: String,
    /// The entity.
    pub(super) source: EntityKey,
    /// The index rows of its old and new keys.
    pub(super) places: Vec<Place>,
    /// How long the writer wants tombstones and fences to stay.
    pub(super) grace: Duration,
}

impl WorkItem for Intent {
    const KIND: &'static str = "table-patterns/index";

    fn scope(&self) -> &str {
        &self.scope
    }
}

/// Tombstones and fences have stood long enough.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Collect {
    pub(super) scope: String,
    pub(super) rows: Vec<Garbage>,
    pub(super) grace: Duration,
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
    pub(super) fn tombstone(place: &Place, etag: ETag) -> Self {
        Self { table: place.table.clone(), key: place.key.clone(), etag: Some(etag) }
    }

    /// A fence, if there is one.
    pub(super) fn fence(table: &Table, key: EntityKey) -> Self {
        Self { table: table.name().clone(), key, etag: None }
    }
}

/// Which messages a worker of an entity's indexes has: those of its type in its table.
pub(super) fn scope<E: Entity>(table: &Table) -> String {
    format!("{}/{}", table.name().as_str().to_ascii_lowercase(), E::SCHEMA.name)
}
