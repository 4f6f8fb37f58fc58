//! Where the time comes from, so that a test can turn it.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::timestamp::Timestamp;

/// A source of the current time.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// The current time.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// A clock that stands still until it is moved.
///
/// ```
/// use std::time::Duration;
/// use table_core::{Clock, ManualClock, Timestamp};
///
/// let clock = ManualClock::new(Timestamp::UNIX_EPOCH);
/// clock.advance(Duration::from_secs(30));
/// assert_eq!(clock.now().to_string(), "1970-01-01T00:00:30.0000000Z");
/// ```
#[derive(Debug)]
pub struct ManualClock {
    ticks: AtomicI64,
}

impl ManualClock {
    /// A clock that shows this time.
    #[must_use]
    pub const fn new(now: Timestamp) -> Self {
        Self { ticks: AtomicI64::new(now.ticks()) }
    }

    /// Moves the clock on.
    pub fn advance(&self, by: Duration) {
        self.set(self.now().saturating_add(by));
    }

    /// Sets the clock, backwards too.
    pub fn set(&self, now: Timestamp) {
        self.ticks.store(now.ticks(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_ticks(self.ticks.load(Ordering::SeqCst)).unwrap_or(Timestamp::MAX)
    }
}

impl<C: Clock + ?Sized> Clock for std::sync::Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}
