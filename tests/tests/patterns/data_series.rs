//! Values as properties of one row.

use std::sync::Arc;

use table_core::{Entity, ErrorKind, Result, Table};
use table_patterns::{DataSeries, Series};
use table_tests::pattern::{Altered, Costs, Faults, TASKS, behind, contend, rows, stores, three_attempts};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{employee:06}", row = "{day:08}")]
struct Messages {
    employee: u32,
    day: u32,
    note: Option<String>,
}

fn day(day: u32) -> Messages {
    Messages { employee: 1, day, note: Some("n".into()) }
}

type Open = fn(&Table) -> DataSeries<Messages, i32>;

fn hours(table: &Table) -> DataSeries<Messages, i32> {
    DataSeries::new(table.clone(), 24).unwrap()
}

/// More than a row has room for.
fn minutes(table: &Table) -> DataSeries<Messages, i32> {
    DataSeries::new(table.clone(), 24 * 60).unwrap()
}

#[tokio::test]
async fn a_series_is_an_array_with_gaps() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let series = hours(&table);
        series.set(&day(1), 23, 5).await?;
        series.set_all(&day(1), [(0, 1), (3, 2)]).await?;
        series.set(&day(1), 3, 4).await?;
        series.set(&day(2), 0, 9).await?;
        let read = series.get(Messages::key(1, 1)).await?.unwrap();
        assert_eq!(read.entity, day(1));
        let mut expected = vec![0; 24];
        (expected[0], expected[3], expected[23]) = (1, 4, 5);
        assert_eq!(read.filled(0), expected);
        assert_eq!((read.values().len(), read.values()[1]), (24, None));
        let all = series.all(Messages::range(1).day_range(1..=31)).await?;
        assert_eq!(all.iter().map(|day| day.values()[0]).collect::<Vec<_>>(), [Some(1), Some(9)]);
        assert!(series.get(Messages::key(2, 1)).await?.is_none());
    }
    Ok(())
}

#[tokio::test]
async fn increments_begin_at_zero_and_stop_at_the_type() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let series = hours(&table);
        assert_eq!(series.increment(&day(1), 5, 3).await?, 3);
        assert_eq!(series.increment(&day(1), 5, 4).await?, 7);
        assert_eq!(series.increment(&day(1), 6, -1).await?, -1);
        let error = series.increment(&day(1), 5, i32::MAX).await.unwrap_err();
        assert_eq!((error.kind(), error.property()), (ErrorKind::InvalidValue, Some("Slot005")));
        let error = series.set(&day(1), 24, 0).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidValue);
        assert_eq!(series.get(Messages::key(1, 1)).await?.unwrap().values()[5], Some(7));
    }
    Ok(())
}

#[tokio::test]
async fn more_slots_than_a_row_holds_stand_in_several() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let one = DataSeries::<Messages, i32>::new(table.clone(), 248)?;
        one.set_all(&day(1), (0..248).map(|slot| (slot, 1))).await?;
        assert_eq!((one.increment(&day(1), 247, 1).await?, rows(&table).await.len()), (2, 1));

        let table = store.table().await;
        let series = minutes(&table);
        assert_eq!(series.increment(&day(2), 1439, 3).await?, 3);
        series.set_all(&day(1), (0..1440).map(|slot| (slot, 1))).await?;
        series.set(&day(1), 1000, 4).await?;
        assert_eq!(series.increment(&day(1), 1001, 4).await?, 5);
        assert!(rows(&table).await.len() > 6);
        let read = series.get(Messages::key(1, 1)).await?.unwrap();
        assert_eq!((read.entity.clone(), read.values()[1000], read.values()[1001]), (day(1), Some(4), Some(5)));
        assert_eq!(read.filled(0).iter().sum::<i32>(), 1440 + 3 + 4);
        let all = series.all(Messages::range(1).day_range(1..=31)).await?;
        let first_and_last = |day: &Series<Messages, i32>| (day.values()[0], day.values()[1439]);
        assert_eq!(
            all.iter().map(|day| first_and_last(day)).collect::<Vec<_>>(),
            [(Some(1), Some(1)), (None, Some(3))]
        );
        assert!(series.get(Messages::key(2, 1)).await?.is_none());
    }
    Ok(())
}

#[tokio::test]
async fn slots_that_no_transaction_writes_are_refused() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let refusal = |slots| DataSeries::<Messages, i32>::new(table.clone(), slots).unwrap_err();
        let error = refusal(24_747);
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.message().contains("room for 24746 slots"), "{error}");
        assert_eq!(refusal(0).kind(), ErrorKind::LimitExceeded);
        let most = DataSeries::<Messages, i32>::new(table.clone(), 24_746)?;
        most.set_all(&day(1), (0..24_746).map(|slot| (slot, 1))).await?;
        assert_eq!(most.increment(&day(1), 24_745, 1).await?, 2);
    }
    Ok(())
}

#[tokio::test]
async fn each_operation_takes_the_storage_transactions_that_the_page_says() {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        let mut costs = Costs::of("data_series", &meter);
        let series = hours(&table);
        costs.count("set", series.set(&day(1), 1, 1)).await;
        costs.count("set_all", series.set_all(&day(1), [(2, 2), (3, 3)])).await;
        costs.count("increment", series.increment(&day(1), 1, 1)).await;
        costs.count("increment of a new row", series.increment(&day(2), 1, 1)).await;
        costs.count("get", series.get(Messages::key(1, 1))).await;
        costs.count("all", series.all(Messages::range(1).day_range(1..=31))).await;
        let series = minutes(&store.table_behind(|_| meter.clone()).await);
        series.set(&day(1), 1, 1).await.unwrap();
        costs.count("set in several rows", series.set(&day(1), 2, 1)).await;
        costs.count("increment in several rows", series.increment(&day(1), 1, 1)).await;
        costs.count("get in several rows", series.get(Messages::key(1, 1))).await;
        costs.count("all of 1 in several rows", series.all(Messages::range(1).day_range(1..=31))).await;
        costs.are_documented();
    }
}

#[tokio::test]
async fn the_loop_gives_up_after_its_bound() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        hours(&table).set(&day(1), 1, 1).await?;
        let rival = Altered::with_rival(Arc::clone(table.store()));
        let outpaced = hours(&behind(&table, rival));
        let outpaced = outpaced.with_options(three_attempts());
        assert_eq!(outpaced.increment(&day(1), 1, 1).await.unwrap_err().kind(), ErrorKind::Contention);
        assert_eq!(hours(&table).get(Messages::key(1, 1)).await?.unwrap().values()[1], Some(1));
    }
    Ok(())
}

#[tokio::test]
async fn a_fault_at_any_call_counts_an_increment_once_or_not_at_all() {
    let prepare = async |table: Table| {
        hours(&table).set(&day(1), 1, 10).await.unwrap();
    };
    let state = async |table: Table| rows(&table).await;
    for first in [1, 2] {
        let act = async |table: Table| hours(&table).increment(&day(first), 1, 1).await.map(|_| ());
        assert_eq!(Faults { prepare, act, state }.everywhere().await.undecided, 0);
    }
    let act = async |table: Table| hours(&table).set(&day(1), 2, 1).await.map(|_| ());
    assert_eq!(Faults { prepare, act, state }.everywhere().await.undecided, 0);

    let prepare = async |table: Table| {
        minutes(&table).set_all(&day(1), (0..300).map(|slot| (slot, 10))).await.unwrap();
    };
    let state = async |table: Table| {
        let all = minutes(&table).all(Messages::range(1).day_range(1..=31)).await.unwrap();
        all.iter().map(|day| day.filled(0)).collect::<Vec<_>>()
    };
    for first in [1, 2] {
        let act = async |table: Table| minutes(&table).increment(&day(first), 299, 1).await.map(|_| ());
        assert_eq!(Faults { prepare, act, state }.everywhere().await.undecided, 0);
        let act = async |table: Table| minutes(&table).set(&day(first), 1, 1).await.map(|_| ());
        assert_eq!(Faults { prepare, act, state }.everywhere().await.undecided, 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_increment_and_no_slot_is_lost() -> Result<()> {
    for (store, series) in stores().iter().flat_map(|store| [(store, hours as Open), (store, minutes)]) {
        let table = contend(
            store,
            async |_| (),
            |task, table| async move {
                let series = series(&table);
                for _ in 0..5 {
                    series.increment(&day(1), 20, 1).await?;
                    series.set(&day(1), usize::try_from(task).unwrap(), 1).await?;
                }
                Ok(())
            },
        )
        .await;
        let read = series(&table).get(Messages::key(1, 1)).await?.unwrap();
        assert_eq!(read.values()[20], Some(i32::try_from(TASKS * 5).unwrap()));
        assert!(read.values()[..16].iter().all(|value| *value == Some(1)));
    }
    Ok(())
}
