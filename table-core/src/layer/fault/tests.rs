use std::time::Duration;

use bytes::Bytes;

use super::*;
use crate::layer::testing::{employees, insert, intents, key, row};
use crate::store::{QueueStore, Selection, SendOptions, TableStore};
use crate::{MemoryStore, TableName};

async fn store(options: FaultOptions) -> (MemoryStore, Fault<MemoryStore>) {
    let memory = MemoryStore::new();
    memory.create_table(&employees()).await.unwrap();
    (memory.clone(), Fault::new(memory, FaultPlan::new(options)))
}

async fn is_there(memory: &MemoryStore, name: &str) -> bool {
    memory.get(&employees(), &key(name), &Selection::All).await.unwrap().is_some()
}

#[tokio::test]
async fn a_call_fails_before_or_after_its_effect() {
    for (moment, happened, unknown) in
        [(FaultMoment::Before, false, false), (FaultMoment::RequestLost, false, true), (FaultMoment::After, true, true)]
    {
        let (memory, fault) = store(FaultOptions::default().with_failure(2, moment)).await;
        fault.write(&employees(), insert(row("1"))).await.unwrap();
        let error = fault.write(&employees(), insert(row("2"))).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.is_retryable());
        assert_eq!(error.outcome_unknown(), unknown, "{moment:?}");
        assert_eq!(is_there(&memory, "2").await, happened, "{moment:?}");
        fault.write(&employees(), insert(row("3"))).await.unwrap();
    }
}

#[tokio::test]
async fn a_lost_read_leaves_no_doubt() {
    let (_, fault) = store(FaultOptions::default().with_failure(1, FaultMoment::After)).await;
    let error = fault.get(&employees(), &key("1"), &Selection::All).await.unwrap_err();
    assert!(!error.outcome_unknown());
}

#[tokio::test]
async fn a_dead_process_does_nothing_more() {
    for (moment, happened) in [(FaultMoment::Before, false), (FaultMoment::After, true)] {
        let (memory, fault) = store(FaultOptions::default().with_death(1, moment)).await;
        let error = fault.write(&employees(), insert(row("1"))).await.unwrap_err();
        assert!(!error.is_retryable());
        assert_eq!(is_there(&memory, "1").await, happened, "{moment:?}");
        fault.write(&employees(), insert(row("2"))).await.unwrap_err();
        assert!(!is_there(&memory, "2").await);
        assert!(fault.plan().is_dead());

        fault.plan().heal();
        fault.write(&employees(), insert(row("2"))).await.unwrap();
    }
}

#[tokio::test]
async fn stores_that_share_a_plan_share_its_count_and_its_death() {
    let plan = FaultPlan::new(FaultOptions::default().with_death(3, FaultMoment::Before));
    let tables = Fault::new(MemoryStore::new(), plan.clone());
    let queues = Fault::new(MemoryStore::new(), plan.clone());
    tables.create_table(&employees()).await.unwrap();
    queues.create_queue(&intents()).await.unwrap();
    tables.write(&employees(), insert(row("1"))).await.unwrap_err();
    queues.send(&intents(), Bytes::new(), SendOptions::default()).await.unwrap_err();

    assert_eq!(plan.calls(), 4);
    let records: Vec<String> = plan.records().iter().map(ToString::to_string).collect();
    assert_eq!(
        records,
        ["1 create_table: passed", "2 create_queue: passed", "3 insert: died before its effect", "4 send: dead"]
    );
}

#[tokio::test]
async fn every_third_call_is_throttled_and_told_how_long_to_wait() {
    let wait = Duration::from_secs(7);
    let (_, fault) = store(FaultOptions::default().with_throttling_every(3).with_retry_after(wait)).await;
    for call in 1..=9 {
        let result = fault.list_tables(None).await;
        assert_eq!(result.is_err(), call % 3 == 0, "{call}");
        if let Err(error) = result {
            assert_eq!(error.kind(), ErrorKind::Throttled);
            assert_eq!(error.retry_after(), Some(wait));
        }
    }
}

#[tokio::test]
async fn chance_follows_the_seed() {
    async fn fates(seed: u64) -> Vec<String> {
        let chance = FaultOptions::default().with_throttling(0.3).with_losses(0.3).with_seed(seed);
        let (_, fault) = store(chance).await;
        for number in 0..200 {
            let _ = fault.write(&employees(), insert(row(&number.to_string()))).await;
        }
        fault.plan().records().iter().map(ToString::to_string).collect()
    }
    let fates_of_one = fates(1).await;
    assert_eq!(fates_of_one, fates(1).await);
    assert_ne!(fates_of_one, fates(2).await);
    let count = |fate: &str| fates_of_one.iter().filter(|record| record.ends_with(fate)).count();
    assert!((40..80).contains(&count("throttled")), "{}", count("throttled"));
    for fate in ["request lost", "answer lost"] {
        assert!((8..35).contains(&count(fate)), "{fate}: {}", count(fate));
    }
}

#[tokio::test(start_paused = true)]
async fn latency_delays_each_call_within_its_range() {
    let (least, most) = (Duration::from_millis(20), Duration::from_millis(50));
    let (_, fault) = store(FaultOptions::default().with_latency(least..=most)).await;
    let start = tokio::time::Instant::now();
    for _ in 0..10 {
        fault.list_tables(None).await.unwrap();
    }
    let elapsed = start.elapsed();
    assert!(elapsed >= least * 10 && elapsed <= most * 10 + Duration::from_millis(10), "{elapsed:?}");
}

#[tokio::test]
async fn a_plan_remembers_a_bounded_number_of_calls() {
    let fault = Fault::new(MemoryStore::new(), FaultPlan::quiet());
    for _ in 0..1001 {
        let _ = fault.delete_table(&TableName::new("Nothing").unwrap()).await;
    }
    let records = fault.plan().records();
    assert_eq!((records.len(), records[0].call), (1000, 2));
}
