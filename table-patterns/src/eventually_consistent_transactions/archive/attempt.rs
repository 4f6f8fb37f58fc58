//! One delivery of a move, attempt by attempt.

use table_core::store::Selection;
use table_core::{
    Action, DynamicEntity, ETag, EntityKey, Error, ErrorKind, IfMatch, Operation, Result, RowKey, Table, Transaction,
    Value, Written, reserved,
};

use super::mark::Mark;
use super::{Archive, CollectFences, CollectTombstone};
use crate::attempts::is_conflict;
use crate::eventually_consistent_transactions::delivery::{Delivery, Next};
use crate::eventually_consistent_transactions::item::Outgoing;

/// What the row key of a fence begins with.
const FENCE_PREFIX: &str = "~moved_";
/// Attempts within one delivery when others write to the same rows.
const MOST_ATTEMPTS: u32 = 10;

/// One delivery of a move.
pub(super) struct Move<'a> {
    pub(super) archive: &'a Archive,
    pub(super) key: EntityKey,
    pub(super) delivery: &'a Delivery,
}

/// How one attempt ended.
enum Attempt {
    /// The entity is moved, or there is nothing to move.
    Settled(Next),
    /// Somebody wrote to one of the rows in between.
    Again,
}

impl Move<'_> {
    pub(super) async fn run(&self) -> Result<Next> {
        for _ in 0..MOST_ATTEMPTS {
            if let Attempt::Settled(next) = self.attempt().await? {
                return Ok(next);
            }
        }
        Err(contention("the entity changed again and again while it was moved", &self.key))
    }

    async fn attempt(&self) -> Result<Attempt> {
        let Archive { current, archive, .. } = self.archive;
        let ours = fence_key(&self.key, self.delivery.id())?;
        let (archived, found, fenced) = self
            .delivery
            .step("read", async {
                // The target first: whoever writes to it after this makes the copy fail. The fence last:
                // while it is not there, what was read before it has not been moved by this message.
                let archived = get(archive, &self.key).await?;
                let found = get(current, &self.key).await?;
                Ok((archived, found, get(current, &ours).await?))
            })
            .await?;
        if let Some(fence) = fenced {
            let copy = fence.get("Copy").and_then(Value::as_str).unwrap_or_default();
            return self.collect_later(copy).map(Attempt::Settled);
        }
        if let Some((row, etag)) = archived.as_ref().and_then(|row| row.etag.clone().map(|etag| (row, etag)))
            && self.is_settled_by(row)
        {
            return self.collect_tombstone(etag).map(Attempt::Settled);
        }
        let Some(found) = found else {
            return self.nothing_there(archived).await;
        };
        let mark = Mark::new(self.delivery.id(), &found, archived.as_ref().filter(|row| !is_tombstone(row)));
        match self.delivery.step("copy to the archive", self.copy(&found, archived, &mark)).await {
            Err(error) if is_conflict(&error) => return Ok(Attempt::Again),
            result => result?,
        }
        match self.delivery.step("delete from the current table", self.delete(&found, &mark)).await {
            Ok(()) => self.collect_later(&mark.copy).map(Attempt::Settled),
            Err(error) if is_conflict(&error) => Ok(Attempt::Again),
            Err(error) => Err(error),
        }
    }

    /// Writes the archive's row if it is still what was read; and always, even if it looks right, since the
    /// write is what stops whoever would take that copy back.
    async fn copy(&self, found: &DynamicEntity, archived: Option<DynamicEntity>, mark: &Mark) -> Result<()> {
        let mut row = DynamicEntity::new(self.key.clone());
        row.properties = found.properties.clone();
        row.properties.insert(reserved::ROW_TOKEN, mark.value());
        let action = match archived.and_then(|archived| archived.etag) {
            None => Action::Insert(row),
            Some(etag) => Action::Replace(row, IfMatch::Version(etag)),
        };
        write(&self.archive.archive, action).await.map(|_| ())
    }

    /// Deletes the current row if it is still what was copied, and puts the fences in its partition.
    async fn delete(&self, found: &DynamicEntity, mark: &Mark) -> Result<()> {
        let copied = found.etag.clone().ok_or_else(|| Error::corrupted("the store gave a row without an ETag"))?;
        let transaction = Transaction::new(vec![
            Operation::new(Action::Delete(self.key.clone(), IfMatch::Version(copied)))?,
            self.fence(self.delivery.id(), &mark.copy)?,
            self.fence(&mark.copy, &mark.copy)?,
        ])?;
        let Archive { current, .. } = self.archive;
        current.store().transact(current.name(), transaction).await.map(|_| ())
    }

    /// Says that a message is done, or that a copied version was moved.
    fn fence(&self, of: &str, copy: &str) -> Result<Operation> {
        let mut row = DynamicEntity::new(fence_key(&self.key, of)?);
        row.properties.insert(reserved::ROW_KIND, Value::from(reserved::FENCE_KIND));
        row.properties.insert(reserved::ROW_TOKEN, Value::from(uuid::Uuid::new_v4().to_string()));
        row.set("Copy", copy)?;
        Operation::new(Action::Insert(row))
    }

    /// The entity is gone, and this message has not moved it: it is settled by a write to the archive's row, which
    /// stops whoever is late with a copy. A copy that nobody has moved goes with it.
    async fn nothing_there(&self, archived: Option<DynamicEntity>) -> Result<Attempt> {
        let action = match archived.map(|row| (row.etag.clone(), row)) {
            None => Action::Insert(self.tombstone()?),
            Some((None, _)) => return Err(Error::corrupted("the store gave a row without an ETag")),
            Some((Some(etag), row)) if is_tombstone(&row) || self.is_taken_back(&row).await? => {
                Action::Replace(self.tombstone()?, IfMatch::Version(etag))
            }
            // What others have archived stays as it is, but for its version.
            Some((Some(etag), _)) => Action::Merge(DynamicEntity::new(self.key.clone()), IfMatch::Version(etag)),
        };
        let is_tombstone = action.entity().is_some_and(is_tombstone);
        match self.delivery.step("settle that there is nothing", write(&self.archive.archive, action)).await {
            Ok(Written { etag: Some(etag) }) if is_tombstone => self.collect_tombstone(etag).map(Attempt::Settled),
            Ok(_) => Ok(Attempt::Settled(Next::Done)),
            Err(error) if is_conflict(&error) => Ok(Attempt::Again),
            Err(error) => Err(error),
        }
    }

    /// Whether a row of the archive is this message's copy of what was deleted by hand, and not by a move.
    async fn is_taken_back(&self, archived: &DynamicEntity) -> Result<bool> {
        let Some(mark) = Mark::of(archived) else { return Ok(false) };
        if mark.message != self.delivery.id() || mark.replaces {
            return Ok(false);
        }
        let moved = fence_key(&self.key, &mark.copy)?;
        let moved = self.delivery.step("look who moved it", get(&self.archive.current, &moved)).await?;
        Ok(moved.is_none())
    }

    fn tombstone(&self) -> Result<DynamicEntity> {
        let mut row = DynamicEntity::new(self.key.clone());
        row.properties.insert(reserved::ROW_KIND, Value::from(reserved::TOMBSTONE_KIND));
        row.properties.insert(reserved::ROW_TOKEN, Value::from(uuid::Uuid::new_v4().to_string()));
        row.set("Message", self.delivery.id())?;
        Ok(row)
    }

    /// Whether this message was settled by another worker, who found nothing to move.
    fn is_settled_by(&self, archived: &DynamicEntity) -> bool {
        is_tombstone(archived) && archived.get("Message").and_then(Value::as_str) == Some(self.delivery.id())
    }

    fn collect_tombstone(&self, etag: ETag) -> Result<Next> {
        let table = self.archive.current.name().as_str().to_owned();
        let item = CollectTombstone { table, key: self.key.clone(), etag };
        Ok(Next::Become(Outgoing::of(&item)?, self.archive.grace))
    }

    fn collect_later(&self, copy: &str) -> Result<Next> {
        let table = self.archive.current.name().as_str().to_owned();
        let item = CollectFences { table, key: self.key.clone(), copy: copy.to_owned() };
        Ok(Next::Become(Outgoing::of(&item)?, self.archive.grace))
    }
}

/// Removes a tombstone that has stood for the grace period. A later one, whose own message may be gone, has a
/// grace period of its own.
pub(super) async fn collect_tombstone(archive: &Archive, item: CollectTombstone) -> Result<Next> {
    match write(&archive.archive, Action::Delete(item.key.clone(), IfMatch::Version(item.etag.clone()))).await {
        Err(error) if !is_conflict(&error) => return Err(error),
        _ => {}
    }
    let later = get(&archive.archive, &item.key).await?.filter(is_tombstone).and_then(|row| row.etag);
    match later {
        Some(etag) => Ok(Next::Become(Outgoing::of(&CollectTombstone { etag, ..item })?, archive.grace)),
        None => Ok(Next::Done),
    }
}

/// Removes the fences of a move that is long done.
pub(super) async fn collect(archive: &Archive, item: CollectFences, delivery: &Delivery) -> Result<Next> {
    delivery.step("settle the copy", settle(archive, &item, delivery.id())).await?;
    for of in [delivery.id(), &item.copy] {
        let fence = fence_key(&item.key, of)?;
        match write(&archive.current, Action::Delete(fence, IfMatch::Any)).await {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(Next::Done)
}

/// Takes the mark off a copy that another message believes to be its own: without the fence that message
/// could no longer learn that the copy is final.
async fn settle(archive: &Archive, item: &CollectFences, message: &str) -> Result<()> {
    for _ in 0..MOST_ATTEMPTS {
        let Some(mut row) = get(&archive.archive, &item.key).await? else { return Ok(()) };
        let (Some(mark), Some(etag)) = (Mark::of(&row), row.etag.take()) else { return Ok(()) };
        if mark.copy != item.copy || mark.message == message {
            return Ok(());
        }
        row.properties.insert(reserved::ROW_TOKEN, Value::from(uuid::Uuid::new_v4().to_string()));
        match write(&archive.archive, Action::Replace(row, IfMatch::Version(etag))).await {
            Err(error) if is_conflict(&error) => {}
            result => return result.map(|_| ()),
        }
    }
    Err(contention("the archived entity changed again and again", &item.key))
}

fn fence_key(entity: &EntityKey, of: &str) -> Result<EntityKey> {
    Ok(EntityKey::new(entity.partition.clone(), RowKey::new(format!("{FENCE_PREFIX}{of}"))?))
}

async fn get(table: &Table, key: &EntityKey) -> Result<Option<DynamicEntity>> {
    table.store().get(table.name(), key, &Selection::All).await
}

async fn write(table: &Table, action: Action) -> Result<Written> {
    table.store().write(table.name(), Operation::new(action)?).await
}

fn is_tombstone(row: &DynamicEntity) -> bool {
    row.get(reserved::ROW_KIND.as_str()).and_then(Value::as_str) == Some(reserved::TOMBSTONE_KIND)
}

fn contention(message: &str, key: &EntityKey) -> Error {
    Error::new(ErrorKind::Contention, message).with_key(key.clone())
}
