//! Writing what an entity says into lists elsewhere: the list is read, then the entity, then the list is written if
//! it still is what was read.
//!
//! A list is shared by many entities. So what is written is what the row holds, with the key of this one entity in it
//! or not, as the entity says; the keys of others stay as they were read. It is written **even where it looks right**:
//! the new version is what stops whoever comes late with what was read before.

use serde::{Deserialize, Serialize};
use table_core::{DynamicEntity, Entity, EntityKey, Error, Key, Result};

use super::IndexEntities;
use super::place::{List, Spot};
use super::shelf::Held;
use crate::eventually_consistent_transactions::not_here;
use crate::intent::{Age, Garbage, Named, rows};
use crate::rows::fits_no_key;

/// The lists elsewhere that an entity leaves and joins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Lists {
    pub(super) lists: Vec<Spot>,
}

/// What the names of these intents begin with, by which they are told from those of others beside them.
const LIST_ID: &str = "list_";

/// A new name for an intent.
pub(super) fn new_id() -> String {
    format!("{LIST_ID}{}", crate::intent::Keeper::new_id())
}

/// Whether an intent or a fence is one of lists.
pub(crate) fn is_of_lists(row: &DynamicEntity) -> bool {
    let name = row.key.row.as_str().strip_prefix(rows::INTENT_PREFIX);
    name.is_some_and(|name| name.starts_with(LIST_ID))
}

impl Named for Lists {
    const KIND: &'static str = "table-patterns/lists";
}

impl<E: Entity> IndexEntities<E> {
    /// Makes lists say what an entity says, and answers the tombstones that it left.
    pub(super) async fn settle(&self, source: &EntityKey, spots: &[Spot]) -> Result<Vec<Garbage>> {
        let mut outcome = Outcome::default();
        for spot in spots {
            outcome.add(self.settle_one(source, spot).await);
        }
        outcome.end()
    }

    /// Reads and writes until it fits, a bounded number of times.
    async fn settle_one(&self, source: &EntityKey, spot: &Spot) -> Result<Option<Garbage>> {
        let list = self.declared(&spot.list).map_err(|unknown| not_here(unknown.message()))?;
        if !list.has(&self.table, spot) {
            let (entity, list, place) = (E::SCHEMA.name, list.name, list.place);
            let elsewhere =
                format!("the list {list} of {entity} stands {place} here; another version of the program sent this");
            return Err(spot.at(not_here(elsewhere)));
        }
        let mut attempts = self.options.begin();
        loop {
            let age = Age::begin();
            let held = self.shelf().read(list, spot).await?;
            let entity = self.table.get::<E>(Key::from(source.clone())).await?;
            let is_in = entity.is_some_and(|entity| self.is_listed(source, &entity, spot));
            if let Some(written) = self.write_key(spot, held, source, is_in, age).await? {
                return Ok(written);
            }
            let changed = Error::precondition_failed("the list changed while it was brought up to date");
            attempts.after(spot.at(changed), true).await?;
        }
    }

    /// Writes a list with a key in it or not; the tombstone, where that is what is left. Outside: whether it was
    /// still the version that was read.
    pub(super) async fn write_key(
        &self,
        spot: &Spot,
        held: Held,
        source: &EntityKey,
        is_in: bool,
        age: Age,
    ) -> Result<Option<Option<Garbage>>> {
        let list = self.declared(&spot.list)?;
        let keys = held.keys.clone().with(source, is_in);
        let owner = rows::owner(&self.table, source);
        let written = self.shelf().write(list, spot, &held, &keys, (&owner, age)).await?;
        let tombstone = |etag| keys.is_empty().then(|| Garbage::tombstone(&spot.table, &spot.key, etag));
        Ok(written.map(tombstone))
    }

    /// Whether an entity says that it is in a list. A value that fits no key is in none, as another program may have
    /// written it.
    pub(super) fn is_listed(&self, source: &EntityKey, entity: &E, spot: &Spot) -> bool {
        let list = self.lists.iter().find(|list| list.name == spot.list);
        list.is_some_and(|list| matches!(list.spot_of(&self.table, source, entity), Ok(Some(own)) if own == *spot))
    }

    /// Where a stored entity is listed.
    pub(super) fn spots_of(&self, source: &EntityKey, entity: &E) -> Result<Vec<(&List<E>, Spot)>> {
        let mut spots = Vec::new();
        for list in &self.lists {
            match list.spot_of(&self.table, source, entity) {
                Ok(spot) => spots.extend(spot.map(|spot| (list, spot))),
                Err(error) if fits_no_key(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(spots)
    }
}

/// What became of several lists. One that fails does not keep the others from being written: its failure is told at the
/// end. Then all are tried again, and tombstones are written anew.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    garbage: Vec<Garbage>,
    failed: Option<Error>,
}

impl Outcome {
    pub(super) fn add(&mut self, of_one: Result<impl IntoIterator<Item = Garbage>>) {
        match of_one {
            Ok(tombstones) => self.garbage.extend(tombstones),
            Err(error) if self.failed.is_none() => self.failed = Some(error),
            Err(error) => tracing::debug!(%error, "another list could not be written"),
        }
    }

    pub(super) fn end(self) -> Result<Vec<Garbage>> {
        self.failed.map_or(Ok(self.garbage), Err)
    }
}
