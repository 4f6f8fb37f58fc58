//! Whether rows and blobs belong together.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use table_core::{DynamicEntity, EntityKey, ErrorKind, PropertyName, Query, Result, Table};

use super::blob_error;
use super::reference::references;

/// What a comparison of rows and blobs found, as [`Large::verify`](crate::Large::verify).
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

/// Compares the blobs under a prefix with the references of some rows of some tables: others may keep theirs
/// elsewhere.
pub(crate) async fn verify(
    tables: &[Table],
    rows_of: impl Fn(&Table, &DynamicEntity) -> bool,
    blobs: &Arc<dyn ObjectStore>,
    prefix: &Path,
) -> Result<BlobReport> {
    let listed = blobs.list(Some(prefix)).map_ok(|meta| meta.location).try_collect::<BTreeSet<_>>();
    let mut unclaimed = listed.await.map_err(|error| blob_error("list blobs", prefix, error))?;
    let mut report = BlobReport { blobs: unclaimed.len() as u64, ..BlobReport::default() };
    for table in tables {
        let mut rows = table.stream(Query::<DynamicEntity>::all().allow_scan());
        while let Some(row) = rows.try_next().await? {
            if !rows_of(table, &row) {
                continue;
            }
            for (property, reference) in references(&row)? {
                report.references += 1;
                // One that was put after the listing is there too.
                if !unclaimed.remove(&reference.name) && !is_there(blobs, &reference.name).await? {
                    report.missing.push((row.key().clone(), property));
                }
            }
        }
    }
    report.orphaned = unclaimed.into_iter().collect();
    Ok(report)
}

async fn is_there(blobs: &Arc<dyn ObjectStore>, name: &Path) -> Result<bool> {
    match blobs.head(name).await.map_err(|error| blob_error("get blob", name, error)) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
