//! The suite can fail: stores that break one guarantee each are caught by a case that cites it.

mod queues;
mod tables;
mod wrapper;

use table_conformance::{Harness, Suite};
use table_tests::stores::memory_store;
use wrapper::{Broken, QueueBreak, TableBreak};

async fn guarantees_broken(suite: Suite, harness: Harness) -> Vec<&'static str> {
    let report = suite.run(harness).await;
    report.failures().map(|(case, _)| case.guarantee()).collect()
}

async fn expect_tables_caught(by: impl TableBreak, guarantee: &str) {
    let (store, clock) = memory_store();
    let harness = Harness::new("broken").with_tables(Broken { store, by }).with_clock(clock);
    let broken = guarantees_broken(Suite::tables(), harness).await;
    assert!(broken.contains(&guarantee), "no case for {guarantee} caught it, only those for {broken:?}");
}

async fn expect_queues_caught(by: impl QueueBreak, guarantee: &str) {
    let (store, clock) = memory_store();
    let harness = Harness::new("broken").with_queues(Broken { store, by }).with_clock(clock);
    let broken = guarantees_broken(Suite::queues(), harness).await;
    assert!(broken.contains(&guarantee), "no case for {guarantee} caught it, only those for {broken:?}");
}

/// Nothing is broken: what the wrapper itself does is never what is caught.
#[derive(Debug)]
struct Nothing;

impl TableBreak for Nothing {}
impl QueueBreak for Nothing {}

#[tokio::test]
async fn a_wrapper_that_breaks_nothing_passes() {
    let (store, clock) = memory_store();
    let harness = Harness::new("wrapped")
        .with_tables(Broken { store: store.clone(), by: Nothing })
        .with_queues(Broken { store, by: Nothing })
        .with_clock(clock);
    let report = Suite::all().run(harness).await;
    assert!(report.is_success(), "{report:#}");
}
