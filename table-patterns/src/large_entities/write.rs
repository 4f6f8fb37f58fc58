//! Writing entities and their blobs.

use table_core::store::Selection;
use table_core::{DynamicEntity, ETag, Entity, EntityKey, Error, Key, Result, Versioned, Written};

use super::Large;
use crate::blobs::{Draft, References, dropped, folder, put_all, references};
use crate::intent::{Ended, Keeper};
use crate::intra_partition_secondary_index::{IndexedTransaction, Refused};

/// What is to be done with an entity.
#[derive(Debug)]
enum Change<'a, E> {
    /// It is new.
    Insert(&'a E),
    /// It takes the place of the version that was read, whose row had these references.
    Replace(&'a Versioned<E>, &'a References),
    /// The version that was read goes, with its blobs.
    Delete(&'a Versioned<E>, &'a References),
}

impl<E: Entity> Large<E> {
    /// Adds an entity that must not exist, and returns its version. Its blobs come before it.
    ///
    /// Two storage transactions, two calls to the queue and one put for each blob; without blobs one transaction.
    ///
    /// # Errors
    /// [`AlreadyExists`](table_core::ErrorKind::AlreadyExists) for an entity that is there, or, naming the index, for a key of
    /// a unique index; [`LimitExceeded`](table_core::ErrorKind::LimitExceeded) for what is too large without its blobs; and
    /// those of reaching the stores. Unless the error says that its outcome is unknown, nothing was written.
    pub async fn insert(&self, entity: &E) -> Result<ETag> {
        existing(self.put(&Change::Insert(entity)).await.map_err(Refused::into_error)?)
    }

    /// Writes an entity over the version that was read, which must still be the current one.
    ///
    /// A blob whose content has not changed stays; one that is replaced is deleted after the grace period. The
    /// row is looked at first, so that whoever is late learns it before an upload: two storage transactions, two
    /// calls to the queue and one put for each new blob.
    ///
    /// # Errors
    /// [`PreconditionFailed`](table_core::ErrorKind::PreconditionFailed) and [`NotFound`](table_core::ErrorKind::NotFound) for an entity that
    /// was changed or deleted since it was read, [`InvalidKey`](table_core::ErrorKind::InvalidKey) where a field of the primary
    /// key was changed, and as [`Large::insert`].
    pub async fn replace(&self, read: &mut Versioned<E>) -> Result<()> {
        let held = self.held_by(read).await?;
        self.try_replace(read, &held).await.map_err(Refused::into_error)
    }

    async fn try_replace(&self, read: &mut Versioned<E>, held: &References) -> Result<(), Refused> {
        let etag = existing(self.put(&Change::Replace(read, held)).await?)?;
        Ok(read.written(etag)?)
    }

    /// Reads an entity with its blobs, changes it and writes it, again where somebody else was faster.
    ///
    /// `change` runs once for each attempt, each time on what is stored.
    ///
    /// # Errors
    /// [`NotFound`](table_core::ErrorKind::NotFound), [`Contention`](table_core::ErrorKind::Contention) where others were faster in every
    /// attempt, and as [`Large::replace`] and [`Large::get`].
    pub async fn update(&self, key: Key<E>, mut change: impl FnMut(&mut E) + Send) -> Result<Versioned<E>> {
        self.try_update(key, |entity| {
            change(entity);
            Ok(())
        })
        .await
    }

    /// As [`update`](Large::update), with a change that can refuse: its error ends the update, and nothing is written.
    ///
    /// # Errors
    /// As [`Large::update`], and those of `change`.
    pub async fn try_update(
        &self,
        key: Key<E>,
        mut change: impl FnMut(&mut E) -> Result<()> + Send,
    ) -> Result<Versioned<E>> {
        let mut attempts = self.options.begin();
        loop {
            let Some((mut read, held)) = self.read_with_references::<E>(&key).await? else {
                return Err(self.missing(key.resolve()?));
            };
            change(&mut read)?;
            match self.try_replace(&mut read, &held).await {
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
    /// # Errors
    /// [`Contention`](table_core::ErrorKind::Contention), and as [`Large::replace`].
    pub async fn upsert(&self, entity: &E) -> Result<ETag>
    where
        E: Clone,
    {
        let key = Key::new(entity.entity_key());
        let mut attempts = self.options.begin();
        loop {
            let written = match self.read_with_references::<E>(&key).await? {
                None => self.put(&Change::Insert(entity)).await.and_then(|etag| Ok(existing(etag)?)),
                Some((mut read, held)) => {
                    *read = entity.clone();
                    self.try_replace(&mut read, &held).await.map(|()| read.etag().clone())
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

    /// Deletes the version that was read, which must still be the current one. Its blobs go after the grace period.
    ///
    /// # Errors
    /// As [`Large::replace`].
    pub async fn delete(&self, read: &Versioned<E>) -> Result<()> {
        let held = self.held_by(read).await?;
        self.put(&Change::Delete(read, &held)).await.map(|_| ()).map_err(Refused::into_error)
    }

    /// Deletes whatever version there is, and says whether there was one.
    ///
    /// # Errors
    /// [`Contention`](table_core::ErrorKind::Contention), and as [`Large::delete`].
    pub async fn delete_by_key(&self, key: Key<E>) -> Result<bool> {
        let mut attempts = self.options.begin();
        loop {
            let Some((read, held)) = self.read_with_references::<E>(&key).await? else { return Ok(false) };
            match self.put(&Change::Delete(&read, &held)).await {
                Ok(_) => return Ok(true),
                Err(refused) => {
                    let conflict = refused.is_conflict();
                    attempts.after(refused.into_error(), conflict).await?;
                }
            }
        }
    }

    /// The references of the row that was read, if it is still that version.
    async fn held_by(&self, read: &Versioned<E>) -> Result<References> {
        let table = &self.writer.place.table;
        let row = table.store().get(table.name(), read.key(), &Selection::All).await?;
        let row = row.ok_or_else(|| self.missing(read.key().clone()))?;
        if row.etag.as_ref() != Some(read.etag()) {
            return Err(Error::precondition_failed("the entity was changed since it was read; read it again")
                .with_table(table.name().as_str())
                .with_key(read.key().clone()));
        }
        references(&row)
    }

    fn missing(&self, key: EntityKey) -> Error {
        Error::not_found("there is no such entity").with_table(self.writer.place.table.name().as_str()).with_key(key)
    }

    /// Makes a change. Once the row is written the answer is its version, whatever becomes of the rest: a worker
    /// does what is left.
    async fn put(&self, change: &Change<'_, E>) -> Result<Option<ETag>, Refused> {
        let mut attempts = self.options.begin();
        loop {
            match self.attempt(change).await {
                Ok(etag) => return Ok(etag),
                Err(Ended::Refused(refused)) => return Err(refused),
                Err(Ended::Again(error)) => attempts.after(error, true).await?,
            }
        }
    }

    async fn attempt(&self, change: &Change<'_, E>) -> Result<Option<ETag>, Ended> {
        let (table, id) = (&self.writer.place.table, Keeper::new_id());
        let (source, mut draft) = self.draft(change, &id).await.map_err(Refused::from)?;
        let blobs = draft.names();
        if blobs.is_empty() {
            return Ok(version_of_first(self.transaction(change, draft.row).try_commit().await?));
        }
        let mut sent = self.writer.send(id, source, &blobs).await?;
        let uploads = std::mem::take(&mut draft.uploads);
        let uploaded: Vec<_> = uploads.iter().map(|(path, _)| path.clone()).collect();
        self.writer.put(&mut sent, &blobs, put_all(&self.writer.place.blobs, uploads)).await?;
        match self.writer.keeper.commit(table, &sent, self.transaction(change, draft.row)).await {
            Ok(written) => {
                self.writer.finish(&sent, &draft.drops).await;
                Ok(version_of_first(written))
            }
            Err(ended) => Err(self.writer.refused(ended, &sent, &uploaded).await),
        }
    }

    /// What a change means for blobs. A row that goes has none of its own any more.
    async fn draft(&self, change: &Change<'_, E>, id: &str) -> Result<(EntityKey, Draft)> {
        let (row, held) = match change {
            Change::Insert(entity) => (entity.to_row()?, &Vec::new()),
            Change::Replace(read, held) => (read.to_row()?, *held),
            Change::Delete(read, held) => {
                let row = DynamicEntity::new(read.key().clone());
                let draft = Draft { row, uploads: Vec::new(), drops: dropped(held, &Vec::new()) };
                return Ok((read.key().clone(), draft));
            }
        };
        let (source, folder) = (row.key.clone(), folder(&self.writer.place.prefix, &row.key));
        Ok((source, Draft::of(row, &E::SCHEMA.blobs, &folder, id, held).await?))
    }

    /// Step 3: the row and its copies, in one transaction.
    fn transaction(&self, change: &Change<'_, E>, row: DynamicEntity) -> IndexedTransaction<'_> {
        let transaction = IndexedTransaction::new(&self.writer.place.table);
        match change {
            Change::Insert(entity) => transaction.insert_as(*entity, Ok(row)),
            Change::Replace(read, _) => transaction.replace_as(read, Ok(row)),
            Change::Delete(read, _) => transaction.delete_as(read, Ok(())),
        }
    }
}

fn version_of_first(written: Vec<Written>) -> Option<ETag> {
    written.into_iter().next().and_then(|written| written.etag)
}

fn existing(etag: Option<ETag>) -> Result<ETag> {
    etag.ok_or_else(|| Error::corrupted("the store answered a write without an ETag"))
}
