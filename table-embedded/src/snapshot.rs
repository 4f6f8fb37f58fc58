//! The last commit, opened once for all reads of it.
//!
//! Beginning a read and finding a table in it takes redb longer than reading a row, so both are
//! kept until the next commit. The invariant: a snapshot that is handed out holds every commit that
//! was answered before. The writer forgets it between each commit and its answers, and a new one
//! begins under the lock that forgetting takes.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use foldhash::HashMap;
use redb::{Database, Range, ReadOnlyTable, ReadTransaction, ReadableDatabase, TableError};

use crate::error::StorageFailure;
use crate::format::catalog::{self, TableNumber};

/// The rows of a user table, as of a commit.
pub(crate) type Rows = ReadOnlyTable<&'static [u8], &'static [u8]>;

/// Some of these rows in order, to be read while the table is held.
pub(crate) type RowsRange = Range<'static, &'static [u8], &'static [u8]>;

/// The last commit, while somebody has read it.
#[derive(Debug, Default)]
pub(crate) struct LastCommit {
    snapshot: RwLock<Option<Arc<Snapshot>>>,
}

impl LastCommit {
    /// The last commit, to be read.
    pub(crate) fn read(&self, database: &Database) -> Result<Arc<Snapshot>, StorageFailure> {
        if let Some(snapshot) = &*self.snapshot.read().unwrap_or_else(PoisonError::into_inner) {
            return Ok(Arc::clone(snapshot));
        }
        let mut place = self.snapshot.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(snapshot) = &*place {
            return Ok(Arc::clone(snapshot));
        }
        let snapshot = Arc::new(Snapshot { transaction: database.begin_read()?, rows: RwLock::default() });
        *place = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }

    /// Lets go of it: there is a later commit, or the file is needed alone.
    pub(crate) fn forget(&self) {
        let forgotten = self.snapshot.write().unwrap_or_else(PoisonError::into_inner).take();
        // Closing it takes a lock of redb's, which readers need not wait for.
        drop(forgotten);
    }
}

/// The state of the file as of one commit.
pub(crate) struct Snapshot {
    transaction: ReadTransaction,
    rows: RwLock<HashMap<TableNumber, Arc<Rows>>>,
}

impl Snapshot {
    /// The rows of a table. None where the table was dropped in the meantime.
    pub(crate) fn rows(&self, table: TableNumber) -> Result<Option<Arc<Rows>>, StorageFailure> {
        if let Some(rows) = self.rows.read().unwrap_or_else(PoisonError::into_inner).get(&table) {
            return Ok(Some(Arc::clone(rows)));
        }
        let rows = match self.transaction.open_table(catalog::bytes_table(&table.rows_name())) {
            Ok(rows) => Arc::new(rows),
            Err(TableError::TableDoesNotExist(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut opened = self.rows.write().unwrap_or_else(PoisonError::into_inner);
        opened.insert(table, Arc::clone(&rows));
        Ok(Some(rows))
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").finish_non_exhaustive()
    }
}
