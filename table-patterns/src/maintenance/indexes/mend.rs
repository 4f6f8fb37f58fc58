//! Writing what an entity says into one row of an index: the row is read, then the entity, then written if both
//! are still so.

use table_core::{
    Action, DynamicEntity, Entity, EntityKey, Error, IfMatch, Operation, Result, Timestamp, Transaction, Versioned,
};

use super::judge::{Holder, Spot};
use super::{Finding, Indexes};
use crate::intent::{Age, is_conflict, rows};
use crate::inter_partition_secondary_index::{Found, Place};
use crate::maintenance::marks::Mark;
use crate::rows::marked;

/// What became of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    /// It is written.
    Written,
    /// It was right.
    Right,
    /// It is another's, and left alone.
    Taken,
    /// A change is on its way, and will write it.
    InFlight,
}

impl<E: Entity> Indexes<'_, E> {
    /// Makes a copy what its entity says.
    pub(super) async fn set(&self, spot: &Spot, source: &EntityKey) -> Result<Done> {
        let mut attempts = self.0.options().begin();
        loop {
            let age = Age::begin();
            let stored = self.stored(&spot.place).await?;
            let entity = self.entity(source).await?;
            let copy = self.copy_at(entity.as_ref(), spot)?;
            let holder = self.holder(spot, stored.as_ref(), source);
            match (&copy, holder) {
                (Some(copy), Holder::Mine) if stored.as_ref().is_some_and(|stored| rows::is_as(stored, copy)) => {
                    return Ok(Done::Right);
                }
                (Some(_), Holder::Other(_)) => return Ok(Done::Taken),
                // Its writer would commit a value that is free for others by then.
                (None, Holder::MyClaim) => return Ok(Done::InFlight),
                (None, Holder::Nobody | Holder::Other(_)) => return Ok(Done::Right),
                (Some(_), Holder::Mine | Holder::Nobody | Holder::MyClaim) | (None, Holder::Mine) => {}
            }
            let written = if spot.is_local {
                self.set_local(&spot.place, copy, stored, entity).await?
            } else {
                let row = copy.map_or_else(|| self.tombstone(&spot.place, source), marked);
                self.0.write_row(&spot.place, row, &Found::of(stored), age).await?.is_some()
            };
            if written {
                return Ok(Done::Written);
            }
            let changed = Error::precondition_failed("the row or its entity changed while the row was repaired");
            attempts.after(spot.place.at(changed), true).await?;
        }
    }

    fn tombstone(&self, place: &Place, source: &EntityKey) -> DynamicEntity {
        rows::tombstone(&place.key, &rows::owner(self.table(), source))
    }

    /// Writes or removes a copy in the partition of its entity. A copy that was not there has no version by which
    /// the write could be refused; so the entity is touched in the same transaction, if it is still so.
    async fn set_local(
        &self,
        place: &Place,
        copy: Option<DynamicEntity>,
        stored: Option<DynamicEntity>,
        entity: Option<Versioned<E>>,
    ) -> Result<bool> {
        let version = stored.and_then(|stored| stored.etag).map(IfMatch::Version);
        let operations = match (copy, entity, version) {
            (Some(copy), Some(entity), version) => {
                let touch = marked(DynamicEntity::new(entity.key().clone()));
                let put = match version {
                    None => Action::Insert(copy),
                    Some(version) => Action::Replace(copy, version),
                };
                vec![Action::Merge(touch, IfMatch::Version(entity.etag().clone())), put]
            }
            (None, _, Some(version)) => vec![Action::Delete(place.key.clone(), version)],
            _ => return Ok(true),
        };
        let operations = operations.into_iter().map(Operation::new).collect::<Result<_>>()?;
        let transaction = Transaction::new(operations)?;
        match self.table().store().transact(self.table().name(), transaction).await {
            Ok(_) => Ok(true),
            Err(error) if is_conflict(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes a row of the protocol that nobody comes for any more, and says whether it is gone.
    pub(super) async fn clear(&self, finding: &Finding, now: Timestamp) -> Result<bool> {
        let place = Place { index: finding.copy.clone(), table: finding.table.clone(), key: finding.key.clone() };
        let Some(row) = self.stored(&place).await? else { return Ok(true) };
        let (Some(mark), Some(source)) = (Mark::of(&row), &finding.source) else { return Ok(false) };
        if !self.is_overdue(&row, now) {
            return Ok(false);
        }
        let entity = self.entity(source).await?;
        match mark {
            Mark::Claim if self.holds(entity.as_ref(), &place)? => Ok(false),
            Mark::Claim => {
                let tombstone = self.tombstone(&place, source);
                let written = self.0.write_row(&place, tombstone, &Found::of(Some(row)), Age::begin()).await?;
                Ok(written.is_some())
            }
            Mark::Intent => {
                // Its message is lost. Rows of keys that the entity has left are found where they stand.
                let spots = entity.map_or_else(|| Ok(Vec::new()), |entity| self.spots(entity.value()))?;
                for (spot, _) in spots {
                    self.set(&spot, source).await?;
                }
                self.remove(&place, row).await
            }
            Mark::Tombstone | Mark::Fence => self.remove(&place, row).await,
        }
    }

    /// Whether an entity has a copy at a place, in any index.
    pub(super) fn holds(&self, entity: Option<&Versioned<E>>, place: &Place) -> Result<bool> {
        let Some(entity) = entity else { return Ok(false) };
        Ok(self.spots(entity.value())?.iter().any(|(spot, _)| spot.place.is(place)))
    }

    async fn remove(&self, place: &Place, row: DynamicEntity) -> Result<bool> {
        let Some(etag) = row.etag else { return Ok(false) };
        let remove = Operation::new(Action::Delete(place.key.clone(), IfMatch::Version(etag)))?;
        match self.table().store().write(&place.table, remove).await {
            Ok(_) => Ok(true),
            Err(error) if is_conflict(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
