//! Random calls on our own stores equal a naive model that is written from the contract, step by
//! step; so the stores equal each other.
//!
//! The models know nothing of the stores' code: rows and messages are vectors that are searched
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
mod pair;
mod queue_model;
mod rows;
mod steps;
mod table_model;

use std::sync::Arc;

use futures_util::FutureExt;
use proptest::test_runner::Config;
use table_core::{ManualClock, QueueStore, TableName, TableStore};
use table_embedded::{Durability, EmbeddedOptions};
use table_tests::stores::{clock, memory_store};
use tempfile::TempDir;

/// A fresh store beside which a model runs.
struct Subject {
    tables: Box<dyn TableStore>,
    queues: Box<dyn QueueStore>,
    clock: Arc<ManualClock>,
    /// Dropped after the stores.
    _folder: Option<TempDir>,
}

impl Subject {
    fn memory() -> Self {
        let (store, clock) = memory_store();
        Self { tables: Box::new(store.clone()), queues: Box::new(store), clock, _folder: None }
    }

    /// Without waiting for the disk, which the crash tests do.
    fn embedded() -> Self {
        let (clock, folder) = (clock(), tempfile::tempdir().unwrap());
        let options = EmbeddedOptions::new().with_clock(clock.clone()).with_durability(Durability::Relaxed);
        let store = options.open(folder.path().join("store.redb")).unwrap();
        Self { tables: Box::new(store.clone()), queues: Box::new(store), clock, _folder: Some(folder) }
    }
}

/// Waits for an answer.
fn answer<T>(future: impl Future<Output = T>) -> T {
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    }
    RUNTIME.with(|runtime| runtime.block_on(future))
}

/// Enough cases to meet the rare turns, and few enough for a test that runs every time.
fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

#[test]
fn the_memory_store_answers_without_waiting() {
    let (store, _) = memory_store();
    let table = TableName::new("Staff").unwrap();
    assert!(store.create_table(&table).now_or_never().unwrap().is_ok());
    assert!(store.list_tables(None).now_or_never().unwrap().is_ok());
}
