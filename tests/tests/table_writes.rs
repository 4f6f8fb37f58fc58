//! Typed writes through a `Table`: single, together, and many.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, its helpers too"
)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::stream;
use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan, Meter};
use table_core::{
    DynamicEntity, ETag, Entity, ErrorKind, Key, LoadMode, LoadOptions, LoadProgress, MemoryStore, Query, Table, Value,
    Versioned,
};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
    age: i32,
    email: Option<String>,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{name}", row = "department")]
struct Department {
    name: String,
    head_count: u32,
}

fn employee(department: &str, id: u32) -> Employee {
    Employee {
        department: department.into(),
        id,
        name: format!("Jo {id}"),
        age: 40,
        email: Some("jo@contoso.com".into()),
    }
}

async fn table_on(store: impl table_core::TableStore) -> Table {
    let table = Table::new(Arc::new(store), "Employees").unwrap();
    table.create().await.unwrap();
    table
}

async fn table() -> Table {
    table_on(MemoryStore::new()).await
}

async fn raw(table: &Table, employee: &Employee) -> Versioned<DynamicEntity> {
    let key: Key<DynamicEntity> = employee.entity_key().unwrap().into();
    table.require(key).await.unwrap()
}

#[tokio::test]
async fn a_replace_leaves_exactly_the_fields_and_a_merge_leaves_the_rest() {
    let table = table().await;
    let jo = employee("Sales", 1);
    table.insert(&jo).await.unwrap();
    assert_eq!(table.insert(&jo).await.unwrap_err().kind(), ErrorKind::AlreadyExists);
    let mut row = jo.to_row().unwrap();
    row.set("Foreign", 7).unwrap();
    table.load_rows(stream::iter([Ok(row)]), LoadOptions::default()).await.unwrap();

    let mut read = table.require(Employee::key("Sales", 1)).await.unwrap();
    (read.age, read.email) = (41, None);
    table.merge(&mut read).await.unwrap();
    let merged = raw(&table, &jo).await;
    assert_eq!(merged.get("Foreign"), Some(&Value::Int32(7)));
    assert_eq!(merged.get("Email"), Some(&Value::from("jo@contoso.com")), "a merge cannot remove a property");
    assert_eq!(merged.get("Age"), Some(&Value::Int32(41)));

    table.replace(&mut read).await.unwrap();
    let replaced = raw(&table, &jo).await;
    assert_eq!((replaced.get("Foreign"), replaced.get("Email")), (None, None));
    assert_eq!(replaced.etag(), read.etag());
}

#[tokio::test]
async fn a_write_for_an_old_version_is_refused_and_one_that_says_so_is_not() {
    let table = table().await;
    let jo = employee("Sales", 1);
    table.insert(&jo).await.unwrap();
    let mut stale = table.require(Employee::key("Sales", 1)).await.unwrap();
    table.insert_or_replace(&jo).await.unwrap();
    let refused = [
        table.replace(&mut stale).await.unwrap_err(),
        table.merge(&mut stale).await.unwrap_err(),
        table.delete(&stale).await.unwrap_err(),
        table.patch(Employee::patch(&stale).age(1)).await.unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.kind(), ErrorKind::PreconditionFailed, "{error}");
        assert_eq!(error.key(), Some(stale.key()));
    }
    table.replace_unconditionally(&jo).await.unwrap();
    table.merge_unconditionally(&jo).await.unwrap();
    table.insert_or_merge(&jo).await.unwrap();
    table.patch(Employee::patch(Employee::key("Sales", 1)).age(1)).await.unwrap();
    assert_eq!(table.require(Employee::key("Sales", 1)).await.unwrap().age, 1);
    table.delete_unconditionally(Employee::key("Sales", 1)).await.unwrap();
    let gone = table.delete_unconditionally(Employee::key("Sales", 1)).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
    assert!(!table.delete_if_exists(Employee::key("Sales", 1)).await.unwrap());
    table.insert(&jo).await.unwrap();
    assert!(table.delete_if_exists(Employee::key("Sales", 1)).await.unwrap());
}

#[tokio::test]
async fn a_changed_primary_key_says_to_move_the_entity() {
    let table = table().await;
    table.insert(&employee("Sales", 1)).await.unwrap();
    let mut read = table.require(Employee::key("Sales", 1)).await.unwrap();
    read.department = "Marketing".into();
    let error = table.replace(&mut read).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidKey);
    assert!(error.message().contains("move"), "{error}");
}

#[tokio::test]
async fn a_version_that_the_caller_carried_is_a_condition_too() {
    let table = table().await;
    let jo = employee("Sales", 1);
    let etag = table.insert(&jo).await.unwrap();
    let carried = ETag::from(etag.to_string());
    let mut mine = Versioned::from_parts(jo.clone(), carried.clone()).unwrap();
    mine.age = 1;
    table.replace(&mut mine).await.unwrap();
    let mut late = Versioned::from_parts(jo, carried).unwrap();
    assert_eq!(table.replace(&mut late).await.unwrap_err().kind(), ErrorKind::PreconditionFailed);
}

#[tokio::test]
async fn types_of_one_partition_are_written_together_or_not_at_all() {
    let table = table().await;
    let sales = Department { name: "Sales".into(), head_count: 1 };
    let written = table.transaction().insert(&employee("Sales", 1)).insert(&sales).commit().await.unwrap();
    let mut sales = table.require(Department::key("Sales")).await.unwrap();
    assert_eq!(Some(sales.etag()), written[1].etag.as_ref());

    sales.head_count += 1;
    let taken = table.transaction().replace(&sales).insert(&employee("Sales", 1)).commit().await.unwrap_err();
    assert_eq!((taken.kind(), taken.operation_index()), (ErrorKind::AlreadyExists, Some(1)));
    assert_eq!(table.require(Department::key("Sales")).await.unwrap().head_count, 1);

    let elsewhere = table.transaction().replace(&sales).insert(&employee("Marketing", 2)).commit().await.unwrap_err();
    assert_eq!((elsewhere.kind(), elsewhere.operation_index()), (ErrorKind::InvalidKey, Some(1)));
    let unwritable = Employee { name: "x".repeat(40_000), ..employee("Sales", 3) };
    let too_long = table.transaction().replace(&sales).insert(&unwritable).commit().await.unwrap_err();
    assert_eq!((too_long.kind(), too_long.operation_index()), (ErrorKind::LimitExceeded, Some(1)));
    assert_eq!(too_long.property(), Some("Name"));

    let jo = table.require(Employee::key("Sales", 1)).await.unwrap();
    let done = table.transaction().replace(&sales).delete(&jo).insert(&employee("Sales", 2)).commit().await.unwrap();
    assert_eq!(done.iter().map(|written| written.etag.is_some()).collect::<Vec<_>>(), [true, false, true]);
    assert!(table.get(Employee::key("Sales", 1)).await.unwrap().is_none());
}

#[tokio::test]
async fn a_load_takes_the_fewest_transactions_and_reports() {
    let meter = Meter::new(MemoryStore::new());
    let table = table_on(meter.clone()).await;
    let before = meter.report();
    // Two partitions in turn, 250 entities each: three transactions a partition.
    let entities = (0..500).map(|each| employee(if each % 2 == 0 { "Sales" } else { "Marketing" }, each));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let options = LoadOptions::default().with_progress(move |so_far| noted.lock().unwrap().push(so_far));
    let loaded = table.load(stream::iter(entities), options).await.unwrap();
    assert_eq!(loaded, LoadProgress { entities: 500, transactions: 6 });
    assert_eq!((meter.report() - before).total().transactions, 6);
    let seen = seen.lock().unwrap().clone();
    assert_eq!(seen.last(), Some(&loaded));
    assert!(seen.is_sorted_by(|a, b| a.entities < b.entities));
    assert_eq!(table.count(Query::<Employee>::all().allow_scan()).await.unwrap(), 500);
}

#[tokio::test]
async fn a_load_keeps_within_four_mebibytes_and_its_buffer() {
    let meter = Meter::new(MemoryStore::new());
    let table = table_on(meter.clone()).await;
    let large = (0..100).map(|id| Employee { name: "n".repeat(30_000), ..employee("Sales", id) });
    let loaded = table.load(stream::iter(large), LoadOptions::default()).await.unwrap();
    assert_eq!((loaded.entities, loaded.transactions), (100, 2));

    // A partition for each: with room for ten, what waits longest is not held back for ever.
    let spread = (0..100).map(|id| employee(&format!("D{id}"), id));
    let loaded = table.load(stream::iter(spread), LoadOptions::default().with_buffered(10)).await.unwrap();
    assert_eq!((loaded.entities, loaded.transactions), (100, 100));
}

#[tokio::test(start_paused = true)]
async fn of_two_entities_with_one_key_the_later_wins() {
    // Answers come in any order, and writes happen when they do.
    let latency = Duration::from_millis(1)..=Duration::from_millis(100);
    let plan = FaultPlan::new(FaultOptions::default().with_latency(latency).with_seed(3));
    let table = table_on(Fault::new(MemoryStore::new(), plan)).await;
    let versions = (0..300).map(|age| Employee { age, ..employee("Sales", 1) });
    table.load(stream::iter(versions), LoadOptions::default()).await.unwrap();
    assert_eq!(table.require(Employee::key("Sales", 1)).await.unwrap().age, 299);
}

#[tokio::test]
async fn an_inserting_load_stops_at_what_is_there_and_can_be_told_from_a_repeatable_one() {
    let table = table().await;
    table.insert(&employee("Sales", 50)).await.unwrap();
    let all = || stream::iter((0..100).map(|id| employee("Sales", id)));
    let error = table.load(all(), LoadOptions::default().with_mode(LoadMode::Insert)).await.unwrap_err();
    assert_eq!((error.kind(), error.operation_index()), (ErrorKind::AlreadyExists, Some(50)));
    table.load(all(), LoadOptions::default()).await.unwrap();
    table.load(all(), LoadOptions::default()).await.unwrap();
    assert_eq!(table.count(Employee::range("Sales")).await.unwrap(), 100);
}

#[tokio::test]
async fn a_load_that_fails_has_seen_its_other_requests_to_their_end() {
    let plan = FaultPlan::new(FaultOptions::default().with_failure(3, FaultMoment::Before));
    let table = table_on(Fault::new(MemoryStore::new(), plan)).await;
    let spread = (0..20).map(|id| employee(&format!("D{id}"), id));
    let error = table.load(stream::iter(spread), LoadOptions::default().with_concurrency(20)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(table.count(Query::<Employee>::all().allow_scan()).await.unwrap(), 19);
}
