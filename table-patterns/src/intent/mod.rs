//! One change of an entity that is to reach rows or blobs which no transaction spans: the intent beneath the
//! patterns across partitions.
//!
//! What a pattern supplies is little: the transaction of the entity's partition, what the message names, and how
//! to settle, which is to read the targets, then the entity, and then to write the targets if they are still what
//! was read. The rest is here.
//!
//! | | a writer | a worker |
//! | --- | --- | --- |
//! | 1 | [`Keeper::send`]: a hidden message that names the entity and its targets | gets the message when the writer was too slow, or died |
//! | 2 | [`Keeper::commit`]: the change, and an insert of the intent row | [`fence`]: is the intent there? Else no such change may come any more |
//! | 3 | [`Keeper::finish`]: settles | settles |
//! | 4 | deletes the intent | deletes the intent |
//! | 5 | deletes the message, or makes it the one that collects what is left | the same |
//!
//! The invariants:
//! - The message comes before everything that it is to mend, and goes last.
//! - A change is committed only with its intent row, so it is known of, or behind a fence, and then it fails.
//! - Targets are read before the entity, and written conditionally, **always, even when they look right**: the new
//!   version is what stops whoever comes late.
//! - What is left in place of a target (a tombstone, a fence) stays for a grace period, much longer than anybody can
//!   be late; a writer that is older than a quarter of it gives up.

mod message;
mod options;
pub(crate) mod rows;
mod worker;
mod writer;

pub use options::IntentOptions;

pub(crate) use crate::attempts::is_conflict;
pub(crate) use message::{Garbage, Intent, Named};
pub(crate) use options::Age;
pub(crate) use worker::fence;
pub(crate) use writer::{Ended, Keeper, Outer, Sent, Settled, before_the_change};

use table_core::{Action, DynamicEntity, ETag, EntityKey, ErrorKind, IfMatch, Operation, Result, Table, TableName};

/// Writes a row if there still is the version that was read, or none where none was, and answers the new version;
/// none where somebody else was faster.
pub(crate) async fn put(
    table: &Table,
    name: &TableName,
    row: DynamicEntity,
    read: Option<&ETag>,
) -> Result<Option<ETag>> {
    let action = match read {
        None => Action::Insert(row),
        Some(etag) => Action::Replace(row, IfMatch::Version(etag.clone())),
    };
    match table.store().write(name, Operation::new(action)?).await {
        Ok(written) => crate::rows::version(Some(written)).map(Some),
        Err(error) if is_conflict(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes a row that nobody else needs.
pub(crate) async fn delete(table: &Table, key: EntityKey) -> Result<()> {
    match table.store().write(table.name(), Operation::new(Action::Delete(key, IfMatch::Any))?).await {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
