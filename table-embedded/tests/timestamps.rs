//! No time is given twice, whatever the clock does and wherever the process dies.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, its helpers too"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use redb::ReadableDatabase;
use table_core::store::SendOptions;
use table_core::{
    Action, DynamicEntity, EntityKey, ManualClock, Operation, QueueName, QueueStore, TableName, TableStore, Timestamp,
};
use table_embedded::{EmbeddedOptions, EmbeddedStore};

fn table() -> TableName {
    TableName::new("Employees").unwrap()
}

fn open(path: &Path, clock: &Arc<ManualClock>) -> EmbeddedStore {
    EmbeddedOptions::new().with_clock(clock.clone()).open(path).unwrap()
}

/// Writes a row, and says which time it got.
async fn write(store: &EmbeddedStore) -> Timestamp {
    let row = DynamicEntity::new(EntityKey::parse("Sales", "1").unwrap());
    let written = store.write(&table(), Operation::new(Action::InsertOrReplace(row)).unwrap()).await.unwrap();
    written.etag.unwrap().timestamp().unwrap()
}

/// The mark that a file holds, which nobody has open.
fn mark(path: &Path) -> i64 {
    let snapshot = redb::Database::open(path).unwrap().begin_read().unwrap();
    let meta = snapshot.open_table(redb::TableDefinition::<&str, u64>::new("table-patterns.meta")).unwrap();
    i64::try_from(meta.get("timestamp").unwrap().unwrap().value()).unwrap()
}

/// The file as it is after each commit is what a kill at that time leaves.
#[tokio::test]
async fn a_process_that_goes_on_after_a_kill_gives_later_times_also_where_the_clock_is_set_back() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("store.redb"), folder.path().join("copy.redb"));
    let clock = Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH));
    let set_back = Arc::new(ManualClock::new(Timestamp::MIN));
    let store = open(&path, &clock);
    store.create_table(&table()).await.unwrap();
    for step in [0, 1, 400, 400, 400, 0, 999, 1_000, 1_001, 60_000] {
        clock.advance(Duration::from_millis(step));
        let last = write(&store).await;
        std::fs::copy(&path, &copy).unwrap();
        assert!(mark(&copy) >= last.ticks(), "what an older build takes for the last time");
        assert!(write(&open(&copy, &set_back)).await > last, "{step} ms later");
    }
}

/// Each opening takes all times up to the mark for given, and must not put the mark as far ahead again.
#[tokio::test]
async fn times_stay_a_second_ahead_of_the_clock_however_often_the_file_is_opened() {
    const OPENINGS: i64 = 20;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let clock = Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH));
    open(&path, &clock).create_table(&table()).await.unwrap();
    let mut last = Timestamp::MIN;
    for _ in 0..OPENINGS {
        let written = write(&open(&path, &clock)).await;
        assert!(written > last);
        last = written;
    }
    let ahead = Timestamp::UNIX_EPOCH.saturating_add(Duration::from_secs(1));
    assert!(last.ticks() <= ahead.ticks() + OPENINGS, "{last}");
}

#[tokio::test]
async fn messages_after_a_kill_have_later_ids_also_where_the_clock_is_set_back() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("store.redb"), folder.path().join("copy.redb"));
    let store = open(&path, &Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH)));
    let queue = QueueName::new("work").unwrap();
    store.create_queue(&queue).await.unwrap();
    let mut last = 0;
    for _ in 0..3 {
        let receipt = store.send(&queue, "work".into(), SendOptions::default()).await.unwrap();
        std::fs::copy(&path, &copy).unwrap();
        let set_back = open(&copy, &Arc::new(ManualClock::new(Timestamp::MIN)));
        let later = set_back.send(&queue, "more".into(), SendOptions::default()).await.unwrap();
        let id: u64 = receipt.id.parse().unwrap();
        assert!(id > last && later.id.parse::<u64>().unwrap() > id);
        last = id;
    }
}

#[tokio::test]
async fn the_mark_is_written_once_for_all_commits_of_a_second() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let clock = Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH));
    let store = open(&path, &clock);
    store.create_table(&table()).await.unwrap();
    let first = write(&store).await;
    clock.advance(Duration::from_secs(1));
    write(&store).await;
    drop(store);
    let one = mark(&path);
    assert_eq!(one, first.saturating_add(Duration::from_secs(1)).ticks());

    let store = open(&path, &clock);
    assert_eq!(write(&store).await.ticks(), one + 1);
    drop(store);
    assert!(mark(&path) > one + 1);
}

#[tokio::test]
async fn a_file_of_an_older_build_goes_on_behind_its_last_time() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.redb");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/format-1.redb");
    std::fs::copy(fixture, &copy).unwrap();
    let last = mark(&copy);
    let store = open(&copy, &Arc::new(ManualClock::new(Timestamp::MIN)));
    assert_eq!(write(&store).await.ticks(), last + 1);
}
