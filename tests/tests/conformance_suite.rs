//! The suite, the contract and the reports agree with each other.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, its helpers too"
)]

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use table_conformance::{Case, Harness, Needs, Suite, Verdict};
use table_core::store::{Capabilities, Page, PageToken, Selection, StoreQuery, TablePage};
use table_core::{
    Clock, DynamicEntity, EntityKey, MemoryStore, Operation, Result, TableName, TableStore, Timestamp, Transaction,
    Written,
};
use table_tests::stores::{memory, memory_store};

/// The numbers that the contract gives, each at the head of a point: `- **T1** ...`.
fn numbered() -> Vec<&'static str> {
    let contract = include_str!("../../docs/store-contract.md");
    let points = contract.lines().filter_map(|line| line.strip_prefix("- **"));
    points.map(|point| point.split_once("**").expect("a number ends in two asterisks").0).collect()
}

#[test]
fn every_case_cites_a_guarantee_and_every_guarantee_has_a_case() {
    let numbers = numbered();
    let unique: BTreeSet<_> = numbers.iter().copied().collect();
    assert_eq!(unique.len(), numbers.len(), "a number is given twice");
    let cited: BTreeSet<_> = Suite::all().cases().iter().map(Case::guarantee).collect();
    assert_eq!(cited, unique);
}

#[test]
fn every_case_has_a_name_of_its_own() {
    let all = Suite::all();
    let names: BTreeSet<_> = all.cases().iter().map(Case::name).collect();
    assert_eq!(names.len(), all.cases().len());
    assert!(names.len() > 200, "only {} cases are left", names.len());
}

#[tokio::test]
async fn a_report_is_one_line() {
    let report = Suite::all().run(memory()).await;
    let count = Suite::all().cases().len();
    assert_eq!(report.to_string(), format!("memory {count} passed, 0 failed"));
}

#[tokio::test]
async fn a_deviation_that_is_gone_fails_the_run() {
    let report = Suite::all().run(memory().with_deviation("values::guid_comes_back", "text only")).await;
    assert!(!report.is_success());
    let failed: Vec<_> = report.failures().map(|(case, _)| case.name()).collect();
    assert_eq!(failed, ["values::guid_comes_back"]);
    assert!(format!("{report:#}").contains("no longer deviates"), "{report:#}");
}

#[tokio::test]
async fn a_deviation_that_names_no_case_fails_the_run() {
    let report = Suite::all().run(memory().with_deviation("values::nonsense", "a slip")).await;
    assert!(!report.is_success());
    assert!(format!("{report:#}").contains("`values::nonsense` names no case"), "{report:#}");
}

#[tokio::test]
async fn a_store_without_queues_is_not_said_to_pass_their_cases() {
    let (store, clock) = memory_store();
    let report = Suite::all().run(Harness::new("tables only").with_tables(store).with_clock(clock)).await;
    assert!(report.is_success());
    assert_eq!(report.not_applicable(), Suite::queues().cases().len());
    assert_eq!(report.passed(), Suite::tables().cases().len());
    let nothing = Suite::all().run(Harness::new("nothing")).await;
    assert!(!nothing.is_success(), "a run of nothing passes");
}

/// The time of tokio, which passes at once while every task sleeps.
#[derive(Debug)]
struct TokioClock(tokio::time::Instant);

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH.saturating_add(self.0.elapsed())
    }
}

#[tokio::test(start_paused = true)]
async fn cases_run_side_by_side_where_time_passes_by_itself() {
    let store = MemoryStore::with_clock(Arc::new(TokioClock(tokio::time::Instant::now())));
    let report = Suite::all().run(Harness::new("shared").with_tables(store.clone()).with_queues(store.clone())).await;
    assert!(report.is_success(), "{report:#}");
    assert_eq!(report.passed(), Suite::all().cases().len());
    let left = store.list_tables(None).await.unwrap();
    assert_eq!(left.tables, [], "the suite leaves tables behind");
}

/// A store that gives its rows in reverse, and says so.
#[derive(Debug)]
struct Unordered {
    store: MemoryStore,
    admits_it: bool,
}

#[async_trait]
impl TableStore for Unordered {
    fn capabilities(&self) -> Capabilities {
        Capabilities { ordered: !self.admits_it, ..self.store.capabilities() }
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.store.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.store.delete_table(table).await
    }

    async fn list_tables(&self, after: Option<&PageToken>) -> Result<TablePage> {
        self.store.list_tables(after).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, selection: &Selection) -> Result<Option<DynamicEntity>> {
        self.store.get(table, key, selection).await
    }

    async fn query(&self, table: &TableName, query: &StoreQuery) -> Result<Page> {
        let mut page = self.store.query(table, query).await?;
        page.entities.reverse();
        Ok(page)
    }

    async fn write(&self, table: &TableName, operation: Operation) -> Result<Written> {
        self.store.write(table, operation).await
    }

    async fn transact(&self, table: &TableName, transaction: Transaction) -> Result<Vec<Written>> {
        self.store.transact(table, transaction).await
    }
}

fn unordered(admits_it: bool) -> Harness {
    let (store, clock) = memory_store();
    Harness::new("unordered").with_tables(Unordered { store, admits_it }).with_clock(clock)
}

#[tokio::test]
async fn a_store_that_claims_no_order_is_not_asked_for_it() {
    let suite = Suite::tables();
    let report = suite.run(unordered(true)).await;
    assert!(report.is_success(), "{report:#}");
    let ordered = suite.cases().iter().filter(|case| case.needs() == Needs::OrderedTables).count();
    assert_eq!(report.not_applicable(), ordered);
    assert_eq!(report.to_string(), format!("unordered {} passed, 0 failed, {ordered} not applicable", report.passed()));
}

#[tokio::test]
async fn a_known_deviation_is_counted_and_does_not_fail() {
    let suite = Suite::tables();
    let failing = suite.run(unordered(false)).await;
    let mut harness = unordered(false);
    for (case, _) in failing.failures() {
        harness = harness.with_deviation(case.name(), "rows come in reverse");
    }
    let report = suite.run(harness).await;
    assert!(report.is_success(), "{report:#}");
    assert_eq!(report.deviated(), failing.failed());
    assert!(report.deviated() > 0);
    assert!(report.verdicts().iter().any(|(_, verdict)| matches!(verdict, Verdict::Deviated { .. })));
}
