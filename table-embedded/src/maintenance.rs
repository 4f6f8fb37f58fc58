//! Backup, compaction and check.

use std::path::{Path, PathBuf};

use redb::{Database, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition};
use table_core::{Error, Result, SortKey};

use crate::engine::{Engine, closed};
use crate::error::StorageFailure;
use crate::format::catalog::{self, QueueTables, TableNumber};
use crate::format::message::StoredMessage;
use crate::format::names::Names;
use crate::format::row::RowRef;
use crate::store::EmbeddedStore;

/// Entries that a backup writes before it commits, so that it does not gather the file in memory.
const BACKUP_BATCH: usize = 10_000;
/// Rows after which a check reports.
const REPORT_EVERY: u64 = 10_000;

/// How far a check has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CheckProgress {
    /// Rows that were read.
    pub rows: u64,
    /// Messages that were read.
    pub messages: u64,
}

/// What a check found in a file that is sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// Rows of all tables, each of which could be read.
    pub rows: u64,
    /// Messages of all queues, each of which could be read.
    pub messages: u64,
    /// Whether the storage engine's own structures were damaged and have been repaired.
    pub repaired: bool,
}

/// What a compaction did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactReport {
    /// Bytes of the file before.
    pub bytes_before: u64,
    /// Bytes of the file after.
    pub bytes_after: u64,
}

impl EmbeddedStore {
    /// Writes a consistent snapshot of everything to a new file, while reads and writes go on.
    ///
    /// # Errors
    /// [`AlreadyExists`](table_core::ErrorKind::AlreadyExists) where there is a file of that name, which is left as it is.
    pub async fn backup(&self, to: impl AsRef<Path>) -> Result<()> {
        let to = to.as_ref().to_owned();
        self.read_long(move |_, database| {
            let snapshot = database.begin_read().map_err(StorageFailure::from)?;
            backup(&snapshot, &to)
        })
        .await
    }

    /// Gives space that is no longer used back to the file system.
    ///
    /// It needs the file for itself: it waits for readers for as long as the options say.
    ///
    /// # Errors
    /// [`Busy`](table_core::ErrorKind::Busy) where readers take longer.
    pub async fn compact(&self) -> Result<CompactReport> {
        self.alone("compact", |engine, database| {
            let bytes_before = engine.file_bytes()?;
            // Each round moves what it can; freed pages become movable in the next.
            while database.compact().map_err(StorageFailure::from)? {}
            Ok(CompactReport { bytes_before, bytes_after: engine.file_bytes()? })
        })
        .await
    }

    /// Reads everything and verifies every checksum.
    ///
    /// It needs the file for itself: it waits for readers for as long as the options say.
    ///
    /// # Errors
    /// [`Corrupted`](table_core::ErrorKind::Corrupted) for what is damaged beyond repair,
    /// [`Busy`](table_core::ErrorKind::Busy) where readers take longer.
    pub async fn check(&self, progress: impl Fn(CheckProgress) + Send + 'static) -> Result<CheckReport> {
        self.alone("check", move |engine, database| {
            let sound = database.check_integrity().map_err(StorageFailure::from)?;
            let snapshot = database.begin_read().map_err(StorageFailure::from)?;
            let read = read_all(&snapshot, &engine.names(), &progress)?;
            Ok(CheckReport { rows: read.rows, messages: read.messages, repaired: !sound })
        })
        .await
    }

    /// Does something that no reader or writer may be beside.
    async fn alone<T: Send + 'static>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&Engine, &mut Database) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.engine().check_sync()?;
        let done = self.with_file_alone(|engine, slot| {
            engine.ensure_open(slot)?;
            engine.forget_snapshot();
            work(engine, slot.as_mut().ok_or_else(closed)?)
        });
        done.await.map_err(|error| error.with_operation(operation))
    }
}

/// The names of all redb tables that hold rows and messages.
fn contents(snapshot: &ReadTransaction) -> Result<(Vec<String>, Vec<QueueTables>), StorageFailure> {
    let mut rows = Vec::new();
    for entry in snapshot.open_table(catalog::TABLES)?.iter()? {
        rows.push(TableNumber(entry?.1.value().0).rows_name());
    }
    let mut queues = Vec::new();
    for entry in snapshot.open_table(catalog::QUEUES)?.iter()? {
        queues.push(QueueTables::new(entry?.1.value()));
    }
    Ok((rows, queues))
}

fn read_all(snapshot: &ReadTransaction, names: &Names, progress: &dyn Fn(CheckProgress)) -> Result<CheckProgress> {
    let (tables, queues) = contents(snapshot)?;
    let mut read = CheckProgress::default();
    for name in &tables {
        let rows = snapshot.open_table(catalog::bytes_table(name)).map_err(StorageFailure::from)?;
        for entry in rows.iter().map_err(StorageFailure::from)? {
            let (key, value) = entry.map_err(StorageFailure::from)?;
            let key = SortKey::decode_bytes(key.value())?;
            let row = RowRef::new(value.value()).and_then(|row| row.properties(names, |_| true));
            row.map_err(|error| error.with_key(key))?;
            read.rows += 1;
            if read.rows % REPORT_EVERY == 0 {
                progress(read);
            }
        }
    }
    for queue in &queues {
        let messages = snapshot.open_table(catalog::messages_table(&queue.messages)).map_err(StorageFailure::from)?;
        for entry in messages.iter().map_err(StorageFailure::from)? {
            StoredMessage::decode(entry.map_err(StorageFailure::from)?.1.value())?;
            read.messages += 1;
        }
    }
    progress(read);
    Ok(read)
}

/// Writes a snapshot beside the wanted file, and gives it its name once it is whole.
fn backup(snapshot: &ReadTransaction, to: &Path) -> Result<()> {
    let exists = || Error::already_exists("a file of the backup's name is there already; name another");
    if to.exists() {
        return Err(exists());
    }
    let partial = partial_name(to);
    let copied = copy_all(snapshot, &partial).and_then(|()| match std::fs::hard_link(&partial, to) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(exists()),
        Err(error) => Err(StorageFailure::from(error).into()),
        Ok(()) => Ok(()),
    });
    let removed = std::fs::remove_file(&partial).map_err(|error| StorageFailure::from(error).into());
    copied.and(removed)
}

fn partial_name(to: &Path) -> PathBuf {
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.partial", uuid::Uuid::new_v4().simple()));
    to.with_file_name(name)
}

fn copy_all(snapshot: &ReadTransaction, to: &Path) -> Result<()> {
    let copy = || -> Result<(), StorageFailure> {
        let target = Database::create(to)?;
        copy_table(snapshot, &target, catalog::META)?;
        copy_table(snapshot, &target, catalog::TABLES)?;
        copy_table(snapshot, &target, catalog::QUEUES)?;
        copy_table(snapshot, &target, catalog::NAMES)?;
        let (tables, queues) = contents(snapshot)?;
        for name in &tables {
            copy_table(snapshot, &target, catalog::bytes_table(name))?;
        }
        for queue in &queues {
            copy_table(snapshot, &target, catalog::messages_table(&queue.messages))?;
            copy_table(snapshot, &target, catalog::times_table(&queue.visible))?;
            copy_table(snapshot, &target, catalog::times_table(&queue.expiring))?;
        }
        // This commit is the durable one, and it makes those before it durable too.
        let last = target.begin_write()?;
        last.open_table(catalog::DROPPED)?;
        last.commit()?;
        Ok(())
    };
    copy().map_err(Error::from)
}

fn copy_table<K: redb::Key + 'static, V: redb::Value + 'static>(
    snapshot: &ReadTransaction,
    target: &Database,
    definition: TableDefinition<'_, K, V>,
) -> Result<(), StorageFailure> {
    let source = snapshot.open_table(definition)?;
    let mut entries = source.iter()?.peekable();
    loop {
        let mut transaction = target.begin_write()?;
        drop(transaction.set_durability(redb::Durability::None));
        let mut table = transaction.open_table(definition)?;
        for entry in entries.by_ref().take(BACKUP_BATCH) {
            let (key, value) = entry?;
            table.insert(key.value(), value.value())?;
        }
        drop(table);
        transaction.commit()?;
        if entries.peek().is_none() {
            return Ok(());
        }
    }
}
