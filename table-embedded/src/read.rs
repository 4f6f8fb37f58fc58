//! Reads: each from one snapshot of the file, which writers do not disturb.

use std::cell::{Cell, OnceCell};

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

/// Reads one entity.
pub(crate) fn get(
    engine: &Engine,
    database: &Database,
    table: &TableName,
    key: &EntityKey,
    selection: &Selection,
) -> Result<Option<DynamicEntity>> {
    let entry = engine.table(table, "get")?;
    let snapshot = engine.snapshot(database)?;
    // A group makes its new names known before it commits, so names that are taken after the snapshot
    // hold all that its rows can have.
    let names = engine.names();
    let Some(rows) = snapshot.rows(&entry)? else {
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

/// Reads one page of entities.
pub(crate) fn page(engine: &Engine, database: &Database, table: &TableName, query: &StoreQuery) -> Result<Page> {
    let entry = engine.table(table, "query")?;
    let scan = Scan::new(query)?;
    let snapshot = engine.snapshot(database)?;
    // After the snapshot, as in `get`.
    let names = engine.names();
    let Some(rows) = snapshot.rows(&entry)? else {
        return Err(catalog::no_table(table, "query"));
    };
    let mut page = Page::default();
    let mut looked_at = 0;
    let mut start = (!scan.is_empty()).then(|| scan.start().clone());
    while let Some(from) = start.take() {
        let range = match scan.end() {
            Some(end) => rows.range(from.as_bytes()..end.as_bytes()),
            None => rows.range(from.as_bytes()..),
        };
        for entry in range.map_err(StorageFailure::from)? {
            let (key, value) = entry.map_err(StorageFailure::from)?;
            if page.entities.len() == scan.page_size() || looked_at == ROWS_LOOKED_AT {
                page.next = Some(token_of_key(&SortKey::decode_bytes(key.value())?));
                return Ok(page);
            }
            looked_at += 1;
            if !scan.is_contiguous()
                && let Step::Skip(place) = scan.step(&SortKey::decode_bytes(key.value())?)
            {
                start = scan.end().is_none_or(|end| place < *end).then_some(place);
                break;
            }
            if matches(key.value(), value.value(), &names, query)? {
                let key = SortKey::decode_bytes(key.value())?;
                page.entities.push(decode(key, value.value(), &names, &query.selection)?);
            }
        }
    }
    Ok(page)
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
