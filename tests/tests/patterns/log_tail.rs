//! Logs, latest first.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use table_core::{Entity, ErrorKind, Result, Table, Timestamp};
use table_patterns::LogTail;
use table_tests::pattern::{Costs, Faults, TASKS, contend, rows, stores};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{employee:06}", row = "claim_{at:desc}_{number:04}")]
struct Claim {
    employee: u32,
    at: Timestamp,
    number: u32,
    cents: i64,
}

fn at(second: u32) -> Timestamp {
    format!("2014-08-22T00:{:02}:{:02}Z", second / 60, second % 60).parse().unwrap()
}

fn claim(second: u32, number: u32) -> Claim {
    Claim { employee: 7, at: at(second), number, cents: i64::from(second) }
}

fn claims(table: &Table) -> LogTail<Claim> {
    LogTail::new(table.clone(), Claim::range(7)).unwrap()
}

fn seconds(claims: &[table_core::Versioned<Claim>]) -> Vec<i64> {
    claims.iter().map(|claim| claim.cents).collect()
}

#[tokio::test]
async fn the_latest_come_first() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let log = claims(&table);
        for second in [3, 1, 5, 2, 4] {
            log.append(&claim(second, 0)).await?;
        }
        log.append(&Claim { employee: 8, ..claim(9, 0) }).await?;
        assert_eq!(seconds(&log.latest(3).await?), [5, 4, 3]);
        assert_eq!(seconds(&log.latest(0).await?), [0_i64; 0]);
        assert_eq!(seconds(&log.since(at(3)).await?), [5, 4, 3]);
        assert_eq!(seconds(&log.between(at(2)..at(4)).await?), [3, 2]);
        assert_eq!(seconds(&log.between(..=at(2)).await?), [2, 1]);
    }
    Ok(())
}

#[tokio::test]
async fn two_events_of_one_tick_both_stay() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let log = claims(&table);
        for number in [1, 2] {
            log.append(&claim(1, number)).await?;
        }
        let taken = log.append(&Claim { cents: 99, ..claim(1, 2) }).await.unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
        assert_eq!(seconds(&log.latest(10).await?), [1, 1]);
    }
    Ok(())
}

#[tokio::test]
async fn pages_lead_into_the_past_while_events_come_in() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let log = claims(&table);
        for second in 0..5 {
            log.append(&claim(second, 0)).await?;
        }
        let first = log.page(2, None).await?;
        assert_eq!(seconds(&first.items), [4, 3]);
        log.append(&claim(9, 0)).await?;
        let second = log.page(2, first.next.as_ref()).await?;
        assert_eq!(seconds(&second.items), [2, 1]);
        let third = log.page(2, second.next.as_ref()).await?;
        assert_eq!((seconds(&third.items), third.next.is_none()), (vec![0], true));
    }
    Ok(())
}

#[tokio::test]
async fn each_operation_takes_the_storage_transactions_that_the_page_says() {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        let mut costs = Costs::of("log_tail", &meter);
        let log = claims(&table);
        costs.count("append", log.append(&claim(1, 1))).await;
        costs.count("latest", log.latest(10)).await;
        costs.count("since", log.since(at(0))).await;
        costs.count("between", log.between(..at(0))).await;
        costs.count("page", log.page(10, None)).await;
        costs.are_documented();
    }
}

#[tokio::test]
async fn the_latest_of_a_long_log_reads_no_more_than_it_gives() -> Result<()> {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        let log = claims(&table);
        for second in 0..30 {
            log.append(&claim(second, 0)).await?;
        }
        let before = meter.report();
        log.latest(4).await?;
        assert_eq!((meter.report() - before).total().entities_read, 4);
    }
    Ok(())
}

#[derive(Entity)]
#[entity(partition = "p", row = "{at:desc}")]
struct WithoutTieBreaker {
    at: Timestamp,
}

#[derive(Entity)]
#[entity(partition = "p", row = "{at}_{id}")]
struct EarliestFirst {
    at: Timestamp,
    id: u32,
}

#[tokio::test]
async fn a_key_that_is_no_log_is_refused() {
    for store in &stores() {
        let table = store.table().await;
        let error = LogTail::new(table.clone(), WithoutTieBreaker::range()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidKey);
        let everywhere = LogTail::new(table.clone(), table_core::Query::<Claim>::all()).unwrap_err();
        assert_eq!(everywhere.kind(), ErrorKind::InvalidQuery);
        assert_eq!(LogTail::new(table, EarliestFirst::range()).unwrap_err().kind(), ErrorKind::InvalidKey);
    }
}

#[tokio::test]
async fn a_fault_at_any_call_neither_loses_nor_doubles_an_event() {
    let prepare = async |table: Table| {
        claims(&table).append(&claim(1, 1)).await.unwrap();
    };
    let act = async |table: Table| claims(&table).append(&claim(2, 1)).await.map(|_| ());
    let state = async |table: Table| rows(&table).await;
    assert_eq!(Faults { prepare, act, state }.everywhere().await.undecided, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_side_by_side_lose_nothing() -> Result<()> {
    for store in &stores() {
        let table = contend(
            store,
            async |_| (),
            |task, table| async move {
                for second in 0..5 {
                    claims(&table).append(&claim(second, task)).await?;
                }
                Ok(())
            },
        )
        .await;
        assert_eq!(claims(&table).latest(1000).await?.len(), usize::try_from(TASKS * 5).unwrap());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_writers_with_the_same_key_one_succeeds() -> Result<()> {
    for store in &stores() {
        let winners = Arc::new(AtomicU32::new(0));
        let table = contend(
            store,
            async |_| (),
            |task, table| {
                let winners = winners.clone();
                async move {
                    match claims(&table).append(&Claim { cents: i64::from(task), ..claim(1, 1) }).await {
                        Ok(_) => winners.fetch_add(1, Ordering::SeqCst),
                        Err(error) if error.kind() == ErrorKind::AlreadyExists => 0,
                        Err(error) => return Err(error),
                    };
                    Ok(())
                }
            },
        )
        .await;
        assert_eq!((winners.load(Ordering::SeqCst), claims(&table).latest(10).await?.len()), (1, 1));
    }
    Ok(())
}
