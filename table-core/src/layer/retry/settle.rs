//! What became of a write whose answer was lost, told by what is stored now.
//!
//! Two facts decide, and nothing else does:
//! - a stored row that carries the token of this write proves that it happened. Equal content
//!   without a token proves nothing, since two writers may write the same;
//! - a stored row that still has the ETag that the write was conditional on proves that it did not,
//!   since a write changes the ETag and an ETag never repeats.
//!
//! A transaction happens as a whole, so one row decides for all of them.

use super::Retry;
use super::attempts::Attempts;
use crate::dynamic::DynamicEntity;
use crate::error::Result;
use crate::etag::ETag;
use crate::names::TableName;
use crate::operation::{Action, IfMatch, Operation, Written};
use crate::reserved;
use crate::store::{Selection, TableStore};

/// What became of a write.
pub(super) enum Settled {
    /// It happened, and what is stored now is what it wrote.
    Happened(Vec<Written>),
    /// It did not happen.
    DidNotHappen,
    /// Nothing tells.
    Undecided,
}

impl<S: TableStore> Retry<S> {
    /// Reads back the rows of a write until one decides.
    ///
    /// # Errors
    /// Those of reading.
    pub(super) async fn settle(
        &self,
        table: &TableName,
        operations: &[Operation],
        attempts: &Attempts<'_>,
    ) -> Result<Settled> {
        for operation in operations {
            let action = operation.action();
            if token(action.entity()).is_none() && condition(action).is_none() {
                continue;
            }
            let stored = self.read_back(table, operation, attempts).await?;
            if carries_token_of(stored.as_ref(), action) {
                return self.versions(table, operations, attempts).await;
            }
            if condition(action).is_some_and(|etag| stored.is_some_and(|row| row.etag.as_ref() == Some(etag))) {
                return Ok(Settled::DidNotHappen);
            }
        }
        Ok(Settled::Undecided)
    }

    /// The versions that a write made which is known to have happened.
    ///
    /// A row that somebody has changed since has a version that this writer has not seen; handing
    /// that out as its own would let it overwrite the change unseen. So such a write is undecided.
    async fn versions(&self, table: &TableName, operations: &[Operation], attempts: &Attempts<'_>) -> Result<Settled> {
        let mut written = Vec::with_capacity(operations.len());
        for operation in operations {
            if operation.action().entity().is_none() {
                written.push(Written { etag: None });
                continue;
            }
            match self.read_back(table, operation, attempts).await? {
                Some(row) if is_as_written(&row, operation.action()) => written.push(Written { etag: row.etag }),
                _ => return Ok(Settled::Undecided),
            }
        }
        Ok(Settled::Happened(written))
    }

    async fn read_back(
        &self,
        table: &TableName,
        operation: &Operation,
        attempts: &Attempts<'_>,
    ) -> Result<Option<DynamicEntity>> {
        let read = || self.inner.get(table, operation.key(), &Selection::All);
        attempts.of_reading_back().repeat(read).await
    }
}

/// The mark of this attempt to write, where the writer gave one.
fn token(entity: Option<&DynamicEntity>) -> Option<&crate::Value> {
    entity?.get(reserved::ROW_TOKEN.as_str())
}

/// The version that a write was conditional on.
fn condition(action: &Action) -> Option<&ETag> {
    match action.if_match() {
        Some(IfMatch::Version(etag)) => Some(etag),
        Some(IfMatch::Any) | None => None,
    }
}

fn carries_token_of(stored: Option<&DynamicEntity>, action: &Action) -> bool {
    token(action.entity()).is_some_and(|ours| token(stored) == Some(ours))
}

/// Whether a stored row shows what an action wrote: all of its properties, or those it merged.
fn is_as_written(stored: &DynamicEntity, action: &Action) -> bool {
    match action {
        Action::Insert(entity) | Action::Replace(entity, _) | Action::InsertOrReplace(entity) => {
            stored.properties == entity.properties
        }
        Action::Merge(entity, _) | Action::InsertOrMerge(entity) => {
            entity.properties.iter().all(|(name, value)| stored.get(name.as_str()) == Some(value))
        }
        Action::Delete(..) => false,
    }
}
