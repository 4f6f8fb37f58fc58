//! Every store that must keep the contract, ready for the suite.
//!
//! A new store or layer is one more function here and one more line in [`all`].

use std::sync::Arc;
use std::time::Duration;

use table_conformance::Harness;
use table_core::layer::{Fault, FaultOptions, FaultPlan, Meter, Retry, RetryOptions, Trace};
use table_core::{ManualClock, MemoryStore, QueueStore, TableStore, Timestamp};
use table_embedded::{EmbeddedOptions, EmbeddedStore};
use tempfile::TempDir;

use crate::azurite;

/// A harness of each store; of Azurite where it runs.
#[must_use]
pub fn all() -> Vec<Harness> {
    let ours = vec![
        memory(),
        memory_boxed(),
        memory_shared(),
        memory_retried(),
        memory_metered(),
        memory_traced(),
        memory_behind_no_faults(),
        memory_throttled(),
        memory_behind_all_layers(),
        embedded(),
        embedded_behind_all_layers(),
    ];
    ours.into_iter().chain(azurite::harness()).collect()
}

/// A fresh memory store and the clock that it reads.
#[must_use]
pub fn memory_store() -> (MemoryStore, Arc<ManualClock>) {
    let clock = clock();
    (MemoryStore::with_clock(clock.clone()), clock)
}

/// A clock for a store under test.
#[must_use]
pub fn clock() -> Arc<ManualClock> {
    // Well after the first time that a DateTime can hold, so that a case can look back.
    Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH))
}

/// The memory store.
pub fn memory() -> Harness {
    let (store, clock) = memory_store();
    Harness::new("memory").with_tables(store.clone()).with_queues(store).with_clock(clock)
}

/// The memory store behind `Box<dyn TableStore>` and `Box<dyn QueueStore>`.
pub fn memory_boxed() -> Harness {
    let (store, clock) = memory_store();
    let tables: Box<dyn TableStore> = Box::new(store.clone());
    let queues: Box<dyn QueueStore> = Box::new(store);
    Harness::new("memory, boxed").with_tables(tables).with_queues(queues).with_clock(clock)
}

/// The memory store behind `Arc<dyn TableStore>` and `Arc<dyn QueueStore>`.
pub fn memory_shared() -> Harness {
    let (store, clock) = memory_store();
    let tables: Arc<dyn TableStore> = Arc::new(store.clone());
    let queues: Arc<dyn QueueStore> = Arc::new(store);
    Harness::new("memory, shared").with_tables(tables).with_queues(queues).with_clock(clock)
}

/// The memory store behind `Retry`.
pub fn memory_retried() -> Harness {
    layered("memory, retried", Retry::new)
}

/// The memory store behind `Meter`.
pub fn memory_metered() -> Harness {
    layered("memory, metered", Meter::new)
}

/// The memory store behind `Trace`.
pub fn memory_traced() -> Harness {
    layered("memory, traced", |store| Trace::new(store).with_keys(true))
}

/// The memory store behind a `Fault` that does nothing.
pub fn memory_behind_no_faults() -> Harness {
    layered("memory, no faults", |store| Fault::new(store, FaultPlan::quiet()))
}

/// The memory store that throttles, behind `Retry`: nobody notices.
pub fn memory_throttled() -> Harness {
    layered("memory, throttled", throttled)
}

/// The memory store behind all layers, in the order that the documentation recommends.
pub fn memory_behind_all_layers() -> Harness {
    layered("memory, all layers", |store| Trace::new(Meter::new(throttled(Trace::new(Meter::new(store))))))
}

/// The embedded store on a file of its own.
pub fn embedded() -> Harness {
    embedded_with("embedded", |store| store)
}

/// The embedded store behind all layers.
pub fn embedded_behind_all_layers() -> Harness {
    embedded_with("embedded, all layers", |store| Trace::new(Meter::new(throttled(Trace::new(Meter::new(store))))))
}

/// An embedded store on a fresh file, the clock that it reads, and the folder of the file.
///
/// # Panics
/// Where no temporary file can be made.
#[must_use]
#[expect(clippy::expect_used, reason = "without a temporary file there is nothing to test")]
pub fn embedded_store() -> (EmbeddedStore, Arc<ManualClock>, TempDir) {
    let clock = clock();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = EmbeddedOptions::new().with_clock(clock.clone());
    let store = options.open(folder.path().join("store.redb")).expect("a new file opens");
    (store, clock, folder)
}

fn embedded_with<S: TableStore + QueueStore + Clone>(name: &str, layer: impl FnOnce(EmbeddedStore) -> S) -> Harness {
    let (store, clock, folder) = embedded_store();
    let store = layer(store);
    Harness::new(name).with_tables(store.clone()).with_queues(store).with_clock(clock).keeping(folder)
}

/// Throttles more than a third of all calls, and repeats them at once: the waits have tests of their own.
fn throttled<S>(store: S) -> Retry<Fault<S>> {
    let faults = FaultOptions::default().with_throttling_every(3).with_throttling(0.2).with_seed(1);
    let at_once = RetryOptions::default().with_attempts(30).with_first_wait(Duration::ZERO);
    Retry::with_options(Fault::new(store, FaultPlan::new(faults)), at_once)
}

/// The memory store behind a layer.
fn layered<S: TableStore + QueueStore + Clone>(name: &str, layer: impl FnOnce(MemoryStore) -> S) -> Harness {
    let (store, clock) = memory_store();
    let store = layer(store);
    Harness::new(name).with_tables(store.clone()).with_queues(store).with_clock(clock)
}
