//! Counting what a store is asked for: what a service bills, and where its load lies.

mod report;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use report::{MeterReport, MeteredPartition, Tally};

use super::around::around_every_call;
use super::call::{Answer, Call, Place};
use crate::error::Result;

/// How many partitions a meter tells apart unless told otherwise.
const DEFAULT_PARTITIONS: usize = 1000;

/// A layer that counts storage transactions, entities and bytes, by operation and by partition.
///
/// Each call is one storage transaction, as the service bills it, a transaction of a hundred
/// operations included. Clones share their counters.
///
/// ```
/// use table_core::layer::Meter;
/// use table_core::{Action, DynamicEntity, EntityKey, MemoryStore, Operation, TableName, TableStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let store = Meter::new(MemoryStore::new());
/// let employees = TableName::new("Employees")?;
/// store.create_table(&employees).await?;
///
/// let before = store.report();
/// let don = DynamicEntity::new(EntityKey::parse("Marketing", "00001")?).with("FirstName", "Don")?;
/// store.write(&employees, Operation::new(Action::Insert(don))?).await?;
///
/// let cost = store.report() - before;
/// assert_eq!(cost.total().transactions, 1);
/// assert_eq!(cost.operation("insert").entities_written, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Meter<S> {
    inner: S,
    counters: Arc<Counters>,
}

#[derive(Debug)]
struct Counters {
    most_partitions: usize,
    report: Mutex<MeterReport>,
}

impl Counters {
    fn new(most_partitions: usize) -> Arc<Self> {
        Arc::new(Self { most_partitions, report: Mutex::default() })
    }

    /// The counts are whole between any two statements, so a panic elsewhere does not spoil them.
    fn lock(&self) -> MutexGuard<'_, MeterReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, call: &Call, tally: &Tally) {
        let partition = match (&call.place, &call.partition) {
            (Place::Table(table), Some(partition)) => {
                Some(MeteredPartition { table: table.clone(), partition: partition.clone() })
            }
            _ => None,
        };
        self.lock().add(call.operation, partition, tally, self.most_partitions);
    }
}

impl<S> Meter<S> {
    /// Counts the calls to a store.
    #[must_use]
    pub fn new(inner: S) -> Self {
        Self { inner, counters: Counters::new(DEFAULT_PARTITIONS) }
    }

    /// Tells at most so many partitions apart, with new counters.
    ///
    /// The partitions that come later are counted together, so that a meter never grows without bound.
    #[must_use]
    pub fn with_most_partitions(mut self, partitions: usize) -> Self {
        self.counters = Counters::new(partitions);
        self
    }

    /// What was counted so far.
    #[must_use]
    pub fn report(&self) -> MeterReport {
        self.counters.lock().clone()
    }

    /// Starts again from zero, for all clones.
    pub fn reset(&self) {
        *self.counters.lock() = MeterReport::default();
    }

    async fn around<T: Answer>(&self, call: Call, work: impl Future<Output = Result<T>> + Send) -> Result<T> {
        // The request is counted before its answer, so that a call given up halfway counts too.
        self.counters.add(&call, &Tally { transactions: 1, ..Tally::default() });
        let result = work.await;
        let tally = match &result {
            Err(_) => Tally { failures: 1, ..Tally::default() },
            Ok(answer) => {
                let received = answer.received();
                Tally {
                    entities_read: received.entities,
                    bytes_read: received.bytes,
                    entities_written: call.sent.entities,
                    bytes_written: call.sent.bytes,
                    ..Tally::default()
                }
            }
        };
        self.counters.add(&call, &tally);
        result
    }
}

around_every_call!(Meter);

#[cfg(test)]
mod tests;
