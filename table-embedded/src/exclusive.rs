//! The file for one caller alone, after a bounded wait.
//!
//! The lock is fair: while somebody waits to have it alone, nobody else gets it. So the wait is
//! made of short turns, and between two of them readers and the writer go on. It needs no timer of
//! a runtime, since a caller may have none.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use tokio::sync::{OwnedRwLockWriteGuard, RwLock};

/// How long others are held up at a time. Longer than a usual commit, so that a busy writer is
/// met between two of them.
const TURN: Duration = Duration::from_millis(50);

/// Locks for one caller alone, on a thread that may block. None where it takes longer than `limit`,
/// or where nobody wants it any more.
pub(crate) fn lock_alone<T>(
    lock: &Arc<RwLock<T>>,
    limit: Duration,
    wanted: impl Fn() -> bool,
) -> Option<OwnedRwLockWriteGuard<T>> {
    let started = Instant::now();
    while wanted() {
        let left = limit.saturating_sub(started.elapsed());
        if let Some(guard) = wait_for(Arc::clone(lock).write_owned(), left.min(TURN)) {
            return Some(guard);
        }
        let left = limit.saturating_sub(started.elapsed());
        if left.is_zero() {
            return None;
        }
        std::thread::sleep(left.min(TURN));
    }
    None
}

/// Waits on this thread for a future, for so long at most.
fn wait_for<F: Future>(future: F, limit: Duration) -> Option<F::Output> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    let started = Instant::now();
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(output);
        }
        let left = limit.saturating_sub(started.elapsed());
        if left.is_zero() {
            return None;
        }
        std::thread::park_timeout(left);
    }
}

/// Wakes a thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_get_through_while_somebody_waits_to_be_alone() {
        let lock = Arc::new(RwLock::new(()));
        let long_read = Arc::clone(&lock).try_read_owned().unwrap();
        let waiting = std::thread::spawn({
            let lock = Arc::clone(&lock);
            move || lock_alone(&lock, Duration::from_secs(60), || true).is_some()
        });
        // Each read comes while another may be waiting; with one long turn the first would not end.
        for _ in 0..5 {
            drop(lock.blocking_read());
            std::thread::sleep(TURN / 2);
        }
        assert!(!waiting.is_finished());
        drop(long_read);
        assert!(waiting.join().unwrap());
    }

    #[test]
    fn a_wait_ends_at_its_limit_and_when_nobody_wants_it() {
        let lock = Arc::new(RwLock::new(()));
        let read = lock.blocking_read();
        assert!(lock_alone(&lock, Duration::from_millis(1), || true).is_none());
        let turns = std::cell::Cell::new(0);
        let twice = || {
            turns.set(turns.get() + 1);
            turns.get() <= 2
        };
        assert!(lock_alone(&lock, Duration::from_secs(60), twice).is_none());
        drop(read);
        assert!(lock_alone(&lock, Duration::ZERO, || true).is_some());
    }
}
