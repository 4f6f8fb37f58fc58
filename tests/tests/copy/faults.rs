//! A copy that dies at any call, on either side, and goes on.

use std::sync::Arc;

use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan};
use table_core::{Result, copy};

use super::{Store, content, memory, seeded};

const MOMENTS: [FaultMoment; 3] = [FaultMoment::Before, FaultMoment::RequestLost, FaultMoment::After];

fn behind(store: &Store, plan: &FaultPlan) -> Store {
    Arc::new(Fault::new(store.clone(), plan.clone()))
}

/// Copies with these faults on both sides, then without any; says whether the first run succeeded.
async fn twice(source: &Store, plan: &FaultPlan, with_state: bool) -> Result<bool> {
    let folder = tempfile::tempdir().unwrap();
    let target = memory();
    let copy = |from: Store, to: Store| {
        let copy = copy::tables_from(from).to(to).with_page_entities(5).with_concurrency(2);
        if with_state { copy.with_state_file(folder.path().join("state")) } else { copy }
    };
    let first = copy(behind(source, plan), behind(&target, plan)).run().await;
    if first.is_ok() {
        assert_eq!(content(&target).await?, content(source).await?, "{:?}", plan.records());
    }
    let done = copy(source.clone(), target.clone()).run().await?;
    assert_eq!((done.tables, done.entities), (3, 25));
    assert_eq!(content(&target).await?, content(source).await?, "{:?}", plan.records());
    Ok(first.is_ok())
}

#[tokio::test]
async fn a_copy_that_dies_at_any_call_is_completed_by_the_next() -> Result<()> {
    let source = seeded().await?;
    let quiet = FaultPlan::quiet();
    assert!(twice(&source, &quiet, true).await?);
    assert!(quiet.calls() >= 20, "only {} calls", quiet.calls());
    for call in 1..=quiet.calls() {
        for moment in MOMENTS {
            for with_state in [true, false] {
                let plan = FaultPlan::new(FaultOptions::default().with_death(call, moment));
                assert!(!twice(&source, &plan, with_state).await?, "it must die at call {call}");
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_insert_whose_answer_was_lost_is_settled_by_reading() -> Result<()> {
    let source = seeded().await?;
    let quiet = FaultPlan::quiet();
    twice(&source, &quiet, true).await?;
    let writes: Vec<u64> = quiet
        .records()
        .into_iter()
        .filter(|each| matches!(each.operation, "insert" | "transact"))
        .map(|each| each.call)
        .collect();
    assert_eq!(writes.len(), 9, "a page of Many goes to one or two partitions, Types to two");
    for call in writes {
        let plan = FaultPlan::new(FaultOptions::default().with_failure(call, FaultMoment::After));
        assert!(twice(&source, &plan, true).await?, "call {call} was not settled: {:?}", plan.records());
    }
    Ok(())
}
