//! How a file is opened.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use table_core::{Clock, Result, SystemClock};

use crate::store::EmbeddedStore;

/// When a write is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Once it is on disk: an acknowledged write survives a crash.
    #[default]
    Immediate,
    /// Before it is: a crash of the machine or the process may lose the last moments, never half a
    /// transaction. For bulk loads and throw-away data.
    Relaxed,
}

/// How a file is opened.
///
/// ```
/// use table_embedded::{Durability, EmbeddedOptions};
///
/// let folder = std::env::temp_dir().join(format!("options-{}", std::process::id()));
/// std::fs::create_dir_all(&folder)?;
/// let store = EmbeddedOptions::new()
///     .with_durability(Durability::Relaxed)
///     .with_cache_bytes(64 * 1024 * 1024)
///     .open(folder.join("employees.redb"))?;
/// drop(store);
/// std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct EmbeddedOptions {
    pub(crate) durability: Durability,
    pub(crate) cache_bytes: usize,
    pub(crate) quick_repair: bool,
    pub(crate) linger: Duration,
    pub(crate) queued_writes: usize,
    pub(crate) maintenance_wait: Duration,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Default for EmbeddedOptions {
    fn default() -> Self {
        Self {
            durability: Durability::Immediate,
            cache_bytes: 256 * 1024 * 1024,
            quick_repair: true,
            linger: Duration::from_micros(100),
            queued_writes: 1024,
            maintenance_wait: Duration::from_secs(10),
            clock: Arc::new(SystemClock),
        }
    }
}

impl EmbeddedOptions {
    /// Durable, quickly repaired, with a cache of 256 MiB.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// When a write is answered.
    #[must_use]
    pub const fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Keeps so much of the file in memory.
    #[must_use]
    pub const fn with_cache_bytes(mut self, bytes: usize) -> Self {
        self.cache_bytes = bytes;
        self
    }

    /// Keeps what is needed to open at once after a crash, for slightly slower writes. On unless
    /// turned off; without it the first opening after a crash reads the whole file.
    #[must_use]
    pub const fn with_quick_repair(mut self, quick: bool) -> Self {
        self.quick_repair = quick;
        self
    }

    /// How long a group of writes waits for more, once there were several at a time: for as many as were answered and
    /// waited last time. At most 100 µs unless changed.
    #[must_use]
    pub const fn with_linger(mut self, linger: Duration) -> Self {
        self.linger = linger;
        self
    }

    /// How many writes may wait before further callers do.
    #[must_use]
    pub fn with_queued_writes(mut self, writes: usize) -> Self {
        self.queued_writes = writes.max(1);
        self
    }

    /// How long [`compact`](EmbeddedStore::compact), [`check`](EmbeddedStore::check) and
    /// [`reopen`](EmbeddedStore::reopen) wait for readers to finish. A query that was begun and is not polled further
    /// is a reader too, so don't hold one back while you wait.
    #[must_use]
    pub const fn with_maintenance_wait(mut self, wait: Duration) -> Self {
        self.maintenance_wait = wait;
        self
    }

    /// Where timestamps and the visibility of messages come from.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Opens a file, or creates it.
    ///
    /// # Errors
    /// As [`EmbeddedStore::open`].
    pub fn open(self, path: impl AsRef<Path>) -> Result<EmbeddedStore> {
        EmbeddedStore::open_with(path.as_ref(), self)
    }
}

impl fmt::Debug for EmbeddedOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddedOptions")
            .field("durability", &self.durability)
            .field("cache_bytes", &self.cache_bytes)
            .field("quick_repair", &self.quick_repair)
            .field("linger", &self.linger)
            .field("queued_writes", &self.queued_writes)
            .field("maintenance_wait", &self.maintenance_wait)
            .finish_non_exhaustive()
    }
}
