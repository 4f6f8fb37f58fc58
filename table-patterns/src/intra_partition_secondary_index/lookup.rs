//! Finding entities by their key and by their indexes.

use table_core::{ETag, Entity, Error, FromRow, IndexCopy, Key, Query, Result, Versioned};

use super::Indexed;
use crate::inter_partition_secondary_index::is_local;

/// How many entities are read at once behind the copies of a query.
const FULL_READS: usize = 8;

impl<E: Entity> Indexed<E> {
    /// Reads the row of a key: the entity, or the copy that an index keeps. One storage transaction.
    ///
    /// # Errors
    /// As [`Table::get`](table_core::Table::get).
    pub async fn get<R: FromRow>(&self, key: impl Into<Key<R>>) -> Result<Option<Versioned<R>>> {
        self.table.get(key).await
    }

    /// Reads the row of a key, which must exist.
    ///
    /// # Errors
    /// As [`Table::require`](table_core::Table::require).
    pub async fn require<R: FromRow>(&self, key: impl Into<Key<R>>) -> Result<Versioned<R>> {
        self.table.require(key).await
    }

    /// Reads everything that a query finds, in the order of its keys: entities, or the copies of an
    /// index. One storage transaction for each page of up to 1,000 rows.
    ///
    /// # Errors
    /// As [`Table::all`](table_core::Table::all).
    pub async fn all<C: FromRow, R: Send + 'static>(&self, query: impl Into<Query<C, R>>) -> Result<Vec<Versioned<R>>> {
        self.table.all(query).await
    }

    /// Reads the whole entity behind one key of an index. Two storage transactions.
    ///
    /// Where the entity was changed between the two reads, so that the key is no longer its own, the
    /// key is looked up again. A stale row of an index elsewhere is mended in passing.
    ///
    /// # Errors
    /// [`Contention`](table_core::ErrorKind::Contention) where that happened in every attempt,
    /// [`Corrupted`](table_core::ErrorKind::Corrupted) for a copy without its entity, and those of
    /// reading.
    pub async fn full<C: IndexCopy<Source = E>>(&self, key: Key<C>) -> Result<Option<Versioned<E>>> {
        if !is_local::<C>() {
            return self.found(&key).await;
        }
        let mut attempts = self.options.begin();
        let mut before: Option<ETag> = None;
        loop {
            let Some(copy) = self.table.get::<C>(key.clone()).await? else { return Ok(None) };
            if let Some(entity) = self.source_of(&copy).await? {
                return Ok(Some(entity));
            }
            // A copy that did not change stood there while its entity was read, and knew nothing of it.
            if before.as_ref() == Some(copy.etag()) {
                return Err(orphaned(&copy));
            }
            before = Some(copy.etag().clone());
            attempts.after(moved(&copy), true).await?;
        }
    }

    /// Reads the whole entities behind the copies that a query finds, in the order of the index, up
    /// to eight at once. One storage transaction for each page of copies, and one for each entity.
    ///
    /// The entities are not one snapshot: one that was changed after its copy was read, so that the
    /// key is no longer its own, is left out.
    ///
    /// # Errors
    /// Those of the query and of reading.
    pub async fn all_full<C: IndexCopy<Source = E>>(&self, query: impl Into<Query<C>>) -> Result<Vec<Versioned<E>>> {
        if !is_local::<C>() {
            return self.found_all(query.into()).await;
        }
        let copies = self.table.all::<C, C>(query).await?;
        let found = self.table.get_many(copies.iter().map(|copy| copy.source()), FULL_READS).await?;
        let pairs = found.into_iter().zip(&copies);
        Ok(pairs.filter_map(|(entity, copy)| entity.filter(|entity| is_copy_of(copy, entity))).collect())
    }

    /// The entity that a copy was made of, where it still has that copy.
    async fn source_of<C: IndexCopy<Source = E>>(&self, copy: &Versioned<C>) -> Result<Option<Versioned<E>>> {
        let source = self.table.get::<E>(copy.source()).await?;
        Ok(source.filter(|entity| is_copy_of(copy, entity)))
    }
}

/// Whether an entity that was just read still has this copy.
pub(crate) fn is_copy_of<C: IndexCopy>(copy: &Versioned<C>, entity: &Versioned<C::Source>) -> bool {
    // A row of an older version has the copies of that version until it is written.
    if entity.is_upgraded() {
        return entity.index_keys().iter().any(|held| held.key == *copy.key());
    }
    entity.index_key(C::INDEX).is_ok_and(|held| held.as_ref() == Some(copy.key()))
}

fn orphaned<C>(copy: &Versioned<C>) -> Error {
    Error::corrupted("the copy belongs to no entity that has this key; repair the index").with_key(copy.key().clone())
}

fn moved<C>(copy: &Versioned<C>) -> Error {
    Error::precondition_failed("the entity was changed after its copy was read").with_key(copy.key().clone())
}
