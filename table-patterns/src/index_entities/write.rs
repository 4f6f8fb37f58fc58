//! Writing an entity and the lists that name it.

use futures_util::stream::{self, StreamExt, TryStreamExt};
use table_core::{
    Action, DynamicEntity, ETag, Entity, EntityKey, Error, ErrorKind, Key, Operation, Result, RowKey, Versioned,
    Written,
};

use super::{IndexEntities, KeyList, LISTED_READS, row_key};
use crate::intra_partition_secondary_index::IndexedTransaction;
use crate::rows::{marked, unchanged, version};

/// A list that an entity joins or leaves.
struct Change {
    list: &'static str,
    key: EntityKey,
    joins: bool,
}

impl<E: Entity> IndexEntities<E> {
    /// Adds an entity that must not exist, and lists it. One storage transaction to read each list,
    /// and one to write everything.
    ///
    /// # Errors
    /// [`AlreadyExists`](ErrorKind::AlreadyExists), [`Contention`](ErrorKind::Contention),
    /// [`LimitExceeded`](ErrorKind::LimitExceeded) for a list over 1 MiB, and as
    /// [`IndexedTransaction::commit`].
    pub async fn insert(&self, entity: &E) -> Result<ETag> {
        let key = entity.entity_key()?;
        let changes = self.changes(&key, None, Some(entity))?;
        let mut attempts = self.options.begin();
        loop {
            let transaction = IndexedTransaction::new(&self.table).insert(entity);
            match self.commit(transaction, &key.row, &changes).await {
                Ok(written) => return version(written),
                Err(error) => {
                    let conflict = is_of_a_list(&error, &changes);
                    attempts.after(error, conflict).await?;
                }
            }
        }
    }

    /// Reads an entity, changes it, and writes it and the lists that it leaves and joins, again where
    /// somebody else was faster. Two storage transactions, and one more for each list that changes.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound), and as [`IndexEntities::insert`].
    pub async fn update(&self, key: Key<E>, mut change: impl FnMut(&mut E) + Send) -> Result<Versioned<E>> {
        let mut attempts = self.options.begin();
        loop {
            let mut read = self.table.require(key.clone()).await?;
            let leaves = self.changes(read.key(), Some(&read), None)?;
            change(&mut read);
            let joins = self.changes(read.key(), None, Some(&read))?;
            let changes = net(leaves, joins);
            let transaction = IndexedTransaction::new(&self.table).replace(&read);
            match self.commit(transaction, &read.key().row, &changes).await {
                Ok(written) => {
                    read.written(version(written)?)?;
                    return Ok(read);
                }
                Err(error) => {
                    let conflict = is_of_a_list(&error, &changes) || is_of_the_entity(&error);
                    attempts.after(error, conflict).await?;
                }
            }
        }
    }

    /// Deletes an entity, takes it off its lists, and says whether it was there. Two storage
    /// transactions, and one more for each list.
    ///
    /// # Errors
    /// [`Contention`](ErrorKind::Contention), and as [`IndexedTransaction::commit`].
    pub async fn delete(&self, key: Key<E>) -> Result<bool> {
        let mut attempts = self.options.begin();
        loop {
            let Some(read) = self.table.get::<E>(key.clone()).await? else { return Ok(false) };
            let changes = self.changes(read.key(), Some(&read), None)?;
            let transaction = IndexedTransaction::new(&self.table).delete(&read);
            match self.commit(transaction, &read.key().row, &changes).await {
                Ok(_) => return Ok(true),
                Err(error) => {
                    let conflict = is_of_a_list(&error, &changes) || is_of_the_entity(&error);
                    attempts.after(error, conflict).await?;
                }
            }
        }
    }

    /// The lists that an entity leaves with its old values, and joins with its new ones.
    fn changes(&self, key: &EntityKey, old: Option<&E>, new: Option<&E>) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        for (entity, joins) in [(old, false), (new, true)] {
            for list in &self.lists {
                if let Some(value) = entity.and_then(list.value) {
                    let key = row_key(&key.partition, list.name, &value)?;
                    changes.push(Change { list: list.name, key, joins });
                }
            }
        }
        Ok(changes)
    }

    /// Reads the lists, adds their new state to the transaction, and commits it. What was written of
    /// the entity comes back.
    async fn commit(
        &self,
        mut transaction: IndexedTransaction<'_>,
        entity: &RowKey,
        changes: &[Change],
    ) -> Result<Option<Written>> {
        let keys: Vec<EntityKey> = changes.iter().map(|change| change.key.clone()).collect();
        let reads = stream::iter(keys).map(|key| self.read_list(key));
        let lists: Vec<_> = reads.buffered(LISTED_READS).try_collect().await?;
        for (change, read) in changes.iter().zip(lists) {
            if let Some(operation) = change.operation(entity, read)? {
                transaction = transaction.operation(operation);
            }
        }
        Ok(transaction.commit().await?.into_iter().next())
    }
}

impl Change {
    /// What becomes of the list, where it has to be written at all.
    fn operation(
        &self,
        entity: &RowKey,
        (row, mut list): (Option<Versioned<DynamicEntity>>, KeyList),
    ) -> Result<Option<Operation>> {
        if self.joins {
            list.add(entity.clone());
        } else {
            list.remove(entity);
        }
        let action = match row {
            Some(read) if list.is_empty() => Action::Delete(self.key.clone(), unchanged(&read)),
            Some(read) => Action::Replace(marked(list.to_row(self.list, self.key.clone())?), unchanged(&read)),
            None if list.is_empty() => return Ok(None),
            None => Action::Insert(marked(list.to_row(self.list, self.key.clone())?)),
        };
        Operation::new(action).map(Some)
    }
}

/// The changes that are left where an entity joins the list that it leaves.
fn net(leaves: Vec<Change>, joins: Vec<Change>) -> Vec<Change> {
    let stays = |change: &Change, others: &[Change]| others.iter().any(|other| other.key == change.key);
    let gone: Vec<bool> = leaves.iter().map(|change| !stays(change, &joins)).collect();
    let come: Vec<bool> = joins.iter().map(|change| !stays(change, &leaves)).collect();
    let kept = leaves.into_iter().zip(gone).chain(joins.into_iter().zip(come));
    kept.filter(|(_, changes)| *changes).map(|(change, _)| change).collect()
}

/// Whether a list was changed, made or deleted since it was read.
fn is_of_a_list(error: &Error, changes: &[Change]) -> bool {
    let refusal =
        matches!(error.kind(), ErrorKind::PreconditionFailed | ErrorKind::NotFound | ErrorKind::AlreadyExists);
    refusal && changes.iter().any(|change| error.key() == Some(&change.key))
}

/// Whether the entity was changed or deleted since it was read.
fn is_of_the_entity(error: &Error) -> bool {
    let first = error.operation_index().unwrap_or(0) == 0;
    first && matches!(error.kind(), ErrorKind::PreconditionFailed | ErrorKind::NotFound)
}
