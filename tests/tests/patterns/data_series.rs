//! Values as properties of one row.

use std::sync::Arc;

use table_core::{Entity, ErrorKind, Result, Table};
use table_patterns::{DataSeries, Series, UpdateOptions};
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
        let one = DataSeries::<Messages, i32>::new(table.clone(), 245)?;
        one.set_all(&day(1), (0..245).map(|slot| (slot, 1))).await?;
        assert_eq!((one.increment(&day(1), 244, 1).await?, rows(&table).await.len()), (2, 1));

        let table = store.table().await;
        DataSeries::<Messages, i32>::new(table.clone(), 246)?.set(&day(1), 0, 1).await?;
        assert_eq!(rows(&table).await.len(), 2);

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

/// The values of the first day in the order of their slots, without the gaps.
async fn values(series: &DataSeries<Messages, i32>) -> Result<Vec<(usize, i32)>> {
    let read = series.get(Messages::key(1, 1)).await?.unwrap();
    assert_eq!(read.entity, day(1));
    let all = series.all(Messages::range(1).day_range(1..=1)).await?;
    assert_eq!((all.len(), all[0].values()), (1, read.values()), "one and all say the same");
    let set = read.values().iter().enumerate();
    Ok(set.filter_map(|(slot, value)| Some((slot, (*value)?))).collect())
}

#[tokio::test]
async fn a_series_in_one_row_grows_into_several_with_its_first_write() -> Result<()> {
    for store in &stores() {
        for counts in [false, true] {
            let table = store.table().await;
            hours(&table).set_all(&day(1), [(0, 1), (23, 2)]).await?;
            let series = minutes(&table);
            assert_eq!(values(&series).await?, [(0, 1), (23, 2)]);
            assert_eq!(rows(&table).await.len(), 1, "reading writes nothing");
            if counts {
                assert_eq!(series.increment(&day(1), 23, 5).await?, 7);
            } else {
                series.set(&day(1), 23, 7).await?;
            }
            assert_eq!(values(&series).await?, [(0, 1), (23, 7)]);
            assert_eq!(rows(&table).await.len(), 2, "a head and a part");
            series.set_all(&day(1), (24..1440).map(|slot| (slot, 3))).await?;
            assert_eq!((values(&series).await?.len(), values(&series).await?[1]), (1418, (23, 7)));
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_process_with_fewer_slots_goes_on_and_loses_nothing() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let (old, new) = (hours(&table), minutes(&table));
        new.set_all(&day(1), (0..300).map(|slot| (slot, 1))).await?;
        let small: Vec<_> = (0..24).map(|slot| (slot, 1)).collect();
        assert_eq!(values(&old).await?, small);

        old.set(&day(1), 7, 70).await?;
        assert_eq!((values(&old).await?[7], values(&new).await?[7]), ((7, 70), (7, 70)));
        assert_eq!(old.increment(&day(1), 7, 1).await?, 71);
        assert_eq!(new.increment(&day(1), 7, 1).await?, 72);
        old.set(&day(1), 8, 80).await?;
        // The next write, here of another slot, puts into the parts what stands in the head.
        new.set(&day(1), 299, 2).await?;
        let (_, head) = &rows(&table).await[0];
        assert!(head.iter().all(|(name, _)| !name.as_str().starts_with("Slot") && name.as_str() != "Note"), "{head:?}");
        let read = values(&new).await?;
        assert_eq!((read.len(), read[7], read[8], read[299]), (300, (7, 72), (8, 80), (299, 2)));
        // What comes last counts, whoever writes it.
        new.set(&day(1), 8, 81).await?;
        old.set(&day(1), 8, 82).await?;
        assert_eq!(values(&new).await?[8], (8, 82));
        new.set(&day(1), 8, 83).await?;
        assert_eq!((values(&old).await?[8], values(&new).await?.len()), ((8, 83), 300));
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
        let grown = store.table_behind(|_| meter.clone()).await;
        let series = minutes(&grown);
        series.set(&day(1), 1, 1).await.unwrap();
        costs.count("set in several rows", series.set(&day(1), 2, 1)).await;
        costs.count("increment in several rows", series.increment(&day(1), 1, 1)).await;
        costs.count("get in several rows", series.get(Messages::key(1, 1))).await;
        hours(&grown).set(&day(2), 1, 1).await.unwrap();
        costs.count("set that makes one row several", series.set(&day(2), 2, 1)).await;
        costs.count("get of several rows with fewer slots", hours(&grown).get(Messages::key(1, 2))).await;
        costs.count("all of 1 in several rows", series.all(Messages::range(1).day_range(1..=1))).await;
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
    let grow = async |table: Table| minutes(&table).increment(&day(1), 299, 1).await.map(|_| ());
    let small = async |table: Table| hours(&table).set_all(&day(1), [(1, 10), (2, 20)]).await.map(|_| ()).unwrap();
    assert_eq!(Faults { prepare: small, act: grow, state }.everywhere().await.undecided, 0);
    let beside = async |table: Table| hours(&table).increment(&day(1), 1, 1).await.map(|_| ());
    assert_eq!(Faults { prepare, act: beside, state }.everywhere().await.undecided, 0);
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

/// While a new version is rolled out, processes with more slots and with fewer write the same series.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_lost_while_a_series_grows() -> Result<()> {
    for store in &stores() {
        let table = contend(
            store,
            async |table| {
                hours(&table).set(&day(1), 21, 1).await.unwrap();
            },
            |task, table| async move {
                let open: Open = if task % 2 == 0 { hours } else { minutes };
                let series = open(&table).with_options(UpdateOptions::default().with_attempts(500));
                for _ in 0..5 {
                    series.increment(&day(1), 20, 1).await?;
                    series.set(&day(1), usize::try_from(task).unwrap(), 1).await?;
                }
                Ok(())
            },
        )
        .await;
        let mut expected: Vec<_> = (0..16).map(|slot| (slot, 1)).collect();
        expected.extend([(20, i32::try_from(TASKS * 5).unwrap()), (21, 1)]);
        assert_eq!(values(&minutes(&table)).await?, expected, "{}", store.name);
        assert_eq!(values(&hours(&table)).await?, expected, "{}", store.name);
    }
    Ok(())
}
