//! Whether rows and blobs belong together.

use std::collections::BTreeSet;

use futures_util::TryStreamExt;
use object_store::ObjectStoreExt;
use object_store::path::Path;
use table_core::{DynamicEntity, Entity, EntityKey, ErrorKind, PropertyName, Query, Result};

use super::reference::references;
use super::{Large, blob_error};

/// What [`Large::verify`] found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlobReport {
    /// Blobs under the table's prefix.
    pub blobs: u64,
    /// References in the table's rows.
    pub references: u64,
    /// Blobs that no row refers to.
    pub orphaned: Vec<Path>,
    /// Properties whose blob is not there.
    pub missing: Vec<(EntityKey, PropertyName)>,
}

impl BlobReport {
    /// Whether every blob has its row, and every reference its blob.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.orphaned.is_empty() && self.missing.is_empty()
    }
}

impl<E: Entity> Large<E> {
    /// Compares the blobs under the table's prefix with the references of its rows, of all types: a scan of the
    /// table, and a listing.
    ///
    /// A blob that was replaced, or that is about to be referred to, is told as orphaned until the queue is empty;
    /// so is one of another table that shares the prefix.
    ///
    /// # Errors
    /// [`Corrupted`](ErrorKind::Corrupted) for a reference that cannot be read, and those of reaching the stores.
    pub async fn verify(&self) -> Result<BlobReport> {
        let place = &self.writer.place;
        let listed = place.blobs.list(Some(&place.prefix)).map_ok(|meta| meta.location).try_collect::<BTreeSet<_>>();
        let mut unclaimed = listed.await.map_err(|error| blob_error("list blobs", &place.prefix, error))?;
        let mut report = BlobReport { blobs: unclaimed.len() as u64, ..BlobReport::default() };
        let mut rows = place.table.stream(Query::<DynamicEntity>::all().allow_scan());
        while let Some(row) = rows.try_next().await? {
            for (property, reference) in references(&row)? {
                report.references += 1;
                // One that was put after the listing is there too.
                if !unclaimed.remove(&reference.name) && !self.is_there(&reference.name).await? {
                    report.missing.push((row.key().clone(), property));
                }
            }
        }
        report.orphaned = unclaimed.into_iter().collect();
        Ok(report)
    }

    async fn is_there(&self, name: &Path) -> Result<bool> {
        match self.writer.place.blobs.head(name).await.map_err(|error| blob_error("get blob", name, error)) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}
