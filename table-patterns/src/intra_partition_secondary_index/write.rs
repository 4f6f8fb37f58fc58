//! Writing an entity and its copies.

use table_core::{ETag, Entity, Key, Result, Versioned, Written};

use super::{Indexed, Refused};
use crate::intent::{Keeper, Outer};
use crate::inter_partition_secondary_index::{Change, Copy, Writer, copies, stored_copies};
use crate::rows::existing;

impl<E: Entity> Indexed<E> {
    /// Adds an entity that must not exist, and returns its version. One storage transaction, and for an index
    /// elsewhere two more and two calls to the queue.
    ///
    /// # Errors
    /// As [`IndexedTransaction::commit`](crate::IndexedTransaction::commit).
    pub async fn insert(&self, entity: &E) -> Result<ETag> {
        self.try_insert(entity).await.map_err(Refused::into_error)
    }

    async fn try_insert(&self, entity: &E) -> Result<ETag, Refused> {
        Ok(existing(self.put(&Change::Insert(entity)).await?)?)
    }

    /// Makes a change: in one transaction, and by the protocol for indexes elsewhere.
    pub(crate) async fn put(&self, change: &Change<'_, E>) -> Result<Option<ETag>, Refused> {
        match &self.keeper {
            None => self.put_here(change).await,
            Some(keeper) => self.writer(keeper, None).write(change).await,
        }
    }

    /// Makes a change together with the intent of a pattern that keeps more than its indexes.
    pub(crate) async fn put_within(&self, change: &Change<'_, E>, outer: Outer) -> Result<Option<ETag>, Refused> {
        match &self.keeper {
            None => Ok(first(change.local(&self.table).outer_intent(outer.intent).try_commit().await?)),
            Some(keeper) => self.writer(keeper, Some(outer)).write(change).await,
        }
    }

    const fn writer<'a>(&'a self, keeper: &'a Keeper, outer: Option<Outer>) -> Writer<'a> {
        Writer { table: &self.table, keeper, attempts: &self.options, outer }
    }

    /// Makes a change that no index elsewhere has to know of.
    async fn put_here(&self, change: &Change<'_, E>) -> Result<Option<ETag>, Refused> {
        Ok(first(change.local(&self.table).try_commit().await?))
    }

    /// Writes an entity over the version that was read, which must still be the current one. One
    /// storage transaction.
    ///
    /// # Errors
    /// As [`IndexedTransaction::commit`](crate::IndexedTransaction::commit); [`InvalidKey`](table_core::ErrorKind::InvalidKey) where a field of the
    /// primary key was changed.
    pub async fn replace(&self, read: &mut Versioned<E>) -> Result<()> {
        self.try_replace(read).await.map_err(Refused::into_error)
    }

    async fn try_replace(&self, read: &mut Versioned<E>) -> Result<(), Refused> {
        let etag = existing(self.put(&Change::Replace(read)).await?)?;
        Ok(read.written(etag)?)
    }

    /// Edits what was read and writes it. Indexes elsewhere hear of it only where one of their rows changes.
    async fn edit(&self, read: &mut Versioned<E>, edit: impl FnOnce(&mut E) -> Result<()>) -> Result<(), Refused> {
        let shown = self.shown(read)?;
        edit(read)?;
        self.write_edited(read, shown).await
    }

    /// What indexes elsewhere show of what was read; none where that is not to be relied on.
    pub(crate) fn shown(&self, read: &Versioned<E>) -> Result<Shown> {
        let is_known = self.keeper.is_some() && !read.is_upgraded();
        Ok(Shown(is_known.then(|| stored_copies(&self.table, read.value())).transpose()?))
    }

    /// Whether no index elsewhere has to hear of an edit.
    pub(crate) fn stays(&self, read: &Versioned<E>, shown: &Shown) -> Result<bool> {
        match &shown.0 {
            Some(before) => Ok(copies(&self.table, read.value())? == *before),
            None => Ok(self.keeper.is_none()),
        }
    }

    /// Writes what was read and edited.
    pub(crate) async fn write_edited(&self, read: &mut Versioned<E>, shown: Shown) -> Result<(), Refused> {
        if !self.stays(read, &shown)? {
            return self.try_replace(read).await;
        }
        let etag = existing(self.put_here(&Change::Replace(read)).await?)?;
        Ok(read.written(etag)?)
    }

    /// Reads an entity, changes it and writes it, again where somebody else was faster. Two storage
    /// transactions when nobody was.
    ///
    /// `change` runs once for each attempt, each time on what is stored.
    ///
    /// # Errors
    /// [`NotFound`](table_core::ErrorKind::NotFound), [`Contention`](table_core::ErrorKind::Contention) where others were
    /// faster in every attempt, and as [`Indexed::replace`].
    pub async fn update(&self, key: Key<E>, mut change: impl FnMut(&mut E) + Send) -> Result<Versioned<E>> {
        self.try_update(key, |entity| {
            change(entity);
            Ok(())
        })
        .await
    }

    /// As [`update`](Indexed::update), with a change that can refuse: its error ends the update, and
    /// nothing is written.
    ///
    /// # Errors
    /// As [`Indexed::update`], and those of `change`.
    pub async fn try_update(
        &self,
        key: Key<E>,
        mut change: impl FnMut(&mut E) -> Result<()> + Send,
    ) -> Result<Versioned<E>> {
        let mut attempts = self.options.begin();
        loop {
            let mut read = self.table.require(key.clone()).await?;
            match self.edit(&mut read, &mut change).await {
                Ok(()) => return Ok(read),
                Err(refused) => {
                    let conflict = refused.is_conflict();
                    attempts.after(refused.into_error(), conflict).await?;
                }
            }
        }
    }

    /// Adds an entity, or writes it over whatever version there is, and returns its version.
    ///
    /// The old version is read first, since only it tells which copies are stale: two storage
    /// transactions when nobody else was faster.
    ///
    /// # Errors
    /// [`Contention`](table_core::ErrorKind::Contention), and as [`IndexedTransaction::commit`](crate::IndexedTransaction::commit).
    pub async fn upsert(&self, entity: &E) -> Result<ETag>
    where
        E: Clone,
    {
        let key = Key::new(entity.entity_key());
        let mut attempts = self.options.begin();
        loop {
            let written = match self.table.get::<E>(key.clone()).await? {
                None => self.try_insert(entity).await,
                Some(mut read) => {
                    let edit = |stored: &mut E| {
                        stored.clone_from(entity);
                        Ok(())
                    };
                    self.edit(&mut read, edit).await.map(|()| read.etag().clone())
                }
            };
            match written {
                Ok(etag) => return Ok(etag),
                Err(refused) => {
                    let conflict = refused.is_conflict() || refused.is_raced_insert();
                    attempts.after(refused.into_error(), conflict).await?;
                }
            }
        }
    }

    /// Deletes the version that was read, which must still be the current one, and its copies. One
    /// storage transaction.
    ///
    /// # Errors
    /// As [`IndexedTransaction::commit`](crate::IndexedTransaction::commit).
    pub async fn delete(&self, read: &Versioned<E>) -> Result<()> {
        self.try_delete(read).await.map_err(Refused::into_error)
    }

    async fn try_delete(&self, read: &Versioned<E>) -> Result<(), Refused> {
        self.put(&Change::Delete(read)).await.map(|_| ())
    }

    /// Deletes whatever version there is, and says whether there was one.
    ///
    /// It is read first, since only it tells which copies it has: two storage transactions when
    /// nobody else was faster.
    ///
    /// # Errors
    /// [`Contention`](table_core::ErrorKind::Contention), and as [`IndexedTransaction::commit`](crate::IndexedTransaction::commit).
    pub async fn delete_by_key(&self, key: Key<E>) -> Result<bool> {
        let mut attempts = self.options.begin();
        loop {
            let Some(read) = self.table.get::<E>(key.clone()).await? else { return Ok(false) };
            match self.try_delete(&read).await {
                Ok(()) => return Ok(true),
                Err(refused) => {
                    let conflict = refused.is_conflict();
                    attempts.after(refused.into_error(), conflict).await?;
                }
            }
        }
    }
}

/// What indexes elsewhere showed of an entity before it was edited.
#[derive(Debug)]
pub(crate) struct Shown(Option<Vec<Copy>>);

fn first(written: Vec<Written>) -> Option<ETag> {
    written.into_iter().next().and_then(|written| written.etag)
}
