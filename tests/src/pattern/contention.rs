//! Many tasks on the same rows.

use std::time::Duration;

use table_core::layer::{Fault, FaultOptions, FaultPlan};
use table_core::{Result, Table};
use table_patterns::UpdateOptions;

use super::{TestStore, behind};

/// A loop that gives up after three attempts, without waits: those have tests of their own.
#[must_use]
pub fn three_attempts() -> UpdateOptions {
    UpdateOptions::default().with_attempts(3).with_first_wait(Duration::ZERO)
}

/// How many tasks work on the same rows.
pub const TASKS: u32 = 16;

/// Runs a task sixteen times side by side on a new table, with store calls that take a random while
/// so that the tasks get into each other's way. The table that comes back is without delays.
///
/// # Panics
/// Where a task fails.
pub async fn contend<F>(store: &TestStore, prepare: impl AsyncFnOnce(Table), work: impl Fn(u32, Table) -> F) -> Table
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    let delays = FaultOptions::default().with_latency(Duration::ZERO..=Duration::from_millis(1)).with_seed(7);
    let table = store.table().await;
    prepare(table.clone()).await;
    let slow = Fault::new(table.store().clone(), FaultPlan::new(delays));
    let slow = behind(&table, slow);
    let tasks: Vec<_> = (0..TASKS).map(|task| tokio::spawn(work(task, slow.clone()))).collect();
    for (number, task) in tasks.into_iter().enumerate() {
        match task.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => panic!("task {number} on {}: {error}", store.name),
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        }
    }
    table
}
