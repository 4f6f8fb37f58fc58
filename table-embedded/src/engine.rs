//! The open file, shared by readers and the writer.

use std::sync::{Arc, PoisonError, RwLock};

use foldhash::HashMap;
use redb::{Builder, Database, ReadableDatabase, ReadableTable, ReadableTableMetadata};
use table_core::{Error, ErrorKind, PropertyName, QueueName, Result, TableName, Timestamp};
use tokio::sync::{OwnedRwLockWriteGuard, RwLock as AsyncRwLock};

use crate::backend::{Storage, Watch, Watched, discard_unfinished};
use crate::error::StorageFailure;
use crate::exclusive::lock_alone;
use crate::format::catalog::{self, QueueTables, TableNumber};
use crate::format::names::Names;
use crate::options::EmbeddedOptions;
use crate::snapshot::{LastCommit, Snapshot};
use crate::stamps::FileStamps;

/// The open file, and what is kept in memory of it.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) options: EmbeddedOptions,
    storage: Box<dyn Storage>,
    /// Forgotten before the database is closed, which must be the last to use the file.
    last_commit: LastCommit,
    /// None after an I/O error, until it could be opened again. Whoever reads holds the lock shared;
    /// maintenance and reopening hold it alone.
    pub(crate) database: Arc<AsyncRwLock<Option<Database>>>,
    watch: Arc<Watch>,
    names: RwLock<Arc<Names>>,
    catalog: RwLock<Catalog>,
    stamps: RwLock<Arc<FileStamps>>,
}

/// Which user table and queue is which, as of the last commit.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    pub(crate) tables: HashMap<TableName, TableNumber>,
    pub(crate) queues: HashMap<QueueName, Arc<QueueEntry>>,
}

/// A queue.
#[derive(Debug)]
pub(crate) struct QueueEntry {
    pub(crate) tables: QueueTables,
}

/// What a file holds in its catalog.
struct Opened {
    database: Database,
    names: Names,
    catalog: Catalog,
    /// No time in the file lies behind it.
    mark: Timestamp,
}

impl Engine {
    pub(crate) fn open(storage: Box<dyn Storage>, options: EmbeddedOptions) -> Result<Self> {
        let watch = Arc::<Watch>::default();
        let opened = open_database(&*storage, &options, &watch)?;
        let stamps = FileStamps::new(Arc::clone(&options.clock), opened.mark, opened.mark);
        Ok(Self {
            options,
            storage,
            last_commit: LastCommit::default(),
            database: Arc::new(AsyncRwLock::new(Some(opened.database))),
            watch,
            names: RwLock::new(Arc::new(opened.names)),
            catalog: RwLock::new(opened.catalog),
            stamps: RwLock::new(Arc::new(stamps)),
        })
    }

    /// The size of the file.
    pub(crate) fn file_bytes(&self) -> Result<u64> {
        Ok(self.storage.size().map_err(StorageFailure::from)?)
    }

    /// How often the file was read, since its cache could not answer.
    pub(crate) fn file_reads(&self) -> u64 {
        self.watch.reads()
    }

    pub(crate) fn names(&self) -> Arc<Names> {
        Arc::clone(&self.names.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn set_names(&self, names: Arc<Names>) {
        *self.names.write().unwrap_or_else(PoisonError::into_inner) = names;
    }

    /// Takes note of tables and queues that a commit made or removed.
    pub(crate) fn update_catalog(&self, update: impl FnOnce(&mut Catalog)) {
        update(&mut self.catalog.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Looks something up in the catalog.
    pub(crate) fn read_catalog<T>(&self, look: impl FnOnce(&Catalog) -> T) -> T {
        look(&self.catalog.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn stamps(&self) -> Arc<FileStamps> {
        Arc::clone(&self.stamps.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn table(&self, table: &TableName, operation: &'static str) -> Result<TableNumber> {
        self.read_catalog(|catalog| catalog.tables.get(table).copied())
            .ok_or_else(|| catalog::no_table(table, operation))
    }

    pub(crate) fn queue(&self, queue: &QueueName, operation: &'static str) -> Result<Arc<QueueEntry>> {
        self.read_catalog(|catalog| catalog.queues.get(queue).cloned())
            .ok_or_else(|| catalog::no_queue(queue, operation))
    }

    /// The last commit, to be read.
    pub(crate) fn snapshot(&self, database: &Database) -> Result<Arc<Snapshot>> {
        Ok(self.last_commit.read(database)?)
    }

    /// Lets the next read begin anew: after a commit, and where the file is needed alone.
    pub(crate) fn forget_snapshot(&self) {
        self.last_commit.forget();
    }

    /// Refuses further use once a sync has failed.
    pub(crate) fn check_sync(&self) -> Result<()> {
        if self.watch.sync_failed() {
            return Err(poisoned());
        }
        Ok(())
    }

    /// The file for one caller alone, after a bounded wait for its readers, on a thread that may
    /// block.
    pub(crate) fn alone(&self, wanted: impl Fn() -> bool) -> Result<OwnedRwLockWriteGuard<Option<Database>>> {
        lock_alone(&self.database, self.options.maintenance_wait, wanted)
            .ok_or_else(|| Error::new(ErrorKind::Busy, "readers still use the file; try again when they are done"))
    }

    /// Opens the file anew after an I/O error. Readers that are under way finish first.
    pub(crate) fn reopen(&self) -> Result<()> {
        let mut slot = self.alone(|| true)?;
        self.reopen_in(&mut slot)
    }

    /// Opens the file if an I/O error has left it closed and nobody has opened it since.
    pub(crate) fn ensure_open(&self, slot: &mut Option<Database>) -> Result<()> {
        if slot.is_some() { Ok(()) } else { self.reopen_in(slot) }
    }

    pub(crate) fn reopen_in(&self, slot: &mut Option<Database>) -> Result<()> {
        // The old one must let go of the file first.
        self.forget_snapshot();
        *slot = None;
        let opened = open_database(&*self.storage, &self.options, &self.watch)?;
        self.watch.forget_failed_sync();
        self.set_names(Arc::new(opened.names));
        self.update_catalog(|catalog| *catalog = opened.catalog);
        // Times given to writes that were lost are not given again either.
        let stamps = FileStamps::new(Arc::clone(&self.options.clock), opened.mark, self.stamps().last());
        *self.stamps.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(stamps);
        *slot = Some(opened.database);
        Ok(())
    }
}

/// What a call gets while the file cannot be opened again.
pub(crate) fn closed() -> Error {
    Error::new(ErrorKind::Unavailable, "the file could not be opened again after an I/O error; try again")
}

fn poisoned() -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "a sync of the file failed, so written data may not be on disk; check the disk, then call `reopen`",
    )
    .with_retryable(false)
}

fn open_database(storage: &dyn Storage, options: &EmbeddedOptions, watch: &Arc<Watch>) -> Result<Opened> {
    let open = || -> Result<Database> {
        let backend = storage.open().map_err(StorageFailure::from)?;
        let backend = Watched::new(backend, Arc::clone(watch));
        let opened = Builder::new().set_cache_size(options.cache_bytes).create_with_backend(backend);
        Ok(opened.map_err(StorageFailure::from)?)
    };
    let database = match open() {
        Err(error) if error.kind() == ErrorKind::Corrupted => {
            let backend = storage.open().map_err(StorageFailure::from)?;
            if !discard_unfinished(&*backend).map_err(StorageFailure::from)? {
                // Whoever has it may be creating it just now.
                return Err(StorageFailure::from(redb::DatabaseError::DatabaseAlreadyOpen).into());
            }
            drop(backend);
            open()?
        }
        opened => opened?,
    };
    read_catalog(database)
}

fn read_catalog(database: Database) -> Result<Opened> {
    if is_new(&database)? {
        initialise(&database)?;
    }
    let transaction = database.begin_read().map_err(StorageFailure::from)?;
    let meta = transaction.open_table(catalog::META).map_err(|error| foreign(error.into()))?;
    let number = |key: &str| -> Result<u64> {
        let found = meta.get(key).map_err(StorageFailure::from)?;
        Ok(found.map_or(0, |found| found.value()))
    };
    let format = number(catalog::META_FORMAT)?;
    if format != catalog::FORMAT {
        return Err(Error::unsupported(format!(
            "the file has the format {format}, and this program knows {}; use a newer program",
            catalog::FORMAT
        )));
    }
    let ticks = i64::try_from(number(catalog::META_TIMESTAMP)?).unwrap_or(i64::MAX);
    let mark = Timestamp::from_ticks(ticks).unwrap_or(Timestamp::MAX);
    let names = read_names(&transaction)?;
    let catalog = read_entries(&transaction)?;
    drop((meta, transaction));
    Ok(Opened { database, names, catalog, mark })
}

fn foreign(failure: StorageFailure) -> Error {
    Error::unsupported("the file is a redb database of another program; name another file").with_source(failure)
}

/// Whether nothing was ever written to the file. A database of another program is not new.
fn is_new(database: &Database) -> Result<bool> {
    let transaction = database.begin_read().map_err(StorageFailure::from)?;
    let tables = transaction.list_tables().map_err(StorageFailure::from)?.count();
    let multimaps = transaction.list_multimap_tables().map_err(StorageFailure::from)?.count();
    Ok(tables + multimaps == 0)
}

fn initialise(database: &Database) -> Result<()> {
    let transaction = database.begin_write().map_err(StorageFailure::from)?;
    let create = || -> Result<(), StorageFailure> {
        let mut meta = transaction.open_table(catalog::META)?;
        meta.insert(catalog::META_FORMAT, catalog::FORMAT)?;
        meta.insert(catalog::META_TIMESTAMP, 0)?;
        meta.insert(catalog::META_NUMBER, 1)?;
        transaction.open_table(catalog::TABLES)?;
        transaction.open_table(catalog::QUEUES)?;
        transaction.open_table(catalog::NAMES)?;
        transaction.open_table(catalog::DROPPED)?;
        Ok(())
    };
    create()?;
    transaction.commit().map_err(StorageFailure::from)?;
    Ok(())
}

fn read_names(transaction: &redb::ReadTransaction) -> Result<Names> {
    let table = transaction.open_table(catalog::NAMES).map_err(StorageFailure::from)?;
    let mut names = Names::default();
    for entry in table.iter().map_err(StorageFailure::from)? {
        let (number, name) = entry.map_err(StorageFailure::from)?;
        let stored = PropertyName::new(name.value()).ok().and_then(|name| names.add(&name));
        if stored != Some(number.value()) {
            return Err(Error::corrupted("the file's property names are damaged; restore a backup"));
        }
    }
    Ok(names)
}

fn read_entries(transaction: &redb::ReadTransaction) -> Result<Catalog> {
    let mut catalog = Catalog::default();
    let tables = transaction.open_table(catalog::TABLES).map_err(StorageFailure::from)?;
    catalog.tables.reserve(usize::try_from(tables.len().map_err(StorageFailure::from)?).unwrap_or(0));
    for entry in tables.iter().map_err(StorageFailure::from)? {
        let (_, value) = entry.map_err(StorageFailure::from)?;
        let (number, name) = value.value();
        catalog.tables.insert(catalog::stored_table_name(name)?, TableNumber(number));
    }
    let queues = transaction.open_table(catalog::QUEUES).map_err(StorageFailure::from)?;
    for entry in queues.iter().map_err(StorageFailure::from)? {
        let (name, number) = entry.map_err(StorageFailure::from)?;
        let name = QueueName::new(name.value())
            .map_err(|error| Error::corrupted("the catalog holds a bad queue name").with_source(error))?;
        catalog.queues.insert(name, Arc::new(QueueEntry { tables: QueueTables::new(number.value()) }));
    }
    Ok(catalog)
}
