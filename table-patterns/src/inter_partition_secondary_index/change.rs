//! A change of an entity: the rows that it concerns, before and after.

use table_core::{Entity, EntityKey, Result, Table, Versioned};

use super::place::{Copy, Place, copies, places_read};
use crate::intra_partition_secondary_index::IndexedTransaction;

/// What is to be done with an entity.
#[derive(Debug)]
pub(crate) enum Change<'a, E> {
    /// It is new.
    Insert(&'a E),
    /// It takes the place of the version that was read.
    Replace(&'a Versioned<E>),
    /// The version that was read goes.
    Delete(&'a Versioned<E>),
}

/// What a change means for the indexes elsewhere.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) source: EntityKey,
    /// The places of the old and new keys.
    pub(super) places: Vec<Place>,
    /// What is to stand there afterwards; tombstones elsewhere.
    pub(super) copies: Vec<Copy>,
    /// The unique values that the entity does not have yet, by their position among the places.
    pub(super) claims: Vec<usize>,
    /// Whether the places can be taken for empty at first.
    pub(super) is_first: bool,
}

impl<E: Entity> Change<'_, E> {
    /// What the change means for the indexes elsewhere.
    pub(super) fn plan(&self, table: &Table) -> Result<Plan> {
        let (source, mut places, copies) = match self {
            Self::Insert(entity) => (entity.entity_key()?, Vec::new(), copies(table, *entity)?),
            Self::Replace(read) => (read.key().clone(), places_read(table, read)?, copies(table, read.value())?),
            Self::Delete(read) => (read.key().clone(), places_read(table, read)?, Vec::new()),
        };
        let mut claims = Vec::new();
        for copy in &copies {
            if places.iter().any(|place| place.is(&copy.place)) {
                continue;
            }
            if copy.unique {
                claims.push(places.len());
            }
            places.push(copy.place.clone());
        }
        Ok(Plan { source, places, copies, claims, is_first: matches!(self, Self::Insert(_)) })
    }

    /// The key of the entity.
    pub(crate) fn key(&self) -> Result<EntityKey> {
        match self {
            Self::Insert(entity) => entity.entity_key(),
            Self::Replace(read) | Self::Delete(read) => Ok(read.key().clone()),
        }
    }

    /// The change of the entity and of its copies in its partition.
    pub(crate) fn local<'t>(&self, table: &'t Table) -> IndexedTransaction<'t> {
        let transaction = IndexedTransaction::local_part(table);
        match self {
            Self::Insert(entity) => transaction.insert(*entity),
            Self::Replace(read) => transaction.replace(read),
            Self::Delete(read) => transaction.delete(read),
        }
    }
}
