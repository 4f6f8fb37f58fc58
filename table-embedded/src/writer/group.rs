//! One group of writes: a redb transaction, and what is known of it before its commit.

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};
use redb::{Table, WriteTransaction};
use table_core::{Error, PropertyName, QueueName, Result, TableName, Timestamp};

use super::cleanup::Cleanup;
use crate::engine::{Engine, QueueEntry};
use crate::error::StorageFailure;
use crate::format::catalog::{self, TableNumber};
use crate::format::names::{Names, NamesMut};
use crate::stamps::FileStamps;

/// Why a write in a group did not happen.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Its conditions do not hold; nothing was changed.
    Refused(Error),
    /// The file failed, and with it the whole group.
    Storage(StorageFailure),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

macro_rules! from_storage {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::Storage(error.into())
            }
        })*
    };
}

from_storage!(StorageFailure, redb::StorageError, redb::TableError);

/// The rows of a user table in a transaction.
pub(super) type RowsTable<'t> = Table<'t, &'static [u8], &'static [u8]>;

/// One group of writes. Each sees what those before it did.
pub(crate) struct Group<'t> {
    pub(super) engine: &'t Engine,
    pub(super) transaction: &'t WriteTransaction,
    pub(super) stamps: Arc<FileStamps>,
    pub(super) names: GroupNames<'t>,
    /// Opened once, since opening takes a look-up of its own.
    pub(super) rows: HashMap<TableNumber, RowsTable<'t>>,
    pub(super) changes: Changes,
    /// Whether anything was changed, so that there is something to commit.
    pub(super) changed: bool,
}

/// What a group changes beside rows and messages, made known once it is committed.
#[derive(Default)]
pub(crate) struct Changes {
    pub(super) tables: HashMap<TableName, Option<(TableName, TableNumber)>>,
    pub(super) queues: HashMap<QueueName, Option<Arc<QueueEntry>>>,
    pub(super) dropped: bool,
    /// The mark of times that the file holds then.
    mark: Option<Timestamp>,
}

impl<'t> Group<'t> {
    pub(super) fn new(engine: &'t Engine, transaction: &'t WriteTransaction) -> Self {
        Self {
            engine,
            transaction,
            stamps: engine.stamps(),
            names: GroupNames { transaction, names: engine.names(), added: false },
            rows: HashMap::new(),
            changes: Changes::default(),
            changed: false,
        }
    }

    /// The table as this group sees it.
    pub(super) fn table(&self, table: &TableName, operation: &'static str) -> Result<TableNumber> {
        match self.changes.tables.get(table) {
            Some(Some((_, number))) => Ok(*number),
            Some(None) => Err(catalog::no_table(table, operation)),
            None => self.engine.table(table, operation),
        }
    }

    /// The queue as this group sees it.
    pub(super) fn queue(&self, queue: &QueueName, operation: &'static str) -> Result<Arc<QueueEntry>> {
        match self.changes.queues.get(queue) {
            Some(Some(entry)) => Ok(Arc::clone(entry)),
            Some(None) => Err(catalog::no_queue(queue, operation)),
            None => self.engine.queue(queue, operation),
        }
    }

    /// A number that no table or queue had before.
    pub(super) fn next_number(&self) -> Result<u64, StorageFailure> {
        let mut meta = self.transaction.open_table(catalog::META)?;
        let number = redb::ReadableTable::get(&meta, catalog::META_NUMBER)?.map_or(1, |number| number.value());
        meta.insert(catalog::META_NUMBER, number + 1)?;
        Ok(number)
    }

    /// Makes the transaction ready to be committed; none where nothing was changed.
    pub(super) fn finish(mut self) -> Result<Option<Changes>, StorageFailure> {
        if !self.changed {
            return Ok(None);
        }
        self.changes.mark = self.stamps.due_mark();
        if let Some(mark) = self.changes.mark {
            let ticks = u64::try_from(mark.ticks()).unwrap_or(0);
            self.transaction.open_table(catalog::META)?.insert(catalog::META_TIMESTAMP, ticks)?;
        }
        if self.names.added {
            // Readers may meet the new names as soon as the commit is done, so they come first.
            self.engine.set_names(self.names.names);
        }
        Ok(Some(self.changes))
    }
}

impl Changes {
    /// Takes note of what is committed, and makes it known to readers.
    pub(super) fn publish(self, engine: &Engine, cleanup: &mut Cleanup) {
        if let Some(mark) = self.mark {
            engine.stamps().marked(mark);
        }
        if self.dropped {
            cleanup.wake();
        }
        if self.tables.is_empty() && self.queues.is_empty() {
            return;
        }
        engine.update_catalog(|catalog| {
            for (name, entry) in self.tables {
                catalog.tables.remove(&name);
                catalog.tables.extend(entry);
            }
            for (name, entry) in self.queues {
                match entry {
                    Some(entry) => catalog.queues.insert(name, entry),
                    None => catalog.queues.remove(&name),
                };
            }
        });
    }
}

/// The property names as the group sees them; new ones are written with it.
pub(super) struct GroupNames<'t> {
    transaction: &'t WriteTransaction,
    names: Arc<Names>,
    added: bool,
}

impl GroupNames<'_> {
    pub(super) fn names(&self) -> &Names {
        &self.names
    }
}

impl NamesMut for GroupNames<'_> {
    fn number(&mut self, name: &PropertyName) -> Result<Option<u16>, StorageFailure> {
        if let Some(number) = self.names.number(name) {
            return Ok(Some(number));
        }
        let Some(number) = Arc::make_mut(&mut self.names).add(name) else {
            return Ok(None);
        };
        self.added = true;
        self.transaction.open_table(catalog::NAMES)?.insert(number, name.as_str())?;
        Ok(Some(number))
    }
}
