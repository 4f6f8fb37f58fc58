//! Bulk loads.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use futures_util::stream;
use table_core::{DynamicEntity, EntityKey, ErrorKind, LoadMode, LoadOptions, MemoryStore, Query, Result, Table};
use table_tests::pattern::Altered;

use super::{Employee, employee, tables};

#[tokio::test]
async fn a_load_stores_every_entity_in_full_transactions() -> Result<()> {
    for (table, _folder) in tables().await? {
        let reports = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&reports);
        let options = LoadOptions::default().with_progress(move |so_far| seen.lock().unwrap().push(so_far));
        // The partitions take turns, so that no two neighbours go together.
        let entities = (0..500).flat_map(|id| [employee("Sales", id), employee("Legal", id)]);
        let done = table.load(stream::iter(entities), options).await?;
        assert_eq!((done.entities, done.transactions), (1_000, 10));
        let reports = std::mem::take(&mut *reports.lock().unwrap());
        assert_eq!((reports.len(), reports.last()), (10, Some(&done)));
        assert_eq!(table.count(Employee::range("Legal")).await?, 500);
        assert_eq!(table.count(Employee::range("Sales")).await?, 500);
    }
    Ok(())
}

#[tokio::test]
async fn of_two_entities_with_one_key_the_later_wins() -> Result<()> {
    for (table, _folder) in tables().await? {
        let entities: Vec<Employee> = (0..400_u32)
            .map(|each| Employee { age: each.cast_signed(), ..employee(&format!("d{}", each % 7), each % 23) })
            .collect();
        let last: BTreeMap<(String, u32), i32> =
            entities.iter().map(|each| ((each.department.clone(), each.id), each.age)).collect();
        for (buffered, concurrency) in [(1, 1), (50, 8), (10_000, 0)] {
            let options = LoadOptions::default().with_buffered(buffered).with_concurrency(concurrency);
            let done = table.load(stream::iter(entities.clone()), options).await?;
            assert_eq!(done.entities, 400);
            let stored = table.all(Query::<Employee>::all().allow_scan()).await?;
            let stored: BTreeMap<_, _> =
                stored.iter().map(|each| ((each.department.clone(), each.id), each.age)).collect();
            assert_eq!(stored, last);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_load_that_only_inserts_stops_at_what_is_there() -> Result<()> {
    for (table, _folder) in tables().await? {
        table.insert(&employee("Sales", 150)).await?;
        let options = LoadOptions::default().with_mode(LoadMode::Insert).with_concurrency(1);
        let error = table.load(stream::iter((0..200).map(|id| employee("Sales", id))), options).await.unwrap_err();
        assert_eq!((error.kind(), error.operation_index()), (ErrorKind::AlreadyExists, Some(50)));
        // The first hundred were stored before it.
        assert_eq!(table.count(Employee::range("Sales")).await?, 101);
    }
    Ok(())
}

#[tokio::test]
async fn large_rows_are_split_by_bytes() -> Result<()> {
    for (table, _folder) in tables().await? {
        let rows = (0..20).map(|each| {
            let row = DynamicEntity::new(EntityKey::parse("p", &format!("{each:02}"))?);
            (0..10).try_fold(row, |row, slot| row.with(&format!("Part{slot}"), vec![0_u8; 60_000]))
        });
        let done = table.load_rows(stream::iter(rows), LoadOptions::default()).await?;
        // Six rows of 600 KB fit into 4 MiB.
        assert_eq!((done.entities, done.transactions), (20, 4));
    }
    Ok(())
}

#[tokio::test]
async fn a_load_keeps_to_the_transactions_that_its_store_takes() -> Result<()> {
    for (table, _folder) in tables().await? {
        let small = Altered::with_small_transactions(table.store().clone(), 1024 * 1024);
        let small = Table::new(Arc::new(small), table.name().as_str())?;
        // Nine of 110 KB fit into 1 MiB, and many more into what the service takes.
        let rows = (0..20).map(|each| {
            DynamicEntity::new(EntityKey::parse("p", &format!("{each:02}"))?)
                .with("One", vec![0_u8; 60_000])?
                .with("Two", "x".repeat(25_000))
        });
        let done = small.load_rows(stream::iter(rows), LoadOptions::default()).await?;
        assert_eq!((done.entities, done.transactions), (20, 3));
    }
    Ok(())
}

#[tokio::test]
async fn a_load_of_what_is_missing_leaves_the_same_alone_and_stops_at_another() -> Result<()> {
    for (table, _folder) in tables().await? {
        let options = || LoadOptions::default().with_mode(LoadMode::InsertMissing);
        table.insert(&employee("Sales", 50)).await?;
        let before = table.require(Employee::key("Sales", 50)).await?.etag().clone();
        let done = table.load(stream::iter((0..200).map(|id| employee("Sales", id))), options()).await?;
        assert_eq!(done.entities, 200);
        assert_eq!(*table.require(Employee::key("Sales", 50)).await?.etag(), before);

        let older = Employee { age: 99, ..employee("Sales", 150) };
        let error = table.load(stream::iter([older]), options()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(error.key(), Some(&Employee::key("Sales", 150).resolve()?));
        assert_eq!(table.require(Employee::key("Sales", 150)).await?.age, 40);
    }
    Ok(())
}

#[tokio::test]
async fn a_partition_for_each_entity_is_no_trouble() -> Result<()> {
    let table = Table::new(Arc::new(MemoryStore::new()), "Employees")?;
    table.create().await?;
    let load = async |entity: fn(u32) -> Employee| {
        let started = Instant::now();
        let done = table.load(stream::iter((0..50_000).map(entity)), LoadOptions::default()).await?;
        assert_eq!(done.entities, 50_000);
        Ok::<_, table_core::Error>(started.elapsed())
    };
    let together = load(|id| employee("Sales", id)).await?;
    let apart = load(|id| employee(&format!("d{id}"), id)).await?;
    // Looking at every partition for every entity would take some twenty times as long.
    assert!(apart < together * 10, "{together:?} together, {apart:?} apart");
    Ok(())
}
