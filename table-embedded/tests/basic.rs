//! What the embedded store does beyond the contract: files, dropping, backup, maintenance.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, its helpers too"
)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use table_core::store::{ReceiveOptions, Selection, SendOptions};
use table_core::{
    Action, DynamicEntity, EntityKey, ErrorKind, IfMatch, Operation, QueueName, QueueStore, TableName, TableStore,
    Transaction,
};
use table_embedded::EmbeddedStore;

fn name(name: &str) -> TableName {
    TableName::new(name).unwrap()
}

fn row(partition: &str, row: &str, age: i32) -> DynamicEntity {
    DynamicEntity::new(EntityKey::parse(partition, row).unwrap()).with("Age", age).unwrap()
}

fn insert(partition: &str, row_key: &str, age: i32) -> Operation {
    Operation::new(Action::Insert(row(partition, row_key, age))).unwrap()
}

async fn get(store: &EmbeddedStore, table: &TableName, partition: &str, row: &str) -> Option<DynamicEntity> {
    store.get(table, &EntityKey::parse(partition, row).unwrap(), &Selection::All).await.unwrap()
}

#[tokio::test]
async fn data_is_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let (table, queue) = (name("Employees"), QueueName::new("work").unwrap());
    let store = EmbeddedStore::open(&path).unwrap();
    store.create_table(&table).await.unwrap();
    store.create_queue(&queue).await.unwrap();
    let written = store.write(&table, insert("Sales", "1", 40)).await.unwrap();
    store.send(&queue, "hello".into(), SendOptions::default()).await.unwrap();
    drop(store);

    let store = EmbeddedStore::open(&path).unwrap();
    let read = get(&store, &table, "Sales", "1").await.unwrap();
    assert_eq!(read.etag, written.etag);
    let later = store.write(&table, insert("Sales", "2", 41)).await.unwrap();
    assert!(later.etag.unwrap().timestamp() > written.etag.unwrap().timestamp());
    let messages = store.receive(&queue, ReceiveOptions::default()).await.unwrap();
    assert_eq!(messages[0].body, "hello");
}

#[tokio::test]
async fn a_file_is_opened_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let first = EmbeddedStore::open(&path).unwrap();
    assert_eq!(EmbeddedStore::open(&path).unwrap_err().kind(), ErrorKind::Busy);
    drop(first);
    EmbeddedStore::open(&path).unwrap();
}

/// What redb gives a new file as its length, before anything else.
const NEW_FILE: usize = 1_056_768;

#[test]
fn files_of_another_kind_are_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "x".repeat(10_000)).unwrap();
    let error = EmbeddedStore::open(&text).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupted, "{error}");
    assert_eq!(std::fs::read_to_string(&text).unwrap(), "x".repeat(10_000));

    // Zeros where redb's mark belongs.
    let image = folder.path().join("disk.img");
    let short = [&[0; 9][..], b"something of somebody's"].concat();
    let empty_archive = vec![0; 10_240];
    let mut with_boot_record = vec![0; NEW_FILE];
    with_boot_record[440..512].fill(1);
    let mut with_an_end = vec![0; NEW_FILE];
    with_an_end[NEW_FILE - 1] = 1;
    for bytes in [short, empty_archive, with_boot_record, with_an_end] {
        std::fs::write(&image, &bytes).unwrap();
        assert_eq!(EmbeddedStore::open(&image).unwrap_err().kind(), ErrorKind::Corrupted);
        assert!(std::fs::read(&image).unwrap() == bytes);
    }

    let foreign = folder.path().join("other.redb");
    let database = redb::Database::create(&foreign).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction.open_table(redb::TableDefinition::<&str, &str>::new("theirs")).unwrap();
    transaction.commit().unwrap();
    drop(database);
    assert_eq!(EmbeddedStore::open(&foreign).unwrap_err().kind(), ErrorKind::Unsupported);

    let newer = folder.path().join("newer.redb");
    drop(EmbeddedStore::open(&newer).unwrap());
    let database = redb::Database::open(&newer).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction
        .open_table(redb::TableDefinition::<&str, u64>::new("table-patterns.meta"))
        .unwrap()
        .insert("format", 2)
        .unwrap();
    transaction.commit().unwrap();
    drop(database);
    assert_eq!(EmbeddedStore::open(&newer).unwrap_err().kind(), ErrorKind::Unsupported);

    assert_eq!(EmbeddedStore::open(folder.path().join("missing/store.redb")).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(EmbeddedStore::open(folder.path()).unwrap_err().kind(), ErrorKind::InvalidName);
}

#[tokio::test]
async fn a_file_that_was_never_finished_is_created_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    std::fs::write(&path, vec![0; NEW_FILE]).unwrap();
    let store = EmbeddedStore::open(&path).unwrap();
    store.create_table(&name("Employees")).await.unwrap();
    drop(store);
    EmbeddedStore::open(&path).unwrap();
}

#[tokio::test]
async fn a_truncated_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let store = EmbeddedStore::open(&path).unwrap();
    store.create_table(&name("Employees")).await.unwrap();
    drop(store);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let error = EmbeddedStore::open(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupted, "{error:?}");
}

#[tokio::test]
async fn a_dropped_table_can_be_made_again_at_once_and_its_space_is_reused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let store = EmbeddedStore::open(&path).unwrap();
    let table = name("Employees");
    let mut size_after_first = 0;
    for round in 0..5 {
        store.create_table(&table).await.unwrap();
        assert!(get(&store, &table, "Sales", "000").await.is_none());
        for chunk in 0..20 {
            let operations = (0..100)
                .map(|each| {
                    let mut entity = row("Sales", &format!("{chunk:03}{each:03}"), each);
                    entity.set("Notes", "n".repeat(1_000)).unwrap();
                    Operation::new(Action::Insert(entity)).unwrap()
                })
                .collect();
            store.transact(&table, Transaction::new(operations).unwrap()).await.unwrap();
        }
        store.delete_table(&table).await.unwrap();
        if round == 0 {
            size_after_first = std::fs::metadata(&path).unwrap().len();
        }
    }
    let size = std::fs::metadata(&path).unwrap().len();
    assert!(size <= size_after_first * 3, "{size_after_first} grew to {size}");
    assert_eq!(
        store.get(&table, &EntityKey::parse("Sales", "1").unwrap(), &Selection::All).await.unwrap_err().kind(),
        ErrorKind::TableNotFound
    );
}

#[tokio::test]
async fn a_backup_is_a_snapshot_and_never_overwrites() {
    let folder = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(folder.path().join("store.redb")).unwrap();
    let table = name("Employees");
    let queue = QueueName::new("work").unwrap();
    store.create_table(&table).await.unwrap();
    store.create_queue(&queue).await.unwrap();
    for each in 0..50 {
        store.write(&table, insert("Sales", &format!("{each:03}"), each)).await.unwrap();
    }
    store.send(&queue, "hello".into(), SendOptions::default()).await.unwrap();
    let copy = folder.path().join("copy.redb");
    store.backup(&copy).await.unwrap();
    store.write(&table, insert("Sales", "later", 1)).await.unwrap();
    assert_eq!(store.backup(&copy).await.unwrap_err().kind(), ErrorKind::AlreadyExists);
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");

    let restored = EmbeddedStore::open(&copy).unwrap();
    assert!(get(&restored, &table, "Sales", "049").await.is_some());
    assert!(get(&restored, &table, "Sales", "later").await.is_none());
    assert_eq!(restored.queue_length(&queue).await.unwrap(), 1);
    let report = restored.check(|_| ()).await.unwrap();
    assert_eq!((report.rows, report.messages, report.repaired), (50, 1, false));
}

#[tokio::test]
async fn a_check_tells_how_far_it_is_and_finds_a_byte_that_was_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let employees = name("Employees");
    let store = EmbeddedStore::open(&path).unwrap();
    store.create_table(&employees).await.unwrap();
    let mut rows: Vec<DynamicEntity> = (0..15_000).map(|number| row("p", &format!("{number:06}"), number)).collect();
    rows[7].set("Remark", "unmistakable").unwrap();
    for chunk in rows.chunks(100) {
        let operations = chunk.iter().map(|row| Operation::new(Action::Insert(row.clone())).unwrap()).collect();
        store.transact(&employees, Transaction::new(operations).unwrap()).await.unwrap();
    }
    let told = Arc::new(Mutex::new(Vec::new()));
    let noted = told.clone();
    let report = store.check(move |progress| noted.lock().unwrap().push(progress.rows)).await.unwrap();
    assert_eq!((report.rows, report.repaired), (15_000, false));
    assert_eq!(told.lock().unwrap().first(), Some(&10_000));
    drop(store);

    let mut bytes = std::fs::read(&path).unwrap();
    let places: Vec<usize> =
        bytes.windows(12).enumerate().filter(|(_, seen)| seen == b"unmistakable").map(|(at, _)| at).collect();
    for place in places {
        bytes[place] = b'U';
    }
    std::fs::write(&path, bytes).unwrap();
    let store = EmbeddedStore::open(&path).unwrap();
    let error = store.check(|_| ()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupted, "{error}");
}

#[tokio::test]
async fn compacting_gives_space_back_and_keeps_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let store = EmbeddedStore::open(&path).unwrap();
    let (kept, dropped) = (name("Kept"), name("Dropped"));
    store.create_table(&kept).await.unwrap();
    store.create_table(&dropped).await.unwrap();
    store.write(&kept, insert("Sales", "1", 40)).await.unwrap();
    for chunk in 0..40 {
        let operations = (0..100)
            .map(|each| {
                let mut entity = row("Sales", &format!("{chunk:03}{each:03}"), each);
                entity.set("Notes", "n".repeat(2_000)).unwrap();
                Operation::new(Action::Insert(entity)).unwrap()
            })
            .collect();
        store.transact(&dropped, Transaction::new(operations).unwrap()).await.unwrap();
    }
    store.delete_table(&dropped).await.unwrap();
    // The rows are freed in the background; each round compacts what is free by then.
    let mut bytes = u64::MAX;
    for _ in 0..200 {
        bytes = store.compact().await.unwrap().bytes_after;
        if bytes < 3_000_000 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(bytes < 3_000_000, "{bytes}");
    assert!(get(&store, &kept, "Sales", "1").await.is_some());
}

#[tokio::test]
async fn a_refused_write_never_aborts_its_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(folder.path().join("store.redb")).unwrap();
    let table = Arc::new(name("Employees"));
    store.create_table(&table).await.unwrap();
    store.write(&table, insert("Sales", "taken", 1)).await.unwrap();
    let mut tasks = Vec::new();
    for each in 0..64 {
        let (store, table) = (store.clone(), Arc::clone(&table));
        tasks.push(tokio::spawn(async move {
            // Every other one is half right: its second operation cannot be done.
            let second = if each % 2 == 0 {
                insert("Sales", "taken", each)
            } else {
                insert("Sales", &format!("b{each:02}"), each)
            };
            let transaction = Transaction::new(vec![insert("Sales", &format!("a{each:02}"), each), second]).unwrap();
            (each, store.transact(&table, transaction).await)
        }));
    }
    for task in tasks {
        let (each, result) = task.await.unwrap();
        let there = get(&store, &table, "Sales", &format!("a{each:02}")).await.is_some();
        if each % 2 == 0 {
            let error = result.unwrap_err();
            assert_eq!((error.kind(), error.operation_index()), (ErrorKind::AlreadyExists, Some(1)));
            assert!(!there);
        } else {
            result.unwrap();
            assert!(there);
        }
    }
}

#[tokio::test]
async fn writes_of_one_group_see_those_before_them() {
    let folder = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(folder.path().join("store.redb")).unwrap();
    let table = name("Employees");
    store.create_table(&table).await.unwrap();
    store.write(&table, insert("Sales", "counter", 0)).await.unwrap();
    let mut tasks = Vec::new();
    for _ in 0..16 {
        let (store, table) = (store.clone(), table.clone());
        tasks.push(tokio::spawn(async move {
            let mut done = 0;
            while done < 20 {
                let read = get(&store, &table, "Sales", "counter").await.unwrap();
                let Some(table_core::Value::Int32(age)) = read.get("Age").cloned() else { panic!("no age") };
                let if_match = IfMatch::Version(read.etag.clone().unwrap());
                let next = Operation::new(Action::Replace(row("Sales", "counter", age + 1), if_match)).unwrap();
                match store.write(&table, next).await {
                    Ok(_) => done += 1,
                    Err(error) => assert_eq!(error.kind(), ErrorKind::PreconditionFailed),
                }
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let read = get(&store, &table, "Sales", "counter").await.unwrap();
    assert_eq!(read.get("Age"), Some(&table_core::Value::Int32(320)));
}
