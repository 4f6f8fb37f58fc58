//! Writing sources and targets: in one transaction, or by the protocol across partitions.

use table_core::{ETag, Key, Result, Versioned};

use super::{Denormalized, KeepsCopies};

impl<T: KeepsCopies> Denormalized<T> {
    /// Adds a source that must not exist, to the copies and counts of its targets.
    ///
    /// # Errors
    /// [`NotFound`](table_core::ErrorKind::NotFound) where a target is needed and there is none,
    /// [`Contention`](table_core::ErrorKind::Contention), and as
    /// [`IndexedTransaction::commit`](crate::IndexedTransaction::commit).
    pub async fn insert(&self, source: &T::Source) -> Result<ETag> {
        match &self.across {
            None => self.insert_here(source).await,
            Some(across) => Box::pin(across.insert(source)).await,
        }
    }

    /// Reads a source, changes it, and writes it and the copies of its fields.
    ///
    /// # Errors
    /// [`NotFound`](table_core::ErrorKind::NotFound), [`Contention`](table_core::ErrorKind::Contention), and as
    /// [`IndexedTransaction::commit`](crate::IndexedTransaction::commit).
    pub async fn update(
        &self,
        key: Key<T::Source>,
        change: impl FnMut(&mut T::Source) + Send,
    ) -> Result<Versioned<T::Source>> {
        match &self.across {
            None => self.update_here(key, change).await,
            Some(across) => Box::pin(across.update(key, change)).await,
        }
    }

    /// Deletes a source, takes it out of the copies and counts of its targets, and says whether it was there.
    ///
    /// # Errors
    /// [`Contention`](table_core::ErrorKind::Contention), and as
    /// [`IndexedTransaction::commit`](crate::IndexedTransaction::commit).
    pub async fn delete(&self, key: Key<T::Source>) -> Result<bool> {
        match &self.across {
            None => self.delete_here(key).await,
            Some(across) => Box::pin(across.delete(key)).await,
        }
    }

    /// Writes the copies of a source that are not as the source says, and returns how many. It ends
    /// what an update of very many targets in one partition left when it was cut off; elsewhere a worker does.
    ///
    /// # Errors
    /// As [`Denormalized::update`].
    pub async fn refresh(&self, source: &T::Source) -> Result<usize> {
        match &self.across {
            None => self.refresh_here(source).await,
            Some(across) => Box::pin(across.refresh(source)).await,
        }
    }

    /// Adds a target that must not exist, with the fields of the source that it names.
    ///
    /// # Errors
    /// [`NotFound`](table_core::ErrorKind::NotFound) for a source that is not there,
    /// [`Unsupported`](table_core::ErrorKind::Unsupported) for one that counts across partitions, and as
    /// [`Denormalized::insert`].
    pub async fn insert_target(&self, target: &T) -> Result<ETag>
    where
        T: Clone,
    {
        match &self.across {
            None => self.insert_target_here(target).await,
            Some(across) => Box::pin(across.insert_target(target)).await,
        }
    }

    /// Reads a target, changes it, and writes it with the fields of the source that it then names.
    ///
    /// # Errors
    /// [`NotFound`](table_core::ErrorKind::NotFound) for a target that is not there, or a source that it is pointed at,
    /// and as [`Denormalized::insert_target`].
    pub async fn update_target(&self, key: Key<T>, change: impl FnMut(&mut T) + Send) -> Result<Versioned<T>> {
        match &self.across {
            None => self.update_target_here(key, change).await,
            Some(across) => Box::pin(across.update_target(key, change)).await,
        }
    }
}
