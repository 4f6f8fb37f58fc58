//! A thread that writes for many: the batching writer that one would put before SQLite.

use std::path::Path;
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};

use super::sqlite::Sqlite;
use crate::Result;
use crate::workload::Employee;

/// An insert that waits for the next commit.
struct Job {
    employee: Employee,
    committed: oneshot::Sender<()>,
}

/// A thread that commits all waiting inserts together.
#[derive(Debug)]
pub(crate) struct SqliteBatch {
    jobs: mpsc::Sender<Job>,
    /// Ends once nobody can send any more.
    _thread: JoinHandle<Result>,
}

impl SqliteBatch {
    pub(crate) fn start(path: &Path) -> Result<Self> {
        let sqlite = Sqlite::open(path)?;
        let (jobs, waiting) = mpsc::channel(1024);
        Ok(Self { jobs, _thread: std::thread::spawn(move || commit_all(&sqlite, waiting)) })
    }

    /// Writes an employee, and returns once it is on disk.
    pub(crate) async fn insert(&self, employee: Employee) -> Result {
        let (committed, done) = oneshot::channel();
        self.jobs.send(Job { employee, committed }).await.map_err(|_| "the writer has stopped")?;
        Ok(done.await?)
    }
}

fn commit_all(sqlite: &Sqlite, mut waiting: mpsc::Receiver<Job>) -> Result {
    while let Some(first) = waiting.blocking_recv() {
        let mut group = vec![first];
        while let Ok(job) = waiting.try_recv() {
            group.push(job);
        }
        let (employees, answers): (Vec<_>, Vec<_>) = group.into_iter().map(|job| (job.employee, job.committed)).unzip();
        sqlite.insert_all(employees.into_iter())?;
        for committed in answers {
            // A caller that stopped waiting does not mind.
            let _ = committed.send(());
        }
    }
    Ok(())
}
