//! What is wrong with a row of an index, and whether that is only for a moment.

use std::time::Duration;

use table_core::store::Selection;
use table_core::{
    DynamicEntity, Entity, EntityKey, IndexSchema, Key, Result, Table, Timestamp, Value, Versioned, reserved,
};

use super::{Finding, Indexes, Wrong};
use crate::intent::{IntentOptions, rows};
use crate::inter_partition_secondary_index::Place;
use crate::maintenance::look::{Verdict, until_still};
use crate::maintenance::marks::{self, Mark, is_of_indexes};
use crate::rows::{fits_no_key, is_unreadable};

/// Where a copy of one index stands or should stand.
#[derive(Debug, Clone)]
pub(super) struct Spot {
    pub(super) position: usize,
    pub(super) is_local: bool,
    pub(super) place: Place,
}

/// Whose a row is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Holder {
    /// There is none, or a tombstone.
    Nobody,
    /// It is the copy of the entity in question.
    Mine,
    /// It is a claim of that entity.
    MyClaim,
    /// It is another's, where it tells whose.
    Other(Option<EntityKey>),
}

impl Spot {
    pub(super) fn new(table: &Table, position: usize, index: &IndexSchema, key: EntityKey) -> Result<Self> {
        let place = Place::new(table, index.name, index.table, key)?;
        Ok(Self { position, is_local: index.is_local(), place })
    }

    /// The spot that a finding names.
    pub(super) fn of_finding<E: Entity>(table: &Table, finding: &Finding) -> Result<Option<Self>> {
        let mut indexes = E::SCHEMA.indexes.iter().enumerate();
        let found = indexes.find(|(_, index)| index.name == finding.copy);
        found.map(|(position, index)| Self::new(table, position, index, finding.key.clone())).transpose()
    }

    pub(super) fn finding(&self, wrong: Wrong, source: Option<EntityKey>) -> Finding {
        let Place { index, table, key } = self.place.clone();
        Finding { wrong, copy: index, table, key, source }
    }
}

impl<E: Entity> Indexes<'_, E> {
    /// Where the copies of an entity stand, and what they are.
    pub(super) fn spots(&self, entity: &E) -> Result<Vec<(Spot, DynamicEntity)>> {
        let owner = rows::owner(self.table(), &entity.entity_key()?);
        let mut spots = Vec::with_capacity(E::SCHEMA.indexes.len());
        for (position, index) in E::SCHEMA.indexes.iter().enumerate() {
            let row = match entity.index_row(position) {
                // What another program wrote may fit no key; then it has no copy there.
                Err(error) if fits_no_key(&error) => None,
                row => row?,
            };
            let Some(row) = row else { continue };
            let spot = Spot::new(self.table(), position, index, row.key.clone())?;
            let row = if spot.is_local { row } else { rows::owned(row, &owner) };
            spots.push((spot, row));
        }
        Ok(spots)
    }

    /// The copy that an entity has at a spot.
    pub(super) fn copy_at(&self, entity: Option<&Versioned<E>>, spot: &Spot) -> Result<Option<DynamicEntity>> {
        let Some(entity) = entity else { return Ok(None) };
        let mut spots = self.spots(entity.value())?.into_iter();
        Ok(spots.find(|(each, _)| each.position == spot.position && each.place.is(&spot.place)).map(|(_, row)| row))
    }

    /// The index that a row is a copy of.
    pub(super) fn index_of(&self, table: &Table, row: &DynamicEntity) -> Option<(usize, &'static IndexSchema)> {
        let stands_here = |index: &IndexSchema| {
            index.table.map_or_else(
                || table.name() == self.table().name(),
                |name| table.name().as_str().eq_ignore_ascii_case(name),
            )
        };
        let mut indexes = E::SCHEMA.indexes.iter().enumerate();
        indexes.find(|(_, index)| stands_here(index) && E::SCHEMA.recognizes_copy(index, row))
    }

    /// The entity of this table that a copy of an index belongs to.
    pub(super) fn source_of(&self, position: usize, row: &DynamicEntity) -> Option<EntityKey> {
        match row.get(reserved::ROW_OWNER.as_str()).and_then(Value::as_str) {
            Some(owner) => rows::source(self.table(), owner),
            None => E::copy_source(position, row.clone()).ok(),
        }
    }

    pub(super) async fn stored(&self, place: &Place) -> Result<Option<DynamicEntity>> {
        self.table().store().get(&place.table, &place.key, &Selection::All).await
    }

    pub(super) async fn entity(&self, key: &EntityKey) -> Result<Option<Versioned<E>>> {
        self.table().get::<E>(Key::from(key.clone())).await
    }

    pub(super) fn holder(&self, spot: &Spot, stored: Option<&DynamicEntity>, source: &EntityKey) -> Holder {
        let Some(row) = stored else { return Holder::Nobody };
        let owner = match Mark::of(row) {
            Some(Mark::Tombstone) => return Holder::Nobody,
            Some(Mark::Claim) => {
                let owner = row.get(reserved::ROW_OWNER.as_str()).and_then(Value::as_str);
                owner.and_then(|owner| rows::source(self.table(), owner))
            }
            Some(Mark::Intent | Mark::Fence) => None,
            None => self.owner_at(spot, row),
        };
        match owner {
            Some(owner) if owner != *source => Holder::Other(Some(owner)),
            Some(_) if Mark::of(row).is_some() => Holder::MyClaim,
            Some(_) => Holder::Mine,
            None => Holder::Other(None),
        }
    }

    fn owner_at(&self, spot: &Spot, row: &DynamicEntity) -> Option<EntityKey> {
        let index = E::SCHEMA.indexes.get(spot.position)?;
        if E::SCHEMA.recognizes_copy(index, row) { self.source_of(spot.position, row) } else { None }
    }

    /// Looks at a copy until its source stands still, and says what is wrong with it.
    ///
    /// An intent is deleted after its index rows are written. So a row that is wrong when there is no intent any
    /// more is wrong for good, if the entity has not changed before and after.
    pub(super) async fn confirm(&self, spot: &Spot, source: &EntityKey, now: Timestamp) -> Result<Verdict> {
        until_still(|| self.look(spot, source, now)).await
    }

    async fn look(&self, spot: &Spot, source: &EntityKey, now: Timestamp) -> Result<Option<Verdict>> {
        let entity = self.entity(source).await?;
        if !spot.is_local && self.has_intent(source, now).await? {
            return Ok(Some(Verdict::InFlight));
        }
        let stored = self.stored(&spot.place).await?;
        let Some(wrong) = self.judge(spot, source, entity.as_ref(), stored.as_ref()).await? else {
            return Ok(Some(Verdict::Right));
        };
        let again = self.entity(source).await?;
        let stands = again.as_ref().map(Versioned::etag) == entity.as_ref().map(Versioned::etag);
        Ok(stands.then_some(Verdict::Wrong(wrong)))
    }

    async fn judge(
        &self,
        spot: &Spot,
        source: &EntityKey,
        entity: Option<&Versioned<E>>,
        stored: Option<&DynamicEntity>,
    ) -> Result<Option<Wrong>> {
        let copy = self.copy_at(entity, spot)?;
        Ok(match (copy, self.holder(spot, stored, source)) {
            (Some(copy), Holder::Mine) if stored.is_some_and(|stored| rows::is_as(stored, &copy)) => None,
            (Some(_), Holder::Mine) => Some(Wrong::Stale),
            (Some(_), Holder::Nobody | Holder::MyClaim) => Some(Wrong::Missing),
            (Some(_), Holder::Other(Some(other))) => {
                let holds = match self.entity(&other).await {
                    Ok(other) => self.copy_at(other.as_ref(), spot)?.is_some(),
                    Err(error) if is_unreadable(&error) => true,
                    Err(error) => return Err(error),
                };
                Some(if holds { Wrong::Doubled } else { Wrong::Missing })
            }
            (Some(_), Holder::Other(None)) => Some(Wrong::Doubled),
            (None, Holder::Mine) if entity.is_some() => Some(Wrong::Stale),
            (None, Holder::Mine) => Some(Wrong::Orphaned),
            (None, _) => None,
        })
    }

    /// Whether a change of an entity is on its way to the indexes elsewhere.
    async fn has_intent(&self, source: &EntityKey, now: Timestamp) -> Result<bool> {
        marks::has_intent(self.table(), source, now, self.grace(), is_of_indexes).await
    }

    /// Whether a row stands for so long that nobody comes for it any more.
    pub(super) fn is_overdue(&self, row: &DynamicEntity, now: Timestamp) -> bool {
        marks::is_overdue(row, now, self.grace())
    }

    pub(super) fn grace(&self) -> Duration {
        self.0.keeper().map_or_else(|| IntentOptions::default().grace, |keeper| keeper.options().grace)
    }
}
