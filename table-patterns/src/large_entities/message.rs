//! What the protocol puts on the queue.

use object_store::path::Path;
use serde::{Deserialize, Serialize};
use table_core::{EntityKey, Error, Result, Table};

use crate::eventually_consistent_transactions::WorkItem;
use crate::intent::Named;

/// The blobs that come or go with a write of an entity, which may happen or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Blobs {
    pub(super) blobs: Vec<String>,
}

impl Blobs {
    pub(super) fn of(paths: &[Path]) -> Self {
        Self { blobs: names(paths) }
    }
}

impl Named for Blobs {
    const KIND: &'static str = "table-patterns/blobs";
}

/// The write has happened, or cannot happen any more, and nobody is late by now: blobs that the entity does not
/// refer to can go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Collect {
    pub(super) scope: String,
    pub(super) source: EntityKey,
    pub(super) blobs: Vec<String>,
    /// Where the intent or its fence may stand.
    pub(super) intent: Option<EntityKey>,
}

impl WorkItem for Collect {
    const KIND: &'static str = "table-patterns/collect-blobs";

    fn scope(&self) -> &str {
        &self.scope
    }
}

/// Which messages a worker of a table's blobs has.
pub(super) fn scope(table: &Table) -> String {
    table.name().as_str().to_ascii_lowercase()
}

pub(super) fn names(paths: &[Path]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

pub(super) fn path(name: &str) -> Result<Path> {
    Path::parse(name).map_err(|error| Error::corrupted("the message names a blob that cannot be").with_source(error))
}
