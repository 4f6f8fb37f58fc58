//! Many writers at once: tasks of the runtime, or threads.

use std::thread;
use std::time::Instant;

use tokio::runtime::Runtime;

use crate::Result;

/// Writers that write at once.
pub(super) const WRITERS: usize = 16;

/// How much all tasks together do in a second. Each takes its share and says how much it did.
pub(super) fn rate_of_tasks<S, F>(runtime: &Runtime, shares: Vec<S>, work: impl Fn(S) -> F) -> Result<f64>
where
    F: Future<Output = Result<usize>> + Send + 'static,
{
    runtime.block_on(async {
        let start = Instant::now();
        let tasks: Vec<_> = shares.into_iter().map(|share| tokio::spawn(work(share))).collect();
        let mut done = 0;
        for task in tasks {
            done += task.await??;
        }
        Ok(done as f64 / start.elapsed().as_secs_f64())
    })
}

/// How much all threads together do in a second. Each takes its share and says how much it did.
pub(super) fn rate_of_threads<S: Send>(shares: Vec<S>, work: impl Fn(S) -> Result<usize> + Sync) -> Result<f64> {
    let start = Instant::now();
    let done = thread::scope(|scope| -> Result<usize> {
        let work = &work;
        let threads: Vec<_> = shares.into_iter().map(|share| scope.spawn(move || work(share))).collect();
        let mut done = 0;
        for thread in threads {
            done += thread.join().map_err(|_| "a writer panicked")??;
        }
        Ok(done)
    })?;
    Ok(done as f64 / start.elapsed().as_secs_f64())
}
