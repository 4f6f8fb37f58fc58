//! Values as properties of one row.

use std::sync::Arc;

use table_core::{Entity, ErrorKind, Result, Table};
use table_patterns::DataSeries;
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

fn hours(table: &Table) -> DataSeries<Messages, i32> {
    DataSeries::new(table.clone(), 24).unwrap()
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
async fn more_slots_than_a_row_holds_are_refused() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let most = DataSeries::<Messages, i32>::new(table.clone(), 248)?;
        most.set_all(&day(1), (0..248).map(|slot| (slot, 1))).await?;
        assert_eq!(most.increment(&day(1), 247, 1).await?, 2);
        let error = DataSeries::<Messages, i32>::new(table.clone(), 249).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.message().contains("wide entity"));
        assert!(DataSeries::<Messages, i32>::new(table, 0).is_err());
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
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_increment_and_no_slot_is_lost() -> Result<()> {
    for store in &stores() {
        let table = contend(
            store,
            async |_| (),
            |task, table| async move {
                let series = hours(&table);
                for _ in 0..5 {
                    series.increment(&day(1), 20, 1).await?;
                    series.set(&day(1), usize::try_from(task).unwrap(), 1).await?;
                }
                Ok(())
            },
        )
        .await;
        let read = hours(&table).get(Messages::key(1, 1)).await?.unwrap();
        assert_eq!(read.values()[20], Some(i32::try_from(TASKS * 5).unwrap()));
        assert!(read.values()[..16].iter().all(|value| *value == Some(1)));
    }
    Ok(())
}
