//! The times of writes, none twice, and the mark in the file that says which may have been given.
//!
//! The invariant: no commit holds a time above the mark that is on disk with it. The mark lies ahead, so that it
//! is written about once a second and not with each commit, which would take a page of its own. Whoever opens the
//! file goes on behind the mark, as if all times up to it had been given.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use table_core::store::kit::Stamps;
use table_core::{Clock, Timestamp};

/// How far ahead of the clock a mark lies.
const AHEAD: Duration = Duration::from_secs(1);

/// Gives each write of an open file a time of its own.
#[derive(Debug)]
pub(crate) struct FileStamps {
    stamps: Stamps,
    /// Ticks of the mark in the file.
    mark: AtomicI64,
}

impl FileStamps {
    /// Times after the file's mark, and after the last one that was given before the file was opened anew.
    pub(crate) fn new(clock: Arc<dyn Clock>, mark: Timestamp, last: Timestamp) -> Self {
        Self { stamps: Stamps::new(clock, last.max(mark)), mark: AtomicI64::new(mark.ticks()) }
    }

    /// The latest time that was given.
    pub(crate) fn last(&self) -> Timestamp {
        self.stamps.last()
    }

    /// What the clock shows.
    pub(crate) fn now(&self) -> Timestamp {
        self.stamps.now()
    }

    /// A time later than every one given before.
    pub(crate) fn next(&self) -> Timestamp {
        self.stamps.next()
    }

    /// The mark that the next commit must write, where a time has passed the one in the file.
    pub(crate) fn due_mark(&self) -> Option<Timestamp> {
        let last = self.last();
        // From the clock where times run before it, as after an opening: else each would put them a second further.
        let ahead = || last.max(last.min(self.now()).saturating_add(AHEAD));
        (last.ticks() > self.mark.load(Ordering::Relaxed)).then(ahead)
    }

    /// Takes note that the file holds this mark.
    pub(crate) fn marked(&self, mark: Timestamp) {
        self.mark.store(mark.ticks(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use table_core::ManualClock;

    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::UNIX_EPOCH.saturating_add(Duration::from_secs(seconds))
    }

    #[test]
    fn a_mark_is_due_whenever_a_time_has_passed_the_last() {
        let clock = Arc::new(ManualClock::new(at(100)));
        let stamps = FileStamps::new(clock.clone(), Timestamp::MIN, Timestamp::MIN);
        assert_eq!(stamps.due_mark(), None);
        assert_eq!(stamps.next(), at(100));
        assert_eq!(stamps.due_mark(), Some(at(101)));
        // A commit that failed wrote none.
        assert_eq!(stamps.due_mark(), Some(at(101)));
        stamps.marked(at(101));
        clock.set(at(101));
        assert_eq!((stamps.next(), stamps.due_mark()), (at(101), None));
        clock.set(at(7));
        let later = stamps.next();
        assert!(later > at(101));
        assert_eq!(stamps.due_mark(), Some(later), "a second ahead of no clock");
    }

    #[test]
    fn times_go_on_behind_the_mark_and_behind_the_last_that_was_given() {
        for (mark, last) in [(at(101), at(5)), (at(5), at(101))] {
            let stamps = FileStamps::new(Arc::new(ManualClock::new(at(1))), mark, last);
            assert!(stamps.next() > at(101));
        }
    }
}
