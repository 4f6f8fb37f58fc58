//! Writing an entity and its copies.

use table_core::{ETag, Entity, Error, ErrorKind, Key, Result, Versioned};

use super::{Indexed, IndexedTransaction};
use crate::rows::version;

impl<E: Entity> Indexed<E> {
    /// Adds an entity that must not exist, and returns its version. One storage transaction.
    ///
    /// # Errors
    /// As [`IndexedTransaction::commit`].
    pub async fn insert(&self, entity: &E) -> Result<ETag> {
        version(IndexedTransaction::new(&self.table).insert(entity).commit().await?.pop())
    }

    /// Writes an entity over the version that was read, which must still be the current one. One
    /// storage transaction.
    ///
    /// # Errors
    /// As [`IndexedTransaction::commit`]; [`InvalidKey`](ErrorKind::InvalidKey) where a field of the
    /// primary key was changed.
    pub async fn replace(&self, read: &mut Versioned<E>) -> Result<()> {
        let etag = version(IndexedTransaction::new(&self.table).replace(read).commit().await?.pop())?;
        read.written(etag)
    }

    /// Reads an entity, changes it and writes it, again where somebody else was faster. Two storage
    /// transactions when nobody was.
    ///
    /// `change` runs once for each attempt, each time on what is stored.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound), [`Contention`](ErrorKind::Contention) where others were
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
            change(&mut read)?;
            match self.replace(&mut read).await {
                Ok(()) => return Ok(read),
                Err(error) => {
                    let conflict = is_conflict(&error);
                    attempts.after(error, conflict).await?;
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
    /// [`Contention`](ErrorKind::Contention), and as [`IndexedTransaction::commit`].
    pub async fn upsert(&self, entity: &E) -> Result<ETag>
    where
        E: Clone,
    {
        let key = Key::new(entity.entity_key());
        let mut attempts = self.options.begin();
        loop {
            let written = match self.table.get::<E>(key.clone()).await? {
                None => self.insert(entity).await,
                Some(mut read) => {
                    *read = entity.clone();
                    self.replace(&mut read).await.map(|()| read.etag().clone())
                }
            };
            match written {
                Ok(etag) => return Ok(etag),
                Err(error) => {
                    let conflict = is_conflict(&error) || is_raced_insert(&error);
                    attempts.after(error, conflict).await?;
                }
            }
        }
    }

    /// Deletes the version that was read, which must still be the current one, and its copies. One
    /// storage transaction.
    ///
    /// # Errors
    /// As [`IndexedTransaction::commit`].
    pub async fn delete(&self, read: &Versioned<E>) -> Result<()> {
        IndexedTransaction::new(&self.table).delete(read).commit().await.map(|_| ())
    }

    /// Deletes whatever version there is, and says whether there was one.
    ///
    /// It is read first, since only it tells which copies it has: two storage transactions when
    /// nobody else was faster.
    ///
    /// # Errors
    /// [`Contention`](ErrorKind::Contention), and as [`IndexedTransaction::commit`].
    pub async fn delete_by_key(&self, key: Key<E>) -> Result<bool> {
        let mut attempts = self.options.begin();
        loop {
            let Some(read) = self.table.get::<E>(key.clone()).await? else { return Ok(false) };
            match self.delete(&read).await {
                Ok(()) => return Ok(true),
                Err(error) => {
                    let conflict = is_conflict(&error);
                    attempts.after(error, conflict).await?;
                }
            }
        }
    }
}

/// Whether the primary row was changed or deleted since it was read.
fn is_conflict(error: &Error) -> bool {
    is_of_primary(error) && matches!(error.kind(), ErrorKind::PreconditionFailed | ErrorKind::NotFound)
}

/// Whether the primary row was inserted since it was found absent.
fn is_raced_insert(error: &Error) -> bool {
    is_of_primary(error) && error.kind() == ErrorKind::AlreadyExists
}

/// The primary row comes first, and so do its refusals.
fn is_of_primary(error: &Error) -> bool {
    error.operation_index().unwrap_or(0) == 0
}
