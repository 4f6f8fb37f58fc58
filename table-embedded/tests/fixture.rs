//! A file that an earlier build wrote is opened and read: the format does not change unnoticed.
//!
//! `fixtures/format-1.redb` holds what [`write_content`] writes. It is never written again; a new
//! format gets a file of its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, its helpers too"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use table_core::keys::KeyRange;
use table_core::store::{Page, ReceiveOptions, SendOptions, StoreQuery, TimeToLive};
use table_core::{
    Action, DynamicEntity, EntityKey, ManualClock, Operation, QueueName, QueueStore, TableName, TableStore, Timestamp,
    Value,
};
use table_embedded::{EmbeddedOptions, EmbeddedStore};

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/format-1.redb")
}

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::new("2026-01-02T03:04:05.1234567Z".parse().unwrap()))
}

fn rows() -> Vec<DynamicEntity> {
    let row = |partition: &str, row: &str| DynamicEntity::new(EntityKey::parse(partition, row).unwrap());
    vec![
        row("", "").with("Text", "keys may be empty").unwrap(),
        row("Sales", "empid_000223")
            .with("Binary", vec![0_u8, 1, 255])
            .and_then(|row| row.with("Boolean", true))
            .and_then(|row| row.with("DateTime", Timestamp::MIN_PROPERTY))
            .and_then(|row| row.with("Double", f64::NEG_INFINITY))
            .and_then(|row| row.with("Guid", uuid::Uuid::from_u128(0x67e5_5044_10b1_426f_9247_bb68_0e5f_e0c8)))
            .and_then(|row| row.with("Int32", i32::MIN))
            .and_then(|row| row.with("Int64", i64::MAX))
            .and_then(|row| row.with("Text", "é and 😀"))
            .and_then(|row| row.with("Unset", false))
            .unwrap(),
        row("Sales", "\u{10ffff}").with("Order", 1).unwrap(),
        row("Sales", "\u{e000}").with("Order", 2).unwrap(),
        (0..3).fold(row("Wide", "1"), |row, each| row.with(&format!("Part{each}"), "w".repeat(30_000)).unwrap()),
    ]
}

/// Writes what the fixture holds.
async fn write_content(store: &EmbeddedStore) {
    let table = TableName::new("Employees").unwrap();
    store.create_table(&table).await.unwrap();
    for row in rows() {
        store.write(&table, Operation::new(Action::Insert(row)).unwrap()).await.unwrap();
    }
    let queue = QueueName::new("work").unwrap();
    store.create_queue(&queue).await.unwrap();
    for (body, time_to_live) in
        [("for ever", TimeToLive::Never), ("a day", TimeToLive::For(Duration::from_secs(86_400)))]
    {
        store.send(&queue, body.into(), SendOptions::default().with_time_to_live(time_to_live)).await.unwrap();
    }
}

async fn check_content(store: &EmbeddedStore) {
    let table = TableName::new("EMPLOYEES").unwrap();
    let Page { entities, next } = store.query(&table, &StoreQuery::new(KeyRange::ALL)).await.unwrap();
    assert_eq!(next, None);
    assert_eq!(entities.len(), rows().len());
    for (number, (stored, written)) in entities.iter().zip(rows()).enumerate() {
        assert_eq!((&stored.key, &stored.properties), (&written.key, &written.properties));
        let first: Timestamp = "2026-01-02T03:04:05.1234567Z".parse().unwrap();
        assert_eq!(stored.timestamp.unwrap().ticks(), first.ticks() + i64::try_from(number).unwrap());
    }
    let queue = QueueName::new("work").unwrap();
    let mut bodies = Vec::new();
    for message in store.receive(&queue, ReceiveOptions::default().with_count(32)).await.unwrap() {
        bodies.push(message.body);
    }
    assert_eq!(bodies, ["for ever", "a day"]);
    let key = EntityKey::parse("Sales", "empid_000223").unwrap();
    let more = Operation::new(Action::InsertOrMerge(DynamicEntity::new(key).with("New", Value::Int32(1)).unwrap()));
    store.write(&table, more.unwrap()).await.unwrap();
}

#[tokio::test]
async fn a_file_of_format_1_is_read_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.redb");
    std::fs::copy(fixture(), &copy).unwrap();
    let store = EmbeddedOptions::new().with_clock(clock()).open(&copy).unwrap();
    check_content(&store).await;
}

/// The bytes of every row and message, as they lie in the redb tables.
fn dump(path: &Path) -> Vec<(String, Vec<u8>, Vec<u8>)> {
    use redb::{ReadableDatabase, ReadableTable};
    let database = redb::Database::open(path).unwrap();
    let snapshot = database.begin_read().unwrap();
    let mut bytes = Vec::new();
    let rows = snapshot.open_table(redb::TableDefinition::<&[u8], &[u8]>::new("rows.1")).unwrap();
    for entry in rows.iter().unwrap() {
        let (key, value) = entry.unwrap();
        bytes.push(("rows.1".to_owned(), key.value().to_vec(), value.value().to_vec()));
    }
    let messages = snapshot.open_table(redb::TableDefinition::<u64, &[u8]>::new("messages.2")).unwrap();
    for entry in messages.iter().unwrap() {
        let (key, value) = entry.unwrap();
        bytes.push(("messages.2".to_owned(), key.value().to_le_bytes().to_vec(), value.value().to_vec()));
    }
    bytes
}

#[tokio::test]
async fn this_build_writes_the_bytes_that_the_fixture_holds() {
    let folder = tempfile::tempdir().unwrap();
    let (new, copy) = (folder.path().join("new.redb"), folder.path().join("copy.redb"));
    let store = EmbeddedOptions::new().with_clock(clock()).open(&new).unwrap();
    write_content(&store).await;
    drop(store);
    std::fs::copy(fixture(), &copy).unwrap();
    assert_eq!(dump(&new), dump(&copy));
}
