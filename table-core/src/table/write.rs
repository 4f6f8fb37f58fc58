//! Typed writes of entities without indexes.
//!
//! A write that could overwrite somebody else's change takes what was read, or says
//! `unconditionally` in its name.

use super::{Table, missing};
use crate::entity::{Entity, Unindexed};
use crate::error::{Error, ErrorKind, Result};
use crate::etag::ETag;
use crate::key::Key;
use crate::keys::EntityKey;
use crate::operation::{Action, IfMatch, Operation};
use crate::patch::Patch;
use crate::reserved;
use crate::store::Selection;
use crate::versioned::Versioned;

/// How often a patch by key looks at its row again when others write to it.
const MOST_PATCH_ATTEMPTS: usize = 32;

impl Table {
    /// Adds an entity that must not exist, and returns its version.
    ///
    /// # Errors
    /// [`AlreadyExists`](ErrorKind::AlreadyExists), and the limits of the service.
    pub async fn insert<E: Unindexed>(&self, entity: &E) -> Result<ETag> {
        self.put(Action::Insert(entity.to_row()?)).await
    }

    /// Writes an entity over the version that was read, which must still be the current one.
    ///
    /// # Errors
    /// [`PreconditionFailed`](ErrorKind::PreconditionFailed) where it is not,
    /// [`NotFound`](ErrorKind::NotFound) where the entity is gone.
    pub async fn replace<E: Unindexed>(&self, read: &mut Versioned<E>) -> Result<()> {
        let etag = self.put(Action::Replace(read.to_row()?, version_of(read))).await?;
        read.written(etag)
    }

    /// Writes the fields of an entity into the version that was read, and leaves properties that
    /// the type does not know. A field that is `None` leaves what is stored.
    ///
    /// # Errors
    /// As [`Table::replace`].
    pub async fn merge<E: Unindexed>(&self, read: &mut Versioned<E>) -> Result<()> {
        let etag = self.put(Action::Merge(read.to_row()?, version_of(read))).await?;
        read.written(etag)
    }

    /// Writes an entity over whatever version there is.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound).
    pub async fn replace_unconditionally<E: Unindexed>(&self, entity: &E) -> Result<ETag> {
        self.put(Action::Replace(entity.to_row()?, IfMatch::Any)).await
    }

    /// Writes the fields of an entity into whatever version there is.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound).
    pub async fn merge_unconditionally<E: Unindexed>(&self, entity: &E) -> Result<ETag> {
        self.put(Action::Merge(entity.to_row()?, IfMatch::Any)).await
    }

    /// Adds an entity, or writes it over whatever version there is.
    ///
    /// # Errors
    /// The limits of the service.
    pub async fn insert_or_replace<E: Unindexed>(&self, entity: &E) -> Result<ETag> {
        self.put(Action::InsertOrReplace(entity.to_row()?)).await
    }

    /// Adds an entity, or writes its fields into whatever version there is.
    ///
    /// # Errors
    /// The limits of the service.
    pub async fn insert_or_merge<E: Unindexed>(&self, entity: &E) -> Result<ETag> {
        self.put(Action::InsertOrMerge(entity.to_row()?)).await
    }

    /// Sets the fields that a patch names. A patch made from a key is for whatever version there
    /// is, one made from what was read for that version only.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound), [`PreconditionFailed`](ErrorKind::PreconditionFailed),
    /// [`Unsupported`](ErrorKind::Unsupported) for a row of an older version of its type.
    pub async fn patch<E: Entity>(&self, patch: impl Into<Patch<E>>) -> Result<ETag> {
        let patch = patch.into();
        match patch.unread_key() {
            None => self.put(patch.into_operation()?.into_action()).await,
            Some(key) => self.patch_unread(&patch, key?).await,
        }
    }

    /// Patches a row once it is known to be of the current version, and still of the one looked at.
    async fn patch_unread<E: Entity>(&self, patch: &Patch<E>, key: EntityKey) -> Result<ETag> {
        let version = Selection::Only(vec![reserved::ENTITY_VERSION]);
        for _ in 0..MOST_PATCH_ATTEMPTS {
            let row = self.store.get(&self.name, &key, &version).await?;
            let row = row.ok_or_else(|| missing("patch", &self.name, key.clone()))?;
            match self.put(patch.for_row(&row)?.into_operation()?.into_action()).await {
                Err(error) if error.kind() == ErrorKind::PreconditionFailed => {}
                result => return result,
            }
        }
        Err(Error::new(ErrorKind::Contention, "the row changed again and again while it was patched; try again")
            .with_operation("patch")
            .with_table(self.name.as_str())
            .with_key(key))
    }

    /// Deletes the version that was read, which must still be the current one.
    ///
    /// # Errors
    /// As [`Table::replace`].
    pub async fn delete<E: Unindexed>(&self, read: &Versioned<E>) -> Result<()> {
        self.remove(Action::Delete(read.key().clone(), version_of(read))).await
    }

    /// Deletes whatever version there is.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound).
    pub async fn delete_unconditionally<E: Unindexed>(&self, key: Key<E>) -> Result<()> {
        self.remove(Action::Delete(key.resolve()?, IfMatch::Any)).await
    }

    /// Deletes whatever version there is, and says whether there was one.
    ///
    /// # Errors
    /// Those of reaching the store.
    pub async fn delete_if_exists<E: Unindexed>(&self, key: Key<E>) -> Result<bool> {
        match self.delete_unconditionally(key).await {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn put(&self, action: Action) -> Result<ETag> {
        let written = (*self.store).write(&self.name, Operation::new(action)?).await?;
        written.etag.ok_or_else(|| Error::corrupted("the store answered a write without an ETag"))
    }

    async fn remove(&self, action: Action) -> Result<()> {
        (*self.store).write(&self.name, Operation::new(action)?).await.map(|_| ())
    }
}

pub(super) fn version_of<E>(read: &Versioned<E>) -> IfMatch {
    IfMatch::Version(read.etag().clone())
}
