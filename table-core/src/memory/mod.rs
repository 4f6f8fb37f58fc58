//! Stores in memory, faithful to the documented service.
//!
//! [`MemoryStore`] keeps tables and queues and loses them with its last clone. It keeps every
//! guarantee of `docs/store-contract.md`, so what passes on it is not excused by it.
//!
//! The invariant: whatever can fail is checked before the first change, under the lock that the
//! change is made under. So a transaction needs no undo, and a lock is never left over a half-made
//! change. Readers share a table's lock and hold it to gather pointers, not to copy rows.

mod queue;
mod queues;
mod rows;
mod scan;
mod stamps;
mod tables;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::clock::{Clock, SystemClock};
use crate::names::{QueueName, TableName};
use queue::Queue;
use rows::Rows;
use stamps::Stamps;

/// A store of tables and queues in memory, for tests and for data that may be lost.
///
/// Clones share one content, so a clone is cheap and a test can look into what it handed out.
///
/// ```
/// use table_core::{Action, DynamicEntity, EntityKey, MemoryStore, Operation, TableName, TableStore};
/// use table_core::store::Selection;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let store = MemoryStore::new();
/// let employees = TableName::new("Employees")?;
/// store.create_table(&employees).await?;
///
/// let key = EntityKey::parse("Marketing", "00001")?;
/// let don = DynamicEntity::new(key.clone()).with("FirstName", "Don")?;
/// let written = store.write(&employees, Operation::new(Action::Insert(don))?).await?;
///
/// let read = store.get(&employees, &key, &Selection::All).await?.expect("the row was written");
/// assert_eq!(read.etag, written.etag);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct MemoryStore {
    shared: Arc<Shared>,
}

/// What all clones share. A lock on a map is held only to look a table or queue up.
struct Shared {
    stamps: Stamps,
    tables: RwLock<BTreeMap<TableName, Arc<RwLock<Rows>>>>,
    queues: RwLock<BTreeMap<QueueName, Arc<RwLock<Queue>>>>,
}

impl MemoryStore {
    /// An empty store on the machine's clock.
    #[must_use]
    pub fn new() -> Self {
        Self::with_clock(Arc::new(SystemClock))
    }

    /// An empty store on this clock, which decides on timestamps, visibility and expiry.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::Duration;
    /// use table_core::store::{ReceiveOptions, SendOptions};
    /// use table_core::{ManualClock, MemoryStore, QueueName, QueueStore, Timestamp};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> table_core::Result<()> {
    /// let clock = Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH));
    /// let store = MemoryStore::with_clock(clock.clone());
    /// let queue = QueueName::new("archive")?;
    /// store.create_queue(&queue).await?;
    ///
    /// let later = SendOptions::default().with_delay(Duration::from_secs(30));
    /// store.send(&queue, "employee 223".into(), later).await?;
    /// assert!(store.receive(&queue, ReceiveOptions::default()).await?.is_empty());
    ///
    /// clock.advance(Duration::from_secs(30));
    /// assert_eq!(store.receive(&queue, ReceiveOptions::default()).await?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_clock(clock: Arc<dyn Clock>) -> Self {
        let shared = Shared { stamps: Stamps::new(clock), tables: RwLock::default(), queues: RwLock::default() };
        Self { shared: Arc::new(shared) }
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

/// Names what is there, and none of the content.
impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("tables", &read(&self.shared.tables).keys())
            .field("queues", &read(&self.shared.queues).keys())
            .finish_non_exhaustive()
    }
}

/// Locks for reading.
///
/// A panic under a lock leaves no half-made change (see the module), so a poisoned lock is as good
/// as any other, and one failed test task does not take the store from the rest.
fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// Locks for writing; see [`read`].
fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
