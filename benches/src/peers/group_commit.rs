//! The group-commit loop that one would write by hand over redb.

use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};

use super::redb::{RawRedb, RawRow, write};
use crate::Result;

/// A transaction that waits for the next commit.
struct Job {
    rows: Vec<RawRow>,
    committed: oneshot::Sender<()>,
}

/// A thread that commits all waiting transactions together.
#[derive(Debug)]
pub(crate) struct GroupCommit {
    jobs: mpsc::Sender<Job>,
    /// Ends once nobody can send any more.
    _thread: JoinHandle<Result>,
}

impl GroupCommit {
    pub(crate) fn start(raw: Arc<RawRedb>) -> Self {
        let (jobs, waiting) = mpsc::channel(1024);
        Self { jobs, _thread: std::thread::spawn(move || commit_all(&raw, waiting)) }
    }

    /// Writes rows, and returns once they are on disk.
    pub(crate) async fn transact(&self, rows: Vec<RawRow>) -> Result {
        let (committed, done) = oneshot::channel();
        self.jobs.send(Job { rows, committed }).await.map_err(|_| "the loop has stopped")?;
        Ok(done.await?)
    }
}

fn commit_all(raw: &RawRedb, mut waiting: mpsc::Receiver<Job>) -> Result {
    while let Some(first) = waiting.blocking_recv() {
        let mut group = vec![first];
        while let Ok(job) = waiting.try_recv() {
            group.push(job);
        }
        let transaction = raw.begin()?;
        write(&transaction, group.iter().flat_map(|job| &job.rows))?;
        transaction.commit()?;
        for job in group {
            // A caller that stopped waiting does not mind.
            let _ = job.committed.send(());
        }
    }
    Ok(())
}
