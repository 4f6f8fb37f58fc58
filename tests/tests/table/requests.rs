//! How a load reaches its store: how often, what it reports, and what it leaves when it fails.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::stream;
use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan, Meter};
use table_core::{ErrorKind, LoadOptions, LoadProgress, MemoryStore, Query, Result, Table, TableStore};

use crate::{Employee, employee};

async fn table_on(store: impl TableStore) -> Result<Table> {
    let table = Table::new(Arc::new(store), "Employees")?;
    table.create().await?;
    Ok(table)
}

#[tokio::test]
async fn a_load_takes_the_fewest_transactions_and_reports() -> Result<()> {
    let meter = Meter::new(MemoryStore::new());
    let table = table_on(meter.clone()).await?;
    let before = meter.report();
    // Two partitions in turn, 250 entities each: three transactions a partition.
    let entities = (0..500).map(|each| employee(if each % 2 == 0 { "Sales" } else { "Marketing" }, each));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let options = LoadOptions::default().with_progress(move |so_far| noted.lock().unwrap().push(so_far));
    let loaded = table.load(stream::iter(entities), options).await?;
    assert_eq!(loaded, LoadProgress { entities: 500, transactions: 6 });
    assert_eq!((meter.report() - before).total().transactions, 6);
    let seen = seen.lock().unwrap().clone();
    assert_eq!(seen.last(), Some(&loaded));
    assert!(seen.is_sorted_by(|a, b| a.entities < b.entities));
    assert_eq!(table.count(Query::<Employee>::all().allow_scan()).await?, 500);
    Ok(())
}

#[tokio::test]
async fn a_load_that_fails_has_seen_its_other_requests_to_their_end() -> Result<()> {
    let plan = FaultPlan::new(FaultOptions::default().with_failure(3, FaultMoment::Before));
    let table = table_on(Fault::new(MemoryStore::new(), plan)).await?;
    let spread = (0..20).map(|id| employee(&format!("D{id}"), id));
    let error = table.load(stream::iter(spread), LoadOptions::default().with_concurrency(20)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(table.count(Query::<Employee>::all().allow_scan()).await?, 19);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_second_version_waits_for_the_first_when_answers_come_in_any_order() -> Result<()> {
    let latency = Duration::from_millis(1)..=Duration::from_millis(100);
    let plan = FaultPlan::new(FaultOptions::default().with_latency(latency).with_seed(3));
    let table = table_on(Fault::new(MemoryStore::new(), plan)).await?;
    let versions = (0..300).map(|age| Employee { age, ..employee("Sales", 1) });
    table.load(stream::iter(versions), LoadOptions::default()).await?;
    assert_eq!(table.require(Employee::key("Sales", 1)).await?.age, 299);
    Ok(())
}
