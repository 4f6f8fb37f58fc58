//! Writing what a source says into a target: the target is read, then the source, then written if both are still so.

use table_core::store::Selection;
use table_core::{Action, EntityKey, FromRow, IfMatch, Operation, Result, Table, Timestamp};

use super::{Copies, Finding};
use crate::denormalization::{KeepsCopies, differs, is_conflict, touch};
use crate::intra_partition_secondary_index::IndexedTransaction;
use crate::maintenance::marks::Mark;

impl<T: KeepsCopies> Copies<'_, T> {
    /// Makes a target what its source says, and says whether it was written.
    pub(super) async fn set(&self, key: &EntityKey) -> Result<bool> {
        match self.0.across() {
            None => self.set_here(key).await,
            Some(across) => {
                let Some(target) = self.target(key).await? else { return Ok(false) };
                let source = self.source_of(&target).await?;
                if !differs(&target, source.as_deref())? {
                    return Ok(false);
                }
                Ok(across.write_target(key).await?.is_some())
            }
        }
    }

    /// Writes a target in the partition of its source. The source may be written without it where that changes nothing
    /// of the target; so it is touched in the same transaction, if it is still so.
    async fn set_here(&self, key: &EntityKey) -> Result<bool> {
        let mut attempts = self.0.options().begin();
        loop {
            let Some(mut target) = self.target(key).await? else { return Ok(false) };
            let source = self.source_of(&target).await?;
            let miscount = self.miscount(&target).await?.unwrap_or(0);
            if miscount == 0 && !differs(&target, source.as_deref())? {
                return Ok(false);
            }
            target.take(source.as_deref());
            if miscount != 0 {
                target.count(miscount);
            }
            let mut replace = IndexedTransaction::new(self.0.table()).replace(&target);
            if let Some(source) = &source {
                replace = replace.operation(touch(source)?);
            }
            match replace.commit().await {
                Ok(_) => return Ok(true),
                Err(error) => {
                    let conflict = is_conflict(&error);
                    attempts.after(error, conflict).await?;
                }
            }
        }
    }

    /// Does what an intent was for whose message is lost. The targets of a source that is gone are found where they stand.
    async fn settle(&self, table: &Table, owner: &EntityKey) -> Result<()> {
        let Some(row) = table.store().get(table.name(), owner, &Selection::All).await? else { return Ok(()) };
        if T::recognizes(&row) {
            self.set(owner).await?;
        } else if T::Source::recognizes(&row) {
            self.0.refresh(T::Source::from_row(row)?.value()).await?;
        }
        Ok(())
    }

    /// Removes a row of the protocol that nobody comes for any more, and says whether it is gone.
    pub(super) async fn clear(&self, finding: &Finding, now: Timestamp) -> Result<bool> {
        let is_of_targets = finding.table == *self.0.table().name();
        let table = if is_of_targets { self.0.table() } else { self.0.sources() };
        let Some(row) = table.store().get(&finding.table, &finding.key, &Selection::All).await? else {
            return Ok(true);
        };
        let (Some(mark), Some(owner), Some(etag)) = (Mark::of(&row), &finding.source, &row.etag) else {
            return Ok(false);
        };
        if !self.is_overdue(&row, now) || !self.owns(&row) {
            return Ok(false);
        }
        if mark == Mark::Intent {
            self.settle(table, owner).await?;
        }
        let remove = Operation::new(Action::Delete(finding.key.clone(), IfMatch::Version(etag.clone())))?;
        match table.store().write(&finding.table, remove).await {
            Ok(_) => Ok(true),
            Err(error) if crate::intent::is_conflict(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
