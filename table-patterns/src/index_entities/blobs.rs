//! Lists in blobs: when, where, and who deletes those that were replaced.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use table_core::store::Selection;
use table_core::{EntityKey, Error, ErrorKind, Result, Table, TableName, limits};

use crate::blobs::{references, remove};
use crate::eventually_consistent_transactions::{Delivery, Next, WorkItem};

/// Room that is left in a row of the largest size for its key, mark and token.
const SPARE_BYTES: usize = 8 * 1024;

/// Blobs for lists that are too long for a row.
///
/// A list moves to a blob before its row would have more than `above_bytes`, and back when it has shrunk to half
/// of that.
///
/// ```
/// use std::sync::Arc;
/// use object_store::memory::InMemory;
/// use table_patterns::index_entities::ListBlobs;
///
/// let blobs = ListBlobs::new(Arc::new(InMemory::new())).with_above_bytes(256 * 1024);
/// assert_eq!(blobs.above_bytes(), 256 * 1024);
/// ```
#[derive(Debug, Clone)]
pub struct ListBlobs {
    pub(super) store: Arc<dyn ObjectStore>,
    /// What the names begin with; the table's name and `-lists` where it is empty.
    prefix: Path,
    above_bytes: usize,
    most_bytes: u64,
}

impl ListBlobs {
    /// Blobs of any `object_store`, for lists of more than 768 KiB.
    #[must_use]
    pub fn new(store: Arc<dyn ObjectStore>) -> Self {
        Self { store, prefix: Path::default(), above_bytes: 768 * 1024, most_bytes: 64 * 1024 * 1024 }
    }

    /// Moves a list to a blob when its row would have more bytes than this, as the service counts them: UTF-16. At
    /// most what a row can hold.
    #[must_use]
    pub fn with_above_bytes(mut self, bytes: usize) -> Self {
        self.above_bytes = bytes.min(limits::ENTITY_BYTES - SPARE_BYTES);
        self
    }

    /// Refuses to let a list grow above so many bytes, since each change writes it as a whole. 64 MiB by default.
    #[must_use]
    pub const fn with_most_bytes(mut self, bytes: u64) -> Self {
        self.most_bytes = bytes;
        self
    }

    /// Begins the names of new blobs with another prefix than the table's name and `-lists`. The table's name follows
    /// it, and the type's in any case.
    ///
    /// # Errors
    /// [`InvalidName`](ErrorKind::InvalidName) for a prefix that no blob can have.
    pub fn with_prefix(mut self, prefix: &str) -> Result<Self> {
        self.prefix = Path::parse(prefix).map_err(|error| {
            Error::new(ErrorKind::InvalidName, "a prefix is one or more words separated by `/`").with_source(error)
        })?;
        Ok(self)
    }

    /// The bytes of a row above which a list moves to a blob.
    #[must_use]
    pub const fn above_bytes(&self) -> usize {
        self.above_bytes
    }

    pub(super) const fn most_bytes(&self) -> u64 {
        self.most_bytes
    }

    /// What the names of the lists of a table's entities of one type begin with, and no others.
    pub(super) fn prefix(&self, table: &Table, entity: &str) -> Path {
        let table = table.name().as_str().to_ascii_lowercase();
        let of_table = if self.prefix == Path::default() {
            Path::from(format!("{table}-lists"))
        } else {
            self.prefix.clone().join(table)
        };
        of_table.join(entity)
    }
}

/// Nobody is late any more: what rows of lists do not refer to can go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CollectBlobs {
    pub(super) scope: String,
    pub(super) lists: Vec<Replaced>,
}

/// The blobs that come and go with a write of one row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Replaced {
    pub(super) table: TableName,
    pub(super) key: EntityKey,
    pub(super) blobs: Vec<String>,
}

impl WorkItem for CollectBlobs {
    const KIND: &'static str = "table-patterns/collect-list-blobs";

    fn scope(&self) -> &str {
        &self.scope
    }
}

/// Deletes the blobs that rows of lists do not refer to. Nothing will ever refer to them again, since each name is
/// that of one write.
pub(super) async fn collect(
    table: &Table,
    store: &Arc<dyn ObjectStore>,
    garbage: CollectBlobs,
    delivery: &Delivery,
) -> Result<Next> {
    for Replaced { table: name, key, blobs } in garbage.lists {
        let row = delivery.step("read the list", table.store().get(&name, &key, &Selection::All)).await?;
        let held = row.as_ref().map(references).transpose()?.unwrap_or_default();
        for blob in blobs {
            let path = Path::parse(&blob)
                .map_err(|error| Error::corrupted("the message names a blob that cannot be").with_source(error))?;
            if !held.iter().any(|(_, reference)| reference.name == path) {
                delivery.step("delete the blob", remove(store, &path)).await?;
            }
        }
    }
    Ok(Next::Done)
}
