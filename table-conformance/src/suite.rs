//! The cases, and how they are run.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream;

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::harness::Harness;
use crate::list;
use crate::report::{Report, Verdict};

/// Cases that run side by side where time really passes.
const CONCURRENT_CASES: usize = 8;
/// How long one case may take, remote stores and waiting included.
const CASE_TIME: Duration = Duration::from_secs(120);

/// What a store must do for a case to say anything of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// A table store.
    Tables,
    /// A table store that answers in key order.
    OrderedTables,
    /// A queue store.
    Queues,
}

/// One thing that a store must do, and the guarantee that says so.
#[derive(Clone, Copy)]
pub struct Case {
    name: &'static str,
    guarantee: &'static str,
    needs: Needs,
    run: fn(Context) -> BoxFuture<'static, Outcome>,
}

impl Case {
    pub(crate) const fn new(
        name: &'static str,
        guarantee: &'static str,
        needs: Needs,
        run: fn(Context) -> BoxFuture<'static, Outcome>,
    ) -> Self {
        Self { name, guarantee, needs, run }
    }

    /// Subject and name, such as `insert::an_existing_row_is_refused`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The number of the guarantee in `docs/store-contract.md`.
    #[must_use]
    pub const fn guarantee(&self) -> &'static str {
        self.guarantee
    }

    /// What a store must do for the case to apply.
    #[must_use]
    pub const fn needs(&self) -> Needs {
        self.needs
    }

    fn not_applicable(&self, harness: &Harness) -> Option<&'static str> {
        match (self.needs, harness.tables(), harness.queues()) {
            (Needs::Tables | Needs::OrderedTables, None, _) => Some("the harness has no table store"),
            (Needs::Queues, _, None) => Some("the harness has no queue store"),
            (Needs::OrderedTables, Some(tables), _) if !tables.capabilities().ordered => {
                Some("the store does not answer in key order")
            }
            _ => None,
        }
    }

    /// Runs the case on a task of its own, so that a panic is its failure alone.
    async fn verdict(self, harness: Arc<Harness>) -> Verdict {
        if let Some(why) = self.not_applicable(&harness) {
            return Verdict::NotApplicable(why);
        }
        let context = Context::new(harness.clone());
        let task = tokio::spawn(tokio::time::timeout(CASE_TIME, (self.run)(context.clone())));
        let outcome = match task.await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(Failure::of_run(format!("the case did not end within {} s", CASE_TIME.as_secs()))),
            Err(panic) => Err(Failure::of_run(format!("the case panicked: {panic}"))),
        };
        context.clean_up().await;
        let deviation = harness.deviations().iter().find(|deviation| deviation.case == self.name);
        match (outcome, deviation) {
            (Ok(()), None) => Verdict::Passed,
            (Err(failure), None) => Verdict::Failed(failure),
            (Err(failure), Some(known)) => Verdict::Deviated { reason: known.reason.clone(), failure },
            (Ok(()), Some(_)) => {
                Verdict::Failed(Failure::of_run("the store no longer deviates here; take the deviation out"))
            }
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.name, self.guarantee)
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Some or all of the cases.
#[derive(Debug, Clone)]
#[must_use]
pub struct Suite {
    cases: Vec<Case>,
}

impl Suite {
    /// Every case.
    pub fn all() -> Self {
        let mut all = Self::tables();
        all.cases.extend(Self::queues().cases);
        all
    }

    /// The cases of table stores.
    pub fn tables() -> Self {
        Self { cases: list::table_cases() }
    }

    /// The cases of queue stores.
    pub fn queues() -> Self {
        Self { cases: list::queue_cases() }
    }

    /// The cases.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Runs all cases, side by side unless they would turn each other's clock.
    ///
    /// Must run within a tokio runtime; one with several threads makes the concurrent cases real.
    pub async fn run(&self, harness: Harness) -> Report {
        let harness = Arc::new(harness);
        let at_once = if harness.has_manual_clock() { 1 } else { CONCURRENT_CASES };
        let verdicts = stream::iter(self.cases.iter().copied())
            .map(|case| {
                let harness = harness.clone();
                async move { (case, case.verdict(harness).await) }
            })
            .buffered(at_once)
            .collect()
            .await;
        Report::new(harness.name(), verdicts, complaints(&harness))
    }
}

/// Deviations that name no case would never be missed.
fn complaints(harness: &Harness) -> Vec<String> {
    let all = Suite::all();
    let unknown = harness.deviations().iter().filter(|known| all.cases.iter().all(|case| case.name != known.case));
    unknown.map(|known| format!("the deviation `{}` names no case", known.case)).collect()
}

/// Runs one case by name and panics where it fails: what the generated tests do.
///
/// It brings its own runtime, with threads enough to make the concurrent cases real, so that a
/// generated test is one call and compiles quickly.
///
/// # Panics
/// Where the case fails, where no case has this name, and where the harness lacks its store.
#[doc(hidden)]
#[expect(clippy::panic, clippy::expect_used, clippy::print_stdout, reason = "it is the body of a test")]
pub fn run_case(name: &str, harness: Harness) {
    let all = Suite::all();
    let Some(case) = all.cases.iter().find(|case| case.name == name) else {
        panic!("no case is named `{name}`");
    };
    let lacks_store = match case.needs {
        Needs::Tables | Needs::OrderedTables => harness.tables().is_none(),
        Needs::Queues => harness.queues().is_none(),
    };
    assert!(!lacks_store, "the harness has no store for {case}; generate the tests of the other kind only");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let verdict = runtime.expect("a runtime can be started").block_on(case.verdict(Arc::new(harness)));
    match verdict {
        Verdict::Passed => {}
        Verdict::Failed(failure) => panic!("{case}: {failure}"),
        Verdict::Deviated { reason, failure } => println!("{case} deviates: {reason} ({failure})"),
        Verdict::NotApplicable(why) => println!("{case} is not applicable: {why}"),
    }
}
