//! What the page of patterns says that the patterns with blobs take.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use table_core::layer::{FaultPlan, Meter};
use table_core::{Entity, Table, Timestamp};
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::large_entities::{BlobTable, Large};
use table_patterns::log_data::{LogData, LogDurability, LogOptions};
use table_tests::blobs::FaultyBlobs;
use table_tests::pattern::Costs;
use table_tests::stores::memory_store;

#[derive(Entity, Clone, Debug)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
    #[entity(blob)]
    photo: Option<Bytes>,
}

fn counted() -> (Arc<dyn ObjectStore>, FaultPlan) {
    let plan = FaultPlan::quiet();
    (Arc::new(FaultyBlobs::new(Arc::new(InMemory::new()), plan.clone())), plan)
}

#[tokio::test]
async fn each_operation_on_large_entities_takes_what_the_page_says() {
    let (store, clock) = memory_store();
    let ((blobs, calls), tables, queues) = (counted(), Meter::new(store.clone()), Meter::new(store));
    let mut costs = Costs::of("large_entities", &tables).with_queues(&queues).with_blobs(&calls);
    let table = Table::new(Arc::new(tables.clone()), "Employees").unwrap();
    table.create().await.unwrap();
    let place = BlobTable::new(table, blobs);
    let mover = Mover::builder(Arc::new(queues.clone()), "moves").unwrap().keep_blobs(&place).build().await.unwrap();
    let employees = Large::<Employee>::kept_by(place, &mover).unwrap();

    let (key, photo) = (|| Employee::key("Sales", 223), |byte| Some(Bytes::from(vec![byte; 100_000])));
    let jo = Employee { department: "Sales".into(), id: 223, name: "Jo".into(), photo: photo(1) };
    costs.count("insert with 1 blob", employees.insert(&jo)).await;
    costs.count("get", employees.get(key())).await;
    costs.count("update of the blob", employees.update(key(), |jo| jo.photo = photo(2))).await;
    costs.count("update of another field", employees.update(key(), |jo| jo.name = "Joan".into())).await;
    clock.advance(Duration::from_secs(2 * 24 * 60 * 60));
    assert_eq!(costs.count("run_due of 1 replaced blob", mover.run_due()).await, 1);
    costs.count("delete_by_key", employees.delete_by_key(key())).await;
    costs.are_documented();
}

/// A log keeps nothing in tables.
#[tokio::test]
async fn each_operation_on_a_log_takes_what_the_page_says() {
    let (blobs, calls) = counted();
    let tables = Meter::new(memory_store().0);
    let mut costs = Costs::of("log_data", &tables).with_blobs(&calls);
    let at = |text: &str| -> Timestamp { format!("2014-07-31T{text}Z").parse().unwrap() };
    let log = LogData::new(blobs, "queue").unwrap();
    let writer = log.writer(LogOptions::default().with_durability(LogDurability::EveryEntry));
    costs.count("append of the hour's first", writer.append_at(at("18:05:00"), "one")).await;
    costs.count("append", writer.append_at(at("18:06:00"), "two")).await;
    let batched = log.writer(LogOptions::default());
    for second in 10..60 {
        batched.append_at(at(&format!("18:07:{second}")), "one of fifty").await.unwrap();
    }
    costs.count("flush of 50 entries", batched.flush()).await;
    assert_eq!(costs.count("read of 3 segments", log.read(at("18:00:00")..at("19:00:00"))).await.len(), 52);
    costs.are_documented();
}
