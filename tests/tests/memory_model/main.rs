//! Random calls on the memory store equal a naive model that is written from the contract.
//!
//! The models know nothing of the store's code: rows and messages are vectors that are searched
//! from end to end, orders are vectors of UTF-16 units, and a transaction works on a copy.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, its helpers too"
)]

mod filters;
mod messages;
mod queue_model;
mod rows;
mod steps;
mod table_model;

use futures_util::FutureExt;
use proptest::test_runner::Config;

/// The memory store answers without waiting, so no runtime is needed, and a wait is an error.
fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("the memory store made its caller wait")
}

/// Enough cases to meet the rare turns, and few enough for a test that runs every time.
fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}
