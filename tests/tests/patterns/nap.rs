//! Falling asleep before a store call, as a process does whose machine stands still.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use table_core::{Error, Result};
use table_tests::gate::{Call, Turn};
use tokio::sync::Semaphore;

/// Falls asleep before the n-th call, until it is woken.
#[derive(Debug)]
pub(crate) struct Nap {
    before: u32,
    calls: AtomicU32,
    asleep: Semaphore,
    wake: Semaphore,
}

impl Nap {
    pub(crate) fn before(call: u32) -> Arc<Self> {
        let (asleep, wake) = (Semaphore::new(0), Semaphore::new(0));
        Arc::new(Self { before: call, calls: AtomicU32::new(0), asleep, wake })
    }

    /// Waits until it sleeps; false where it never does.
    pub(crate) async fn asleep(&self) -> bool {
        tokio::time::timeout(Duration::from_secs(5), self.asleep.acquire()).await.is_ok()
    }

    pub(crate) fn wake(&self) {
        self.wake.add_permits(1);
    }
}

impl Turn for Nap {
    async fn before(&self, call: Call<'_>) -> Result<()> {
        // A worker's renewals go another way than the calls of its work.
        if matches!(call.name, "create_queue" | "update_message") {
            return Ok(());
        }
        if self.calls.fetch_add(1, Ordering::SeqCst) + 1 == self.before {
            self.asleep.add_permits(1);
            self.wake.acquire().await.map_err(|_| Error::corrupted("closed"))?.forget();
        }
        Ok(())
    }
}
