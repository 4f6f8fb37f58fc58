//! Random calls on tables in Azurite equal the model that the memory store equals too, step by step.
//!
//! The calls, the model and the comparison are those of `store_model`. What Azurite is known to do otherwise, its
//! [deviations](table_tests::azurite), is left out of the calls. Without Azurite the test says that it did not run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, its helpers too"
)]

#[path = "../store_model/filters.rs"]
mod filters;
#[path = "../store_model/pair.rs"]
mod pair;
mod renamed;
#[path = "../store_model/steps.rs"]
mod steps;
#[path = "../store_model/table_model.rs"]
mod table_model;
mod tamed;

use proptest::test_runner::{Config, TestCaseError, TestRunner};
use table_core::MemoryStore;
use table_tests::azurite;

use pair::Pair;
use renamed::Renamed;

/// Each case is up to eighty requests.
const CASES: u32 = 40;

/// Waits for an answer that comes over the network.
fn answer<T>(future: impl Future<Output = T>) -> T {
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    }
    RUNTIME.with(|runtime| runtime.block_on(future))
}

#[test]
fn random_calls_in_memory_and_on_azurite_equal_the_model() {
    let Some(account) = azurite::account() else { return };
    let config = Config { cases: CASES, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let run = |steps: Vec<steps::Step>| -> Result<(), TestCaseError> {
        let steps = tamed::steps(steps);
        Pair::run(Box::new(MemoryStore::new()), None, steps.clone())?;
        let azurite = Renamed::new(account.tables());
        let outcome = Pair::run(Box::new(azurite.clone()), None, steps);
        answer(azurite.clean_up());
        outcome
    };
    TestRunner::new(config).run(&steps::steps(), run).unwrap();
}
