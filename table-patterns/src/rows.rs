//! What every pattern does with rows: mark a write, make it conditional, take its version.

use table_core::{DynamicEntity, ETag, Error, ErrorKind, IfMatch, Result, Value, Versioned, Written, reserved};
use uuid::Uuid;

/// Puts the token of one write on a row, by which a lost answer is settled.
pub(crate) fn marked(mut row: DynamicEntity) -> DynamicEntity {
    row.properties.insert(reserved::ROW_TOKEN, Value::Guid(Uuid::new_v4()));
    row
}

/// The condition that a row is still as it was read.
pub(crate) fn unchanged<E>(read: &Versioned<E>) -> IfMatch {
    IfMatch::Version(read.etag().clone())
}

/// The version that a write made.
pub(crate) fn version(written: Option<Written>) -> Result<ETag> {
    existing(written.and_then(|written| written.etag))
}

/// The version of a row that was written and not deleted.
pub(crate) fn existing(etag: Option<ETag>) -> Result<ETag> {
    etag.ok_or_else(|| Error::corrupted("the store answered a write without an ETag"))
}

/// Whether a value fits no key: for what it holds, or for its length.
pub(crate) fn fits_no_key(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidKey | ErrorKind::LimitExceeded)
}

/// Whether a row cannot be read as its type: since it is damaged, or of a newer version.
pub(crate) fn is_unreadable(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Corrupted | ErrorKind::Unsupported)
}
