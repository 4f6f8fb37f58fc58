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
    /// The tombstones.
    pub(super) rows: Vec<Garbage>,
    /// Where a fence may stand.
    pub(super) fence: Option<EntityKey>,
    pub(super) grace: Duration,
}

impl WorkItem for Collect {
    const KIND: &'static str = "table-patterns/collect-index";

    fn scope(&self) -> &str {
        &self.scope
    }
}

/// A tombstone to be removed, if it still is this version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Garbage {
    pub(super) table: TableName,
    pub(super) key: EntityKey,
    pub(super) etag: ETag,
}

/// Which messages a worker of an entity's indexes has: those of its type in its table.
pub(super) fn scope<E: Entity>(table: &Table) -> String {
    format!("{}/{}", table.name().as_str().to_ascii_lowercase(), E::SCHEMA.name)
}
