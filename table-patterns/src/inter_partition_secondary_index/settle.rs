//! Writing what an entity says into the indexes: index rows first, then the entity, then conditional writes.
//!
//! Writers that met somebody, workers, and whoever repairs all do this. What is written is read at that time
//! and never carried along, so it does not matter who does it, in which order, or how often.

use std::time::Duration;

use table_core::{Entity, EntityKey, Error, Key, Result, Table};

use super::message::scope;
use super::place::{Copy, Found, Place, stored_copies};
use crate::attempts::UpdateOptions;
use crate::intent::{Age, Garbage, fence, rows};

/// One entity, and the index rows that are to be as it says.
pub(super) struct Settling<'a> {
    pub(super) table: &'a Table,
    pub(super) source: &'a EntityKey,
    /// The intent that is being carried out: its writer has committed, or never will.
    pub(super) intent: &'a str,
    pub(super) grace: Duration,
}

/// How writing the index rows ended.
pub(super) enum Applied {
    /// All are written; these are to go some time.
    All(Vec<Garbage>),
    /// Somebody else wrote to one of them.
    Conflict,
}

impl Settling<'_> {
    /// Reads and writes until it fits, a bounded number of times, and answers the tombstones and fences that it
    /// wrote.
    pub(super) async fn settle<E: Entity>(
        &self,
        mut places: Vec<Place>,
        options: &UpdateOptions,
    ) -> Result<Vec<Garbage>> {
        let mut attempts = options.begin();
        let (mut stopped, mut fences): (Vec<String>, _) = (Vec::new(), Vec::new());
        loop {
            let age = Age::begin();
            let found = read_all(self.table, &places).await?;
            let source = self.table.get::<E>(Key::from(self.source.clone())).await?;
            let copies = source.map_or_else(|| Ok(Vec::new()), |source| stored_copies(self.table, source.value()))?;
            // The entity may have moved on to keys that nobody named. Their rows are to be read before it.
            if name_all(&mut places, &copies) {
                attempts.after(contended(self.source), true).await?;
                continue;
            }
            if let Some((place, held, intent)) = self.in_the_way(&places, &found, &copies, &stopped) {
                let owner = rows::owner(self.table, self.source);
                // Written anew, the claim tells its writer that somebody was here, who may put a fence where the
                // intent is no longer: so that writer sees to the fence, also where this one dies.
                let claim = rows::claim(&place.key, &owner, intent);
                if age.is_too_old(self.grace) || place.write(self.table, claim, held).await?.is_none() {
                    attempts.after(contended(self.source), true).await?;
                    continue;
                }
                let key = rows::intent_key(self.source, intent)?;
                if !fence(self.table, &key, &owner, &scope::<E>(self.table)).await? {
                    fences.push(Garbage::fence(self.table, key));
                }
                stopped.push(intent.to_owned());
                continue;
            }
            if let Applied::All(mut garbage) = self.apply(&places, &found, &copies, age).await? {
                garbage.append(&mut fences);
                return Ok(garbage);
            }
            attempts.after(contended(self.source), true).await?;
        }
    }

    /// Another intent of the same entity whose claim is to be removed, and where that stands. Its writer must be
    /// known to have committed, or be kept from it: else it would take a value that is free for others by then.
    fn in_the_way<'f>(
        &self,
        places: &'f [Place],
        found: &'f [Found],
        copies: &[Copy],
        stopped: &[String],
    ) -> Option<(&'f Place, &'f Found, &'f str)> {
        let owner = rows::owner(self.table, self.source);
        let removed = places
            .iter()
            .zip(found)
            .filter(|(place, found)| !found.is_of_another(&owner) && !copies.iter().any(|copy| copy.place.is(place)));
        let mut claims = removed.filter_map(|(place, found)| Some((place, found, found.claimed_by()?)));
        claims.find(|(_, _, intent)| *intent != self.intent && !stopped.iter().any(|done| done == intent))
    }

    /// Writes a copy or a tombstone to each place, if what was found still stands there. What already looks
    /// right is written too: the new version is what stops whoever comes late.
    pub(super) async fn apply(&self, places: &[Place], found: &[Found], copies: &[Copy], age: Age) -> Result<Applied> {
        let owner = rows::owner(self.table, self.source);
        let mut garbage = Vec::new();
        for (place, found) in places.iter().zip(found) {
            let copy = copies.iter().find(|copy| copy.place.is(place));
            if found.is_of_another(&owner) {
                if copy.is_some() {
                    tracing::warn!(index = %place.index, key = %place.key, "the index row belongs to another entity");
                }
                continue;
            }
            if age.is_too_old(self.grace) {
                return Ok(Applied::Conflict);
            }
            let row =
                copy.map_or_else(|| rows::tombstone(&place.key, &owner), |copy| crate::rows::marked(copy.row.clone()));
            let Some(etag) = place.write(self.table, row, found).await? else { return Ok(Applied::Conflict) };
            if copy.is_none() {
                garbage.push(Garbage::tombstone(&place.table, &place.key, etag));
            }
        }
        Ok(Applied::All(garbage))
    }
}

/// What stands at places, one after the other.
pub(super) async fn read_all(table: &Table, places: &[Place]) -> Result<Vec<Found>> {
    let mut found = Vec::with_capacity(places.len());
    for place in places {
        found.push(place.read(table).await?);
    }
    Ok(found)
}

/// Adds the places of copies that are not among them, and says whether there were any.
fn name_all(places: &mut Vec<Place>, copies: &[Copy]) -> bool {
    let named = places.len();
    for copy in copies {
        if !places.iter().any(|place| place.is(&copy.place)) {
            places.push(copy.place.clone());
        }
    }
    places.len() > named
}

fn contended(source: &EntityKey) -> Error {
    Error::precondition_failed("an index row changed while it was brought up to date").with_key(source.clone())
}
