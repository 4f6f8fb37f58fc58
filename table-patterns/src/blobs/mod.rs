//! What patterns with blobs share, on any `object_store`: references in rows, drafts of rows with their blobs, the
//! calls with their checks, and our errors.
//!
//! The invariant: a blob is put before the row that refers to it, under a name that no other write has.

mod calls;
mod draft;
mod reference;
mod verify;

pub use verify::BlobReport;

pub(crate) use calls::{altered, dangling, fetch, put_all, remove};
pub(crate) use draft::{Draft, dropped, folder};
pub(crate) use reference::{Kind, Payload, Reference, References, hex, refer, references};
pub(crate) use verify::verify;

use object_store::Error as BlobError;
use object_store::path::Path;
use table_core::{Error, ErrorKind};

/// What went wrong with a blob, in the words of this toolkit.
///
/// An error of no special kind is worth trying again: it stands for a connection that broke, a disk that was
/// full, a service that was busy. Whether its write happened is then open.
pub(crate) fn blob_error(operation: &'static str, path: &Path, error: BlobError) -> Error {
    let (kind, message) = match &error {
        BlobError::NotFound { .. } => (ErrorKind::NotFound, "there is no such blob"),
        BlobError::AlreadyExists { .. } => (ErrorKind::AlreadyExists, "there is such a blob already"),
        BlobError::Precondition { .. } | BlobError::NotModified { .. } => {
            (ErrorKind::PreconditionFailed, "the blob was changed in between")
        }
        BlobError::PermissionDenied { .. } | BlobError::Unauthenticated { .. } => {
            (ErrorKind::PermissionDenied, "the blob store refuses access; check its credentials")
        }
        BlobError::NotSupported { .. } | BlobError::NotImplemented { .. } => {
            (ErrorKind::Unsupported, "the blob store cannot do this")
        }
        BlobError::InvalidPath { .. } | BlobError::UnknownConfigurationKey { .. } => {
            (ErrorKind::InvalidName, "the blob store does not take this name")
        }
        _ => (ErrorKind::Unavailable, "the blob store did not answer"),
    };
    let open = kind == ErrorKind::Unavailable && matches!(operation, "put blob" | "delete blob");
    Error::new(kind, format!("{message}: {path}"))
        .with_operation(operation)
        .with_outcome_unknown(open)
        .with_source(error)
}
