//! Raw redb with the bytes of an embedded file, its cache size and its repair setting.

use std::path::Path;

use redb::{Builder, Database, ReadableDatabase, ReadableTable, TableDefinition, TableHandle, WriteTransaction};
use table_core::SortKey;

use crate::Result;

const ROWS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("rows");

/// The cache of an embedded store with default options.
const CACHE_BYTES: usize = 256 * 1024 * 1024;

/// Rows that one commit copies.
const COPY_BATCH: usize = 10_000;

/// A key and a value, as they lie in a file.
pub(crate) type RawRow = (Vec<u8>, Vec<u8>);

/// A redb database with one table of rows.
#[derive(Debug)]
pub(crate) struct RawRedb {
    database: Database,
}

impl RawRedb {
    /// An empty database.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let database = Builder::new().set_cache_size(CACHE_BYTES).create(path)?;
        let raw = Self { database };
        raw.transact(&[])?;
        Ok(raw)
    }

    /// The rows of an embedded file with one table, byte for byte.
    pub(crate) fn copy_of(embedded: &Path, to: &Path) -> Result<Self> {
        let embedded = Database::open(embedded)?;
        let source = embedded.begin_read()?;
        let name = source.list_tables()?.find(|table| table.name().starts_with("rows."));
        let name = name.ok_or("the embedded file has no table of rows")?;
        let rows = source.open_table(TableDefinition::<&[u8], &[u8]>::new(name.name()))?;
        let raw = Self::create(to)?;
        let mut batch: Vec<RawRow> = Vec::with_capacity(COPY_BATCH);
        for entry in rows.iter()? {
            let (key, value) = entry?;
            batch.push((key.value().to_vec(), value.value().to_vec()));
            if batch.len() == COPY_BATCH {
                raw.transact(&batch)?;
                batch.clear();
            }
        }
        raw.transact(&batch)?;
        Ok(raw)
    }

    /// A durable transaction with quick repair, as those of an embedded store.
    pub(crate) fn begin(&self) -> Result<WriteTransaction> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_quick_repair(true);
        Ok(transaction)
    }

    /// Writes rows durably.
    pub(crate) fn transact(&self, rows: &[RawRow]) -> Result {
        let transaction = self.begin()?;
        write(&transaction, rows.iter())?;
        transaction.commit()?;
        Ok(())
    }

    /// The bytes of one row, from a snapshot of its own so that it sees the latest commit.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let rows = self.database.begin_read()?.open_table(ROWS)?;
        Ok(rows.get(key)?.map(|value| value.value().to_vec()))
    }

    /// The bytes of all rows of a partition.
    pub(crate) fn scan(&self, partition: &str) -> Result<Vec<RawRow>> {
        let (start, end) = (SortKey::from_text(partition, ""), SortKey::after_partition(partition));
        let rows = self.database.begin_read()?.open_table(ROWS)?;
        let mut found = Vec::new();
        for entry in rows.range(start.as_bytes()..end.as_bytes())? {
            let (key, value) = entry?;
            found.push((key.value().to_vec(), value.value().to_vec()));
        }
        Ok(found)
    }

    /// What `pick` takes of all rows, by key and value.
    pub(crate) fn pick<T>(&self, pick: impl Fn(&[u8], &[u8]) -> Option<T>) -> Result<Vec<T>> {
        let rows = self.database.begin_read()?.open_table(ROWS)?;
        let mut found = Vec::new();
        for entry in rows.iter()? {
            let (key, value) = entry?;
            found.extend(pick(key.value(), value.value()));
        }
        Ok(found)
    }

    /// Gives unused space back.
    pub(crate) fn compact(&mut self) -> Result {
        while self.database.compact()? {}
        Ok(())
    }
}

/// Writes rows in a transaction.
pub(crate) fn write<'r>(transaction: &WriteTransaction, rows: impl Iterator<Item = &'r RawRow>) -> Result {
    let mut table = transaction.open_table(ROWS)?;
    for (key, value) in rows {
        table.insert(key.as_slice(), value.as_slice())?;
    }
    Ok(())
}
