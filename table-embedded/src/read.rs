//! Reads: each from one snapshot of the file, which writers do not disturb.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use redb::{Database, ReadableDatabase, ReadableTableMetadata, TableError};
use table_core::query::{Field, ValueRef};
use table_core::store::kit::{ROWS_LOOKED_AT, Scan, Step, token_of_key};
use table_core::store::{Page, PeekedMessage, Selection, StoreQuery};
use table_core::{DynamicEntity, ETag, EntityKey, PropertyName, QueueName, Result, SortKey, TableName, Timestamp};

use crate::engine::{Engine, QueueEntry};
use crate::error::StorageFailure;
use crate::format::catalog;
use crate::format::message::StoredMessage;
use crate::format::names::Names;
use crate::format::row::RowRef;
use crate::snapshot::{Rows, RowsRange};

/// Reads one entity.
pub(crate) fn get(
    engine: &Engine,
    database: &Database,
    table: &TableName,
    key: &EntityKey,
    selection: &Selection,
) -> Result<Option<DynamicEntity>> {
    let number = engine.table(table, "get")?;
    let snapshot = engine.snapshot(database)?;
    // A group makes its new names known before it commits, so names that are taken after the snapshot
    // hold all that its rows can have.
    let names = engine.names();
    let Some(rows) = snapshot.rows(number)? else {
        return Err(catalog::no_table(table, "get"));
    };
    let bytes = SortKey::of(key);
    let found = rows.get(bytes.as_bytes()).map_err(StorageFailure::from)?;
    found.map(|found| decode(key.clone(), found.value(), &names, selection)).transpose()
}

fn decode(key: EntityKey, bytes: &[u8], names: &Names, selection: &Selection) -> Result<DynamicEntity> {
    let row = RowRef::new(bytes)?;
    let properties = match selection {
        Selection::All => row.properties(names, |_| true)?,
        Selection::Only(_) => row.properties(names, |name: &PropertyName| selection.includes(name.as_str()))?,
    };
    let timestamp = row.timestamp();
    Ok(DynamicEntity { key, etag: Some(ETag::from_timestamp(timestamp)), timestamp: Some(timestamp), properties })
}

/// How much is read before a reader gives way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    /// Rows that are looked at.
    rows: usize,
    /// Bytes of these rows.
    bytes: usize,
}

impl Share {
    /// What is read before others get their turn: about as long as a hop to another thread takes.
    pub(crate) const SHORT: Self = Self { rows: 200, bytes: 128 << 10 };
    /// All of a page.
    pub(crate) const WHOLE: Self = Self { rows: usize::MAX, bytes: usize::MAX };

    const fn is_used_up(self) -> bool {
        self.rows == 0 || self.bytes == 0
    }

    const fn less(self, bytes: usize) -> Self {
        Self { rows: self.rows.saturating_sub(1), bytes: self.bytes.saturating_sub(bytes) }
    }
}

/// One page of entities, read in shares from one snapshot.
pub(crate) struct PageRead {
    rows: Arc<Rows>,
    names: Arc<Names>,
    page: Page,
    looked_at: usize,
    /// The rows from where to go on; none at the end of the page.
    rest: Option<RowsRange>,
    /// The place up to which every row is known to lie in the query's range; none where all do.
    sure_until: Option<SortKey>,
}

impl PageRead {
    /// Finds the rows, and reads none yet.
    pub(crate) fn begin(engine: &Engine, database: &Database, table: &TableName, query: &StoreQuery) -> Result<Self> {
        let number = engine.table(table, "query")?;
        let scan = Scan::new(query)?;
        let snapshot = engine.snapshot(database)?;
        // After the snapshot, as in `get`.
        let names = engine.names();
        let Some(rows) = snapshot.rows(number)? else {
            return Err(catalog::no_table(table, "query"));
        };
        let rest = between(&rows, scan.start(), scan.end())?;
        Ok(Self { rows, names, page: Page::default(), looked_at: 0, rest, sure_until: scan.sure_until() })
    }

    /// Reads a share, and says whether the page is complete.
    pub(crate) fn advance(&mut self, query: &StoreQuery, mut share: Share) -> Result<bool> {
        let scan = Scan::new(query)?;
        while let Some(rest) = &mut self.rest {
            if share.is_used_up() {
                return Ok(false);
            }
            let Some(entry) = rest.next() else { break };
            let (key, value) = entry.map_err(StorageFailure::from)?;
            let (key, value) = (key.value(), value.value());
            if self.page.entities.len() == scan.page_size() || self.looked_at == ROWS_LOOKED_AT {
                self.page.next = Some(token_of_key(&SortKey::decode_bytes(key)?));
                break;
            }
            share = share.less(value.len());
            self.looked_at += 1;
            if self.sure_until.as_ref().is_some_and(|sure| key >= sure.as_bytes()) {
                match scan.step(&SortKey::decode_bytes(key)?) {
                    Step::Take(until) => self.sure_until = Some(until),
                    Step::Skip(to) => {
                        self.rest = between(&self.rows, &to, scan.end())?;
                        continue;
                    }
                }
            }
            if matches(key, value, &self.names, query)? {
                let before = self.page.entities.last().map(|before| &before.key);
                let key = SortKey::decode_after(before, key)?;
                self.page.entities.push(decode(key, value, &self.names, &query.selection)?);
            }
        }
        Ok(true)
    }

    /// What was read.
    pub(crate) fn into_page(self) -> Page {
        self.page
    }
}

/// The rows from a place up to another; none where there can be none.
fn between(rows: &Rows, start: &SortKey, end: Option<&SortKey>) -> Result<Option<RowsRange>> {
    let range = match end {
        Some(end) if end <= start => return Ok(None),
        Some(end) => rows.range(start.as_bytes()..end.as_bytes()),
        None => rows.range(start.as_bytes()..),
    };
    Ok(Some(range.map_err(StorageFailure::from)?))
}

/// Whether a row fulfils the filter, looking only at what the filter names.
fn matches(key: &[u8], value: &[u8], names: &Names, query: &StoreQuery) -> Result<bool> {
    let Some(filter) = &query.filter else {
        return Ok(true);
    };
    let row = RowRef::new(value)?;
    let keys = OnceCell::new();
    // The filter cannot stop half-way, so a damaged row is reported once it is through.
    let damage = Cell::new(None);
    let key_text = || keys.get_or_init(|| SortKey::decode_bytes(key)).as_ref().map_err(Clone::clone);
    let matched = filter.matches_fields(&|field| {
        let looked = match field {
            Field::PartitionKey => key_text().map(|key| Some(ValueRef::String(key.partition.as_str()))),
            Field::RowKey => key_text().map(|key| Some(ValueRef::String(key.row.as_str()))),
            Field::Timestamp => Ok(Some(ValueRef::DateTime(row.timestamp()))),
            Field::Property(name) => row.get(name, names),
        };
        looked.unwrap_or_else(|error| {
            damage.set(Some(error));
            None
        })
    });
    damage.into_inner().map_or(Ok(matched), Err)
}

/// Looks at visible messages without taking them.
pub(crate) fn peek(
    database: &Database,
    entry: &QueueEntry,
    queue: &QueueName,
    count: usize,
    now: Timestamp,
) -> Result<Vec<PeekedMessage>> {
    let transaction = database.begin_read().map_err(StorageFailure::from)?;
    let gone = |error: TableError| match error {
        TableError::TableDoesNotExist(_) => catalog::no_queue(queue, "peek"),
        error => StorageFailure::from(error).into(),
    };
    let visible = transaction.open_table(catalog::times_table(&entry.tables.visible)).map_err(gone)?;
    let messages = transaction.open_table(catalog::messages_table(&entry.tables.messages)).map_err(gone)?;
    let mut peeked = Vec::with_capacity(count);
    for entry in visible.range(..=(now.ticks(), u64::MAX)).map_err(StorageFailure::from)? {
        let (_, id) = entry.map_err(StorageFailure::from)?.0.value();
        let Some(stored) = messages.get(id).map_err(StorageFailure::from)? else {
            continue;
        };
        let message = StoredMessage::decode(stored.value())?;
        // Expired messages are stepped over; the next receive removes them.
        if message.expires > now.ticks() {
            peeked.push(PeekedMessage {
                id: id.to_string(),
                body: message.body,
                dequeue_count: message.dequeued,
                sent: message.sent,
            });
        }
        if peeked.len() == count {
            break;
        }
    }
    Ok(peeked)
}

/// How many messages there are.
pub(crate) fn queue_length(database: &Database, entry: &QueueEntry, queue: &QueueName, now: Timestamp) -> Result<u64> {
    let transaction = database.begin_read().map_err(StorageFailure::from)?;
    let gone = |error: TableError| match error {
        TableError::TableDoesNotExist(_) => catalog::no_queue(queue, "queue_length"),
        error => StorageFailure::from(error).into(),
    };
    let messages = transaction.open_table(catalog::messages_table(&entry.tables.messages)).map_err(gone)?;
    let expiring = transaction.open_table(catalog::times_table(&entry.tables.expiring)).map_err(gone)?;
    let all = messages.len().map_err(StorageFailure::from)?;
    let ended = expiring.range(..=(now.ticks(), u64::MAX)).map_err(StorageFailure::from)?.count();
    Ok(all.saturating_sub(ended as u64))
}

#[cfg(test)]
mod tests {
    use table_core::keys::{KeyRange, Span};
    use table_core::{Action, Operation, TableStore};

    use super::*;
    use crate::store::EmbeddedStore;

    /// Reads a page with this share at a time, and lets something happen between two of them.
    async fn in_shares(
        store: &EmbeddedStore,
        query: &StoreQuery,
        share: Share,
        mut between: impl AsyncFnMut(usize),
    ) -> Page {
        let engine = store.engine();
        let slot = engine.database.read().await;
        let mut reading = PageRead::begin(engine, slot.as_ref().unwrap(), &table(), query).unwrap();
        drop(slot);
        let mut shares = 0;
        while !reading.advance(query, share).unwrap() {
            shares += 1;
            between(shares).await;
        }
        reading.into_page()
    }

    fn table() -> TableName {
        TableName::new("Employees").unwrap()
    }

    /// Five rows in each of three partitions.
    async fn filled(folder: &tempfile::TempDir) -> EmbeddedStore {
        let store = EmbeddedStore::open(folder.path().join("rows.redb")).unwrap();
        store.create_table(&table()).await.unwrap();
        for (partition, row) in places() {
            let entity = DynamicEntity::new(EntityKey::parse(partition, row).unwrap()).with("Age", 40).unwrap();
            store.write(&table(), Operation::new(Action::Insert(entity)).unwrap()).await.unwrap();
        }
        store
    }

    fn places() -> impl Iterator<Item = (&'static str, &'static str)> {
        ["a", "b", "c"].into_iter().flat_map(|partition| ["1", "2", "3", "4", "5"].map(|row| (partition, row)))
    }

    #[tokio::test]
    async fn a_page_in_shares_is_the_page_in_one() {
        let folder = tempfile::tempdir().unwrap();
        let store = filled(&folder).await;
        let middle = Span::new(std::ops::Bound::Included("2".into()), std::ops::Bound::Excluded("5".into()));
        for (range, limit) in [
            (KeyRange::ALL, None),
            (KeyRange::ALL, Some(7)),
            (KeyRange { partition: Span::ALL, row: middle.clone() }, None),
            (KeyRange { partition: Span::exact("b"), row: middle }, Some(2)),
        ] {
            let query = StoreQuery { limit, ..StoreQuery::new(range) };
            let whole = in_shares(&store, &query, Share::WHOLE, async |_| panic!("a share of all is all")).await;
            for share in
                [Share { rows: 1, ..Share::WHOLE }, Share { rows: 3, ..Share::WHOLE }, Share { rows: 9, bytes: 1 }]
            {
                let mut most = 0;
                let page = in_shares(&store, &query, share, async |shares| most = shares).await;
                assert_eq!(page, whole, "{query:?}, {share:?}");
                assert!(most > 0 || share.rows == 3, "{query:?}, {share:?}");
            }
        }
    }

    #[tokio::test]
    async fn all_shares_are_of_one_snapshot() {
        let folder = tempfile::tempdir().unwrap();
        let store = filled(&folder).await;
        let query = StoreQuery::new(KeyRange::ALL);
        let page = in_shares(&store, &query, Share { rows: 4, ..Share::WHOLE }, async |shares| {
            if shares == 1 {
                store.delete_table(&table()).await.unwrap();
                store.create_table(&table()).await.unwrap();
            }
        })
        .await;
        assert_eq!(page.entities.len(), 15);
    }
}
