//! Every store that must keep the contract, ready for the suite.
//!
//! A new store or layer is one more function here and one more line in [`all`].

use std::sync::Arc;

use table_conformance::Harness;
use table_core::{ManualClock, MemoryStore, QueueStore, TableStore, Timestamp};

/// A harness of each store.
#[must_use]
pub fn all() -> Vec<Harness> {
    vec![memory(), memory_boxed(), memory_shared()]
}

/// A fresh memory store and the clock that it reads.
#[must_use]
pub fn memory_store() -> (MemoryStore, Arc<ManualClock>) {
    // Well after the first time that a DateTime can hold, so that a case can look back.
    let clock = Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH));
    (MemoryStore::with_clock(clock.clone()), clock)
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
