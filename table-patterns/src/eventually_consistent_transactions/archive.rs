//! Moving entities from one table to another.
//!
//! Steps for an entity, after the message was sent:
//!
//! 1. read the archive's row, then the current row, then the fence that step 3 leaves;
//! 2. write the archive's row, if it is still what was read;
//! 3. in one transaction of the current partition, delete the current row if it is still what was copied, and
//!    insert a *fence* `~moved_ID` that says that this message is done;
//! 4. turn the message into one that collects the fence after a grace period.
//!
//! An update between 1 and 3 fails the delete, and everything begins again with the update in it. A worker
//! that wakes up after its lease is over meets another ETag in 2 or 3, or the fence, and overwrites nothing.
//! A message that comes again after 3 finds the fence; so an entity that was created anew under the old key
//! stays where it is. The fence is read last, since a fence that is not there says that what was read
//! before has not been moved yet.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use table_core::store::Selection;
use table_core::{
    Action, DynamicEntity, EntityKey, Error, ErrorKind, IfMatch, Key, Operation, Result, RowKey, Table, Transaction,
    Unindexed, Value, reserved,
};

use super::delivery::{Delivery, Next};
use super::item::{Outgoing, WorkItem};
use super::mover::{Mover, MoverBuilder};

/// What the row key of a fence begins with.
const FENCE_PREFIX: &str = "~moved_";
/// What marks a fence.
const FENCE_KIND: &str = "fence";
/// Attempts within one delivery when others write to the same rows.
const MOST_ATTEMPTS: u32 = 10;

/// Where entities are moved from and to.
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

/// A fence is to be removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct CollectFence {
    table: String,
    key: EntityKey,
}

impl WorkItem for CollectFence {
    const KIND: &'static str = "table-patterns/collect-fence";

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
        let moving = Arc::clone(&archive);
        self.on_scope::<ArchiveEntity, _, _>(&name, move |item, delivery| {
            let archive = Arc::clone(&moving);
            async move { Move { archive: &archive, key: item.key, delivery: &delivery }.run().await }
        })
        .on_scope::<CollectFence, _, _>(&name, move |item, delivery| {
            let archive = Arc::clone(&archive);
            async move { delivery.step("collect the fence", collect(&archive.current, item.key)).await }
        })
    }
}

impl Mover {
    /// Moves an entity to the archive of its table, some time soon.
    ///
    /// # Errors
    /// [`InvalidKey`](ErrorKind::InvalidKey) for a key that does not fit, and those of [`Mover::send`].
    pub async fn archive<E: Unindexed>(&self, current: &Table, key: Key<E>) -> Result<()> {
        let item = ArchiveEntity { table: current.name().as_str().to_owned(), key: key.resolve()? };
        self.send(&item).await.map(|_| ())
    }
}

/// One delivery of a move.
struct Move<'a> {
    archive: &'a Archive,
    key: EntityKey,
    delivery: &'a Delivery,
}

/// How one attempt at a move ended.
enum Attempt {
    /// The entity is moved, or there is nothing to move.
    Settled(Next),
    /// Somebody wrote to one of the rows in between.
    Again,
}

impl Move<'_> {
    async fn run(&self) -> Result<Next> {
        let fence = self.fence_key()?;
        for _ in 0..MOST_ATTEMPTS {
            if let Attempt::Settled(next) = self.attempt(&fence).await? {
                return Ok(next);
            }
        }
        Err(Error::new(ErrorKind::Contention, "the entity changed again and again while it was moved")
            .with_key(self.key.clone()))
    }

    async fn attempt(&self, fence: &EntityKey) -> Result<Attempt> {
        let Archive { current, archive, .. } = self.archive;
        let (archived, found, fenced) = self
            .delivery
            .step("read", async {
                // The target first: whoever writes to it after this makes the copy fail. The fence last:
                // while it is not there, what was read before it has not been moved by this message.
                let archived = get(archive, &self.key).await?;
                let found = get(current, &self.key).await?;
                Ok((archived, found, get(current, fence).await?))
            })
            .await?;
        if fenced.is_some() {
            return self.collect_later(fence.clone()).map(Attempt::Settled);
        }
        let Some(found) = found else {
            return self.nothing_there(archived).await;
        };
        match self.delivery.step("copy to the archive", self.copy(&found, archived)).await {
            Err(error) if is_conflict(&error) => return Ok(Attempt::Again),
            result => result?,
        }
        match self.delivery.step("delete from the current table", self.delete(&found, fence)).await {
            Ok(()) => self.collect_later(fence.clone()).map(Attempt::Settled),
            // The fence is there: another worker was faster.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                self.collect_later(fence.clone()).map(Attempt::Settled)
            }
            Err(error) if is_conflict(&error) => Ok(Attempt::Again),
            Err(error) => Err(error),
        }
    }

    /// Writes the archive's row if it is still what was read.
    async fn copy(&self, found: &DynamicEntity, archived: Option<DynamicEntity>) -> Result<()> {
        let mut row = DynamicEntity::new(self.key.clone());
        row.properties = found.properties.clone();
        row.properties.insert(reserved::ROW_TOKEN, Value::from(self.delivery.id()));
        let action = match archived.and_then(|archived| archived.etag) {
            None => Action::Insert(row),
            Some(etag) => Action::Replace(row, IfMatch::Version(etag)),
        };
        write(&self.archive.archive, action).await
    }

    /// Deletes the current row if it is still what was copied, and puts the fence in its partition.
    async fn delete(&self, found: &DynamicEntity, fence: &EntityKey) -> Result<()> {
        let copied = found.etag.clone().ok_or_else(|| Error::corrupted("the store gave a row without an ETag"))?;
        let mut row = DynamicEntity::new(fence.clone());
        row.properties.insert(reserved::ROW_KIND, Value::from(FENCE_KIND));
        row.properties.insert(reserved::ROW_TOKEN, Value::from(uuid::Uuid::new_v4().to_string()));
        let transaction = Transaction::new(vec![
            Operation::new(Action::Delete(self.key.clone(), IfMatch::Version(copied)))?,
            Operation::new(Action::Insert(row))?,
        ])?;
        let Archive { current, .. } = self.archive;
        current.store().transact(current.name(), transaction).await.map(|_| ())
    }

    /// The entity is gone, and this message has not moved it. If it was deleted after the copy was made,
    /// the copy goes too.
    async fn nothing_there(&self, archived: Option<DynamicEntity>) -> Result<Attempt> {
        let token = archived.as_ref().and_then(|row| row.get(reserved::ROW_TOKEN.as_str())).and_then(Value::as_str);
        let ours = token == Some(self.delivery.id());
        let Some(etag) = archived.as_ref().and_then(|row| row.etag.clone()).filter(|_| ours) else {
            return Ok(Attempt::Settled(Next::Done));
        };
        let undo = write(&self.archive.archive, Action::Delete(self.key.clone(), IfMatch::Version(etag)));
        match self.delivery.step("take the copy back", undo).await {
            Ok(()) => Ok(Attempt::Settled(Next::Done)),
            Err(error) if is_conflict(&error) => Ok(Attempt::Again),
            Err(error) => Err(error),
        }
    }

    fn fence_key(&self) -> Result<EntityKey> {
        Ok(EntityKey::new(self.key.partition.clone(), RowKey::new(format!("{FENCE_PREFIX}{}", self.delivery.id()))?))
    }

    fn collect_later(&self, fence: EntityKey) -> Result<Next> {
        let item = CollectFence { table: self.archive.current.name().as_str().to_owned(), key: fence };
        Ok(Next::Become(Outgoing::of(&item)?, self.archive.grace))
    }
}

async fn collect(current: &Table, fence: EntityKey) -> Result<Next> {
    match write(current, Action::Delete(fence, IfMatch::Any)).await {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(Next::Done),
    }
}

async fn get(table: &Table, key: &EntityKey) -> Result<Option<DynamicEntity>> {
    table.store().get(table.name(), key, &Selection::All).await
}

async fn write(table: &Table, action: Action) -> Result<()> {
    table.store().write(table.name(), Operation::new(action)?).await.map(|_| ())
}

/// Whether somebody else was faster, so that reading again helps.
fn is_conflict(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::PreconditionFailed | ErrorKind::AlreadyExists | ErrorKind::NotFound)
}
