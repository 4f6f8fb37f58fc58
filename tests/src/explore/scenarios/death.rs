//! A process that dies right after its first transaction, and so leaves its message to others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use table_core::{Error, ErrorKind, MemoryStore, Result};

use crate::gate::{Call, Gate, Turn};

/// A store as such a process sees it.
pub(super) fn after_transaction(store: MemoryStore) -> Gate<MemoryStore, Arc<DiesAfterTransaction>> {
    Gate::new(store, Arc::new(DiesAfterTransaction::default()))
}

/// Dies after its first transaction.
#[derive(Debug, Default)]
pub(super) struct DiesAfterTransaction(AtomicBool);

impl Turn for DiesAfterTransaction {
    async fn before(&self, call: Call<'_>) -> Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(dead(call)) } else { Ok(()) }
    }

    fn after(&self, call: Call<'_>) -> Result<()> {
        self.0.fetch_or(call.name == "transact", Ordering::Relaxed);
        Ok(())
    }
}

fn dead(call: Call<'_>) -> Error {
    Error::new(ErrorKind::Unavailable, "the process is dead").with_operation(call.name).with_retryable(false)
}
