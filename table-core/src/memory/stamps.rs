//! The times of writes, none of them twice.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::clock::Clock;
use crate::timestamp::Timestamp;

/// What the clock is taken to show at most: the start of the year 9000.
///
/// A clock that shows the end of time would leave no later tick to tell two writes apart.
const LATEST_CLOCK_TICKS: i64 = 2_839_809_888_000_000_000;

/// Gives each write a time of its own: the clock's, or one tick after the last.
///
/// So an ETag never repeats within a store, whatever the clock does.
pub(super) struct Stamps {
    clock: Arc<dyn Clock>,
    last: AtomicI64,
}

impl Stamps {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, last: AtomicI64::new(Timestamp::MIN.ticks()) }
    }

    /// What the clock shows.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// A time later than every one given before. Taken under the lock of what is written, so that
    /// times there rise in the order of the writes.
    pub(super) fn next(&self) -> Timestamp {
        let now = self.now().ticks().min(LATEST_CLOCK_TICKS);
        let later = |last: i64| now.max(last + 1);
        let last = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(later(last)));
        let (Ok(last) | Err(last)) = last;
        Timestamp::from_ticks(later(last)).unwrap_or(Timestamp::MAX)
    }
}

impl fmt::Debug for Stamps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stamps").field("clock", &self.clock).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;

    #[test]
    fn no_time_is_given_twice_whatever_the_clock_shows() {
        let clock = Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH));
        let stamps = Stamps::new(clock.clone());
        let mut given = vec![stamps.next()];
        for shown in [Timestamp::UNIX_EPOCH, Timestamp::MIN, Timestamp::MAX, Timestamp::MAX, Timestamp::UNIX_EPOCH] {
            clock.set(shown);
            given.extend([stamps.next(), stamps.next()]);
        }
        assert!(given.is_sorted_by(|a, b| a < b), "{given:?}");
    }

    #[test]
    fn the_latest_clock_is_a_thousand_years_before_the_end() {
        let latest: Timestamp = "9000-01-01T00:00:00Z".parse().unwrap();
        assert_eq!(latest.ticks(), LATEST_CLOCK_TICKS);
    }
}
