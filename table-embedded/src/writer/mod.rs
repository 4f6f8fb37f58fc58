//! The writer: one thread that commits all waiting writes together.
//!
//! A commit waits for the disk, and the disk takes as long for many writes as for one. So the
//! writer takes every write that waits, does each in one redb transaction, commits once, and then
//! answers all. A write checks its conditions before its first change: one that is refused leaves
//! nothing behind and its neighbours go on.

mod cleanup;
mod group;
mod job;
mod queues;
mod rows;
mod tables;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use redb::{Database, WriteTransaction};
use table_core::{Error, ErrorKind, Result};
use tokio::sync::{mpsc, oneshot};

use crate::engine::{Engine, closed};
use crate::error::StorageFailure;
use crate::options::Durability;
use cleanup::Cleanup;
pub(crate) use group::{Failure, Group};
use job::{Job, Write};

/// Most writes that share one commit.
const MOST_WRITES: usize = 1024;
/// Bytes after which a commit takes no more writes: redb holds what a commit changes in memory.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// The writer's thread, and the way to it.
#[derive(Debug)]
pub(crate) struct Writer {
    jobs: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(engine: Arc<Engine>) -> Result<Self> {
        let (sender, receiver) = mpsc::channel(engine.options.queued_writes);
        let thread = std::thread::Builder::new()
            .name("table-embedded".to_owned())
            .spawn(move || Loop::new(engine, receiver).run())
            .map_err(StorageFailure::from)?;
        Ok(Self { jobs: Some(sender), thread: Some(thread) })
    }

    /// Does a write of so many bytes with others, and answers once it is committed. Waits while too
    /// many wait already.
    pub(crate) async fn submit<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce(&mut Group<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let jobs = self.jobs.as_ref().ok_or_else(stopped)?;
        jobs.send(Box::new(Write::new(bytes, work, answer))).await.map_err(|_| stopped())?;
        answered.await.map_err(|_| stopped().with_outcome_unknown(true))?
    }
}

impl Drop for Writer {
    /// Finishes what was accepted, and lets go of the file.
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // Whoever waited for a writer that panicked was told when its channel closed.
            drop(thread.join());
        }
    }
}

fn stopped() -> Error {
    Error::new(ErrorKind::Unavailable, "the store was closed").with_retryable(false)
}

/// The writer's own loop.
struct Loop {
    engine: Arc<Engine>,
    jobs: mpsc::Receiver<Box<dyn Job>>,
    cleanup: Cleanup,
    /// Writes that are likely to come in a moment: as many as there were answers, and as waited by then.
    expected: usize,
}

impl Loop {
    fn new(engine: Arc<Engine>, jobs: mpsc::Receiver<Box<dyn Job>>) -> Self {
        Self { engine, jobs, cleanup: Cleanup::default(), expected: 0 }
    }

    fn run(mut self) {
        while let Some(first) = self.next_job() {
            let jobs = self.gather(first);
            self.commit(jobs);
        }
    }

    /// The next write. Space of dropped tables is freed while none waits.
    fn next_job(&mut self) -> Option<Box<dyn Job>> {
        loop {
            match self.jobs.try_recv() {
                Ok(job) => return Some(job),
                Err(mpsc::error::TryRecvError::Disconnected) => return None,
                Err(mpsc::error::TryRecvError::Empty) if self.cleanup.step(&self.engine) => {}
                Err(mpsc::error::TryRecvError::Empty) => return self.jobs.blocking_recv(),
            }
        }
    }

    /// All writes that wait, and those expected ones that come within the linger, up to the bounds of a commit.
    fn gather(&mut self, first: Box<dyn Job>) -> Vec<Box<dyn Job>> {
        let mut bytes = first.bytes();
        let mut jobs = vec![first];
        let start = Instant::now();
        while jobs.len() < MOST_WRITES && bytes < MOST_BYTES {
            match self.jobs.try_recv() {
                Ok(job) => {
                    bytes += job.bytes();
                    jobs.push(job);
                }
                Err(mpsc::error::TryRecvError::Empty)
                    if jobs.len() < self.expected && start.elapsed() < self.engine.options.linger =>
                {
                    std::thread::yield_now();
                }
                Err(_) => break,
            }
        }
        jobs
    }

    fn commit(&mut self, mut jobs: Vec<Box<dyn Job>>) {
        let committed = self.try_commit(&mut jobs);
        self.expected = jobs.len() + self.jobs.len();
        for job in jobs {
            job.answer(&committed);
        }
        if committed.is_err() && self.engine.check_sync().is_ok() {
            // redb stops after an I/O error. Where opening fails too, the next call tries again.
            drop(self.engine.reopen());
        }
    }

    /// Does all jobs in one transaction.
    fn try_commit(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<()> {
        self.engine.check_sync()?;
        if self.engine.database.blocking_read().is_none() {
            self.engine.ensure_open(&mut self.engine.database.blocking_write())?;
        }
        let slot = self.engine.database.blocking_read();
        let transaction = begin(&self.engine, slot.as_ref().ok_or_else(closed)?)?;
        let mut group = Group::new(&self.engine, &transaction);
        for job in jobs {
            job.run(&mut group)?;
        }
        let Some(changes) = group.finish()? else {
            return Ok(());
        };
        // From here on the writes may have reached the disk, whatever the answer is.
        let committed = commit(&self.engine, transaction);
        committed.map_err(|failure| Error::from(failure).with_outcome_unknown(true))?;
        changes.publish(&self.engine, &mut self.cleanup);
        Ok(())
    }
}

/// Commits a transaction, and lets reads see it.
fn commit(engine: &Engine, transaction: WriteTransaction) -> Result<(), StorageFailure> {
    let committed = transaction.commit();
    engine.forget_snapshot();
    Ok(committed?)
}

/// A redb transaction with the durability of the options.
fn begin(engine: &Engine, database: &Database) -> Result<WriteTransaction, StorageFailure> {
    let mut transaction = database.begin_write()?;
    match engine.options.durability {
        Durability::Immediate => transaction.set_quick_repair(engine.options.quick_repair),
        Durability::Relaxed => {
            // Only a savepoint could refuse this, and none is used.
            drop(transaction.set_durability(redb::Durability::None));
        }
    }
    Ok(transaction)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A write that only has a size.
    struct Sized(usize);

    impl Job for Sized {
        fn bytes(&self) -> usize {
            self.0
        }

        fn run(&mut self, _: &mut Group<'_>) -> Result<(), StorageFailure> {
            Ok(())
        }

        fn answer(self: Box<Self>, _: &Result<()>) {}
    }

    /// A loop that waits for a very long time, before it begins.
    fn idle_loop(jobs: mpsc::Receiver<Box<dyn Job>>) -> Loop {
        let folder = tempfile::tempdir().unwrap();
        let storage = Box::new(crate::backend::FileStorage::new(&folder.path().join("store.redb")));
        let options = crate::EmbeddedOptions::new().with_linger(std::time::Duration::MAX);
        Loop::new(Arc::new(Engine::open(storage, options).unwrap()), jobs)
    }

    /// How many of these writes share the first commit.
    fn in_one_group(count: usize, bytes: usize) -> usize {
        let (sender, jobs) = mpsc::channel::<Box<dyn Job>>(count);
        for _ in 1..count {
            assert!(sender.try_send(Box::new(Sized(bytes))).is_ok());
        }
        idle_loop(jobs).gather(Box::new(Sized(bytes))).len()
    }

    #[test]
    fn a_group_waits_for_those_that_are_expected_and_for_no_more() {
        let (sender, jobs) = mpsc::channel::<Box<dyn Job>>(3);
        let mut idle = idle_loop(jobs);
        idle.expected = 3;
        let late = std::thread::spawn(move || {
            for _ in 0..2 {
                assert!(sender.blocking_send(Box::new(Sized(0))).is_ok());
            }
            sender
        });
        assert_eq!(idle.gather(Box::new(Sized(0))).len(), 3);
        // One writer alone is answered at once.
        idle.expected = 1;
        assert_eq!(idle.gather(Box::new(Sized(0))).len(), 1);
        drop(late.join().unwrap());
    }

    #[test]
    fn whoever_was_answered_and_whoever_waited_is_expected_again() {
        let (sender, jobs) = mpsc::channel::<Box<dyn Job>>(3);
        let mut idle = idle_loop(jobs);
        assert!(sender.try_send(Box::new(Sized(0))).is_ok());
        idle.commit(vec![Box::new(Sized(0)), Box::new(Sized(0))]);
        assert_eq!(idle.expected, 3);
    }

    #[test]
    fn a_group_is_bounded_by_its_writes_and_by_their_bytes() {
        assert_eq!(in_one_group(10, 0), 10);
        assert_eq!(in_one_group(MOST_WRITES + 10, 0), MOST_WRITES);
        assert_eq!(in_one_group(10, MOST_BYTES / 4), 4);
        assert_eq!(in_one_group(10, MOST_BYTES * 2), 1);
    }
}
