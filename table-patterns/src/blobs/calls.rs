//! Calls to a blob store: puts of what comes with a row, reads that are checked, deletes.

use std::sync::Arc;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use table_core::{EntityKey, Error, ErrorKind, PropertyName, Result};

use super::blob_error;
use super::reference::{Payload, Reference, sha256};

/// Blobs of one write that are put at once.
const UPLOADS: usize = 4;

/// Puts the blobs of a write.
pub(crate) async fn put_all(blobs: &Arc<dyn ObjectStore>, uploads: Vec<(Path, Payload)>) -> Result<()> {
    let puts = uploads.into_iter().map(|(path, payload)| async move {
        let put = blobs.put(&path, payload.bytes.into()).await;
        put.map(|_| ()).map_err(|error| blob_error("put blob", &path, error))
    });
    stream::iter(puts).buffer_unordered(UPLOADS).try_collect().await
}

/// Reads a blob and checks it; `None` where it is gone.
pub(crate) async fn fetch(
    blobs: &Arc<dyn ObjectStore>,
    key: &EntityKey,
    property: &PropertyName,
    reference: &Reference,
) -> Result<Option<Payload>> {
    let read = async { blobs.get(&reference.name).await?.bytes().await };
    let bytes = match read.await.map_err(|error| blob_error("get blob", &reference.name, error)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.with_key(key.clone()).with_property(property.as_str())),
    };
    let hash = sha256(&bytes).await;
    let payload = Payload { kind: reference.kind, bytes };
    if reference.holds(&payload, &hash) { Ok(Some(payload)) } else { Err(altered(key, property)) }
}

/// Deletes a blob, which may be gone already.
pub(crate) async fn remove(blobs: &Arc<dyn ObjectStore>, name: &Path) -> Result<()> {
    match blobs.delete(name).await.map_err(|error| blob_error("delete blob", name, error)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The error for a blob that is not what was stored.
pub(crate) fn altered(key: &EntityKey, property: &PropertyName) -> Error {
    Error::corrupted("the blob is not what was stored: its length or its checksum differs")
        .with_key(key.clone())
        .with_property(property.as_str())
}

/// The error for a row that refers to nothing.
pub(crate) fn dangling(key: EntityKey, property: &PropertyName) -> Error {
    Error::corrupted("the row refers to a blob that is not there; it was deleted past this toolkit")
        .with_key(key)
        .with_property(property.as_str())
}
