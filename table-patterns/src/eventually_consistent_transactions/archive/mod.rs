//! Moving entities from one table to another.
//!
//! Steps for an entity, after the message was sent:
//!
//! 1. read the archive's row, then the current row, then the fence that step 3 leaves;
//! 2. write the archive's row, if it is still what was read, with a mark that names the copied version;
//! 3. in one transaction of the current partition, delete the current row if it is still what was copied, and
//!    insert two *fences*: `~moved_MESSAGE` says that this message is done, `~moved_COPY` that this copy is final;
//! 4. turn the message into one that collects the fences after a grace period.
//!
//! An update between 1 and 3 fails the delete, and everything begins again with the update in it. A worker
//! that wakes up after its lease is over meets another ETag in 2 or 3, or the fence, and overwrites nothing.
//! A message that comes again after 3 finds its fence; so an entity that was created anew under the old key
//! stays where it is. The fence is read last, since a fence that is not there says that what was read
//! before has not been moved yet.
//!
//! Where there is nothing to move, a *tombstone* in the archive says so for the grace period, since a late worker may
//! still come with a copy. So an entity that is deleted by hand between 2 and 3 is not archived: its copy becomes a
//! tombstone, unless it has taken the place of an older archived row. The fence of the copy tells this from an entity
//! that another message has moved. Typed reads see neither fences nor tombstones.

mod attempt;
mod mark;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use table_core::{ETag, EntityKey, Key, Result, Table, Unindexed};

use super::item::WorkItem;
use super::mover::{Mover, MoverBuilder};
use attempt::{Move, collect, collect_tombstone};

/// Where entities are moved from and to.
///
/// ```
/// use std::sync::Arc;
/// use table_core::{Entity, MemoryStore, Table};
/// use table_patterns::eventually_consistent_transactions::{Archive, Mover};
///
/// #[derive(Entity, Clone, Debug, PartialEq)]
/// #[entity(partition = "{department}", row = "empid_{id:06}")]
/// struct Employee {
///     department: String,
///     id: u32,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let store = Arc::new(MemoryStore::new());
/// let (current, archive) = (Table::new(store.clone(), "Current")?, Table::new(store.clone(), "Archive")?);
/// current.create().await?;
/// archive.create().await?;
/// let mover = Mover::builder(store, "moves")?.archive(Archive::new(current.clone(), archive.clone())).build().await?;
///
/// current.insert(&Employee { department: "Sales".into(), id: 7 }).await?;
/// mover.archive(&current, Employee::key("Sales", 7)).await?;
/// mover.run_due().await?;
/// assert!(current.get(Employee::key("Sales", 7)).await?.is_none());
/// assert!(archive.get(Employee::key("Sales", 7)).await?.is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Archive {
    /// The table that holds current entities.
    pub current: Table,
    /// The table that holds archived ones, under the same keys.
    pub archive: Table,
    /// How long a fence stays after its move: longer than any worker can be late.
    pub grace: Duration,
}

impl Archive {
    /// An archive whose fences stay for a day.
    #[must_use]
    pub const fn new(current: Table, archive: Table) -> Self {
        Self { current, archive, grace: Duration::from_secs(24 * 60 * 60) }
    }

    /// Keeps fences for another time.
    #[must_use]
    pub const fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }
}

/// An entity is to be archived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ArchiveEntity {
    table: String,
    key: EntityKey,
}

impl WorkItem for ArchiveEntity {
    const KIND: &'static str = "table-patterns/archive";

    fn scope(&self) -> &str {
        &self.table
    }
}

/// The fences of a move are to be removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct CollectFences {
    table: String,
    /// The entity that was moved.
    key: EntityKey,
    /// The copy that it was moved as.
    copy: String,
}

impl WorkItem for CollectFences {
    const KIND: &'static str = "table-patterns/collect-fences";

    fn scope(&self) -> &str {
        &self.table
    }
}

/// A tombstone in the archive is to be removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct CollectTombstone {
    table: String,
    key: EntityKey,
    /// Its version.
    etag: ETag,
}

impl WorkItem for CollectTombstone {
    const KIND: &'static str = "table-patterns/collect-tombstone";

    fn scope(&self) -> &str {
        &self.table
    }
}

impl MoverBuilder {
    /// Moves entities between these two tables when [`Mover::archive`] asks for it.
    #[must_use]
    pub fn archive(self, archive: Archive) -> Self {
        let archive = Arc::new(archive);
        let name = archive.current.name().as_str().to_owned();
        let (moving, clearing) = (Arc::clone(&archive), Arc::clone(&archive));
        self.on_scope::<ArchiveEntity, _, _>(&name, move |item, delivery| {
            let archive = Arc::clone(&moving);
            async move { Move { archive: &archive, key: item.key, delivery: &delivery }.run().await }
        })
        .on_scope::<CollectFences, _, _>(&name, move |item, delivery| {
            let archive = Arc::clone(&archive);
            async move { collect(&archive, item, &delivery).await }
        })
        .on_scope::<CollectTombstone, _, _>(&name, move |item, delivery| {
            let archive = Arc::clone(&clearing);
            async move { delivery.step("collect the tombstone", collect_tombstone(&archive, item)).await }
        })
    }
}

impl Mover {
    /// Moves an entity to the archive of its table, some time soon.
    ///
    /// # Errors
    /// [`InvalidKey`](table_core::ErrorKind::InvalidKey) for a key that does not fit, and those of [`Mover::send`].
    pub async fn archive<E: Unindexed>(&self, current: &Table, key: Key<E>) -> Result<()> {
        let item = ArchiveEntity { table: current.name().as_str().to_owned(), key: key.resolve()? };
        self.send(&item).await.map(|_| ())
    }
}
