//! Rows spread over buckets, and the partitions that take too much.

use std::collections::HashSet;
use std::sync::Arc;

use table_core::keys::{KeyPart, KeyValue};
use table_core::layer::Meter;
use table_core::{Entity, ErrorKind, MemoryStore, Query, Result, Table, Timestamp};
use table_patterns::Spread;
use table_patterns::prepend_append::{HotPartitionOptions, hot_partitions};
use table_tests::pattern::{Altered, Costs, Faults, TASKS, behind, contend, rows, stores};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{at:%Y%m%d%H}_{bucket(employee, 16):02}", row = "event_{at}_{employee:06}")]
struct Event {
    at: Timestamp,
    employee: u32,
}

fn hour() -> Timestamp {
    "2014-07-31T18:00:00Z".parse().unwrap()
}

fn event(number: u32) -> Event {
    let at = Timestamp::from_ticks(hour().ticks() + i64::from(number)).unwrap();
    // Not in the order of time, so that every bucket has some of each time.
    Event { at, employee: number * 7 % 1000 }
}

fn this_hour() -> [KeyValue<'static>; 1] {
    [hour().to_key().unwrap().into_owned()]
}

async fn filled(table: Table) {
    fill(&table, 100).await;
}

async fn fill(table: &Table, count: u32) {
    for number in 0..count {
        table.insert(&event(number)).await.unwrap();
    }
}

#[tokio::test]
async fn buckets_come_back_in_the_order_of_the_rows() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        filled(table.clone()).await;
        let partitions: HashSet<String> = rows(&table).await.iter().map(|(key, _)| key.partition.to_string()).collect();
        assert!(partitions.len() > 10, "the rows are spread: {partitions:?}");

        let events = Spread::<Event>::new(table.clone())?;
        let all: Vec<Event> =
            events.all(&this_hour(), |rows| rows).await?.into_iter().map(table_core::Versioned::into_value).collect();
        assert_eq!(all, (0..100).map(event).collect::<Vec<_>>());
        let first = events.first(7, &this_hour(), |rows| rows).await?;
        assert_eq!(
            first.iter().map(|each| each.at).collect::<Vec<_>>(),
            (0..7).map(|n| event(n).at).collect::<Vec<_>>()
        );
        let next_hour = [Timestamp::from_ticks(hour().ticks() + 36_000_000_000)?.to_key()?.into_owned()];
        assert!(events.all(&next_hour, |rows| rows).await?.is_empty());
        // A row is still found by its fields alone.
        let one = event(42);
        assert_eq!(*table.require(Event::key(one.at, one.employee)).await?, one);
        let filtered = events.all(&this_hour(), |rows| rows.filter(Event::EMPLOYEE.eq(one.employee))).await;
        assert_eq!(filtered.unwrap_err().kind(), ErrorKind::InvalidQuery);
    }
    Ok(())
}

#[tokio::test]
async fn each_operation_takes_the_storage_transactions_that_the_page_says() {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        let mut costs = Costs::of("prepend_append", &meter);
        costs.count("insert", table.insert(&event(1))).await;
        let one = event(1);
        costs.count("get", table.get(Event::key(one.at, one.employee))).await;
        let events = Spread::<Event>::new(table).unwrap();
        costs.count("all of 16 buckets", events.all(&this_hour(), |rows| rows)).await;
        costs.count("first of 16 buckets", events.first(1, &this_hour(), |rows| rows)).await;
        costs.are_documented();
    }
}

#[derive(Entity)]
#[entity(partition = "{day}", row = "{id}")]
struct Unspread {
    day: u32,
    id: u32,
}

#[tokio::test]
async fn what_cannot_be_merged_is_refused() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        assert_eq!(Spread::<Unspread>::new(table.clone()).unwrap_err().kind(), ErrorKind::InvalidKey);
        let events = Spread::<Event>::new(table.clone())?;
        assert_eq!(events.partitions(&[]).unwrap_err().kind(), ErrorKind::InvalidKey);
        let too_many = [KeyValue::Time(hour()), KeyValue::Unsigned(1)];
        assert_eq!(events.partitions(&too_many).unwrap_err().kind(), ErrorKind::InvalidKey);
        let unordered = Altered::without_order(Arc::clone(table.store()));
        let unordered = behind(&table, unordered);
        assert_eq!(Spread::<Event>::new(unordered).unwrap_err().kind(), ErrorKind::Unsupported);
    }
    Ok(())
}

/// Reading must see a fault, and must never take a bucket that failed for an empty one.
#[tokio::test]
async fn a_fault_in_one_bucket_is_a_fault_of_the_whole() {
    let act = async |table: Table| {
        let all = Spread::<Event>::new(table.clone())?.all(&this_hour(), |rows| rows).await?;
        assert_eq!(all.len(), 4);
        table.insert(&event(4)).await.map(|_| ())
    };
    let state = async |table: Table| rows(&table).await.len();
    let faults = Faults { prepare: async |table: Table| fill(&table, 4).await, act, state };
    // An insert without a token stays in doubt after a lost answer.
    assert_eq!(faults.everywhere().await.undecided, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_side_by_side_lose_nothing_and_readers_keep_the_order() -> Result<()> {
    for store in &stores() {
        let table = contend(
            store,
            async |_| (),
            |task, table| async move {
                for number in 0..5 {
                    table.insert(&event(task * 5 + number)).await?;
                    let seen = Spread::<Event>::new(table.clone())?.all(&this_hour(), |rows| rows).await?;
                    assert!(seen.is_sorted_by_key(|event| event.key().row.clone()));
                }
                Ok(())
            },
        )
        .await;
        let all = Spread::<Event>::new(table)?.all(&this_hour(), |rows| rows).await?;
        assert_eq!(all.len(), usize::try_from(TASKS * 5).unwrap());
    }
    Ok(())
}

#[tokio::test]
async fn a_partition_that_takes_most_writes_is_found() -> Result<()> {
    let meter = Meter::new(MemoryStore::new());
    let options = HotPartitionOptions::default().with_writes(40);
    for (name, hot_writes) in [("Even", 20), ("Hot", 21)] {
        let table = Table::new(Arc::new(meter.clone()), name)?;
        table.create().await?;
        for id in 0..40 {
            table.insert(&Unspread { day: u32::from(id >= hot_writes), id }).await?;
        }
        // Reads are no writes.
        table.all(Query::<Unspread>::all().allow_scan()).await?;
    }
    let hot = hot_partitions(&meter.report(), options);
    assert_eq!(hot.len(), 1);
    assert_eq!((hot[0].partition.table.as_str(), hot[0].writes), ("Hot", 21));
    assert!((hot[0].share - 0.525).abs() < 1e-9);
    assert!(hot_partitions(&meter.report(), options.with_writes(41)).is_empty());
    assert_eq!(hot_partitions(&meter.report(), options.with_share(0.48)).len(), 3);
    Ok(())
}
