//! A pair in one partition: sources with their targets, and targets with the fields of their source, in one
//! transaction each.

use table_core::{
    Action, DynamicEntity, ETag, Entity, EntityKey, Error, ErrorKind, Key, Operation, Result, Versioned, limits,
};

use super::{Denormalized, KeepsCopies};
use crate::intra_partition_secondary_index::IndexedTransaction;
use crate::rows::{unchanged, version};

impl<T: KeepsCopies> Denormalized<T> {
    pub(super) async fn insert_here(&self, source: &T::Source) -> Result<ETag> {
        let key = source.entity_key()?;
        let mut attempts = self.options.begin();
        loop {
            let targets = self.targets_of(source).await?;
            require_target::<T>(&targets, &key)?;
            let changed = changed(targets, |target| {
                target.count(1);
                take_if_pointing(target, &key, Some(source));
            })?;
            let insert = IndexedTransaction::new(&self.targets).insert(source);
            match changed.iter().fold(insert, IndexedTransaction::replace).commit().await {
                Ok(written) => return version(written.into_iter().next()),
                Err(error) => {
                    let conflict = is_conflict(&error) && error.key() != Some(&key);
                    attempts.after(error, conflict).await?;
                }
            }
        }
    }

    pub(super) async fn update_here(
        &self,
        key: Key<T::Source>,
        mut change: impl FnMut(&mut T::Source) + Send,
    ) -> Result<Versioned<T::Source>> {
        let mut attempts = self.options.begin();
        loop {
            let mut source = self.targets.require(key.clone()).await?;
            let targets = self.targets_of(&source).await?;
            change(&mut source);
            let at = source.key().clone();
            let changed = changed(targets, |target| take_if_pointing(target, &at, Some(&source)))?;
            let (first, rest) = changed.split_at(changed.len().min(chunk_size::<T>(rows_of::<T::Source>())));
            let replace = IndexedTransaction::new(&self.targets).replace(&source);
            match first.iter().fold(replace, IndexedTransaction::replace).commit().await {
                Ok(written) => source.written(version(written.into_iter().next())?)?,
                Err(error) => {
                    let conflict = is_conflict(&error);
                    attempts.after(error, conflict).await?;
                    continue;
                }
            }
            if !rest.is_empty() {
                self.refresh_here(&source).await?;
            }
            return Ok(source);
        }
    }

    pub(super) async fn delete_here(&self, key: Key<T::Source>) -> Result<bool> {
        let mut attempts = self.options.begin();
        loop {
            let Some(source) = self.targets.get::<T::Source>(key.clone()).await? else { return Ok(false) };
            let changed = changed(self.targets_of(&source).await?, |target| {
                target.count(-1);
                take_if_pointing(target, source.key(), None);
            })?;
            let delete = IndexedTransaction::new(&self.targets).delete(&source);
            match changed.iter().fold(delete, IndexedTransaction::replace).commit().await {
                Ok(_) => return Ok(true),
                Err(error) => {
                    let conflict = is_conflict(&error);
                    attempts.after(error, conflict).await?;
                }
            }
        }
    }

    pub(super) async fn refresh_here(&self, source: &T::Source) -> Result<usize> {
        let key = source.entity_key()?;
        let mut attempts = self.options.begin();
        let mut written = 0;
        loop {
            // First the targets, then the source: whoever changes the source meanwhile finds these
            // targets as they are now, or moves their versions so that the write below is refused.
            let targets = self.targets_of(source).await?;
            let current = self.targets.get::<T::Source>(key.clone()).await?;
            let stale = changed(targets, |target| take_if_pointing(target, &key, current.as_deref()))?;
            if stale.is_empty() {
                return Ok(written);
            }
            for chunk in stale.chunks(chunk_size::<T>(0)) {
                let replace = chunk.iter().fold(IndexedTransaction::new(&self.targets), IndexedTransaction::replace);
                match replace.commit().await {
                    Ok(_) => written += chunk.len(),
                    Err(error) => {
                        let conflict = is_conflict(&error);
                        attempts.after(error, conflict).await?;
                        break;
                    }
                }
            }
        }
    }

    pub(super) async fn insert_target_here(&self, target: &T) -> Result<ETag>
    where
        T: Clone,
    {
        let mut target = target.clone();
        let mut attempts = self.options.begin();
        loop {
            let source = self.source_of(&mut target).await?;
            let mut insert = IndexedTransaction::new(&self.targets).insert(&target);
            if let Some(source) = &source {
                insert = insert.operation(touch(source)?);
            }
            match insert.commit().await {
                Ok(written) => return version(written.into_iter().next()),
                Err(error) => {
                    let conflict = is_conflict(&error);
                    attempts.after(error, conflict).await?;
                }
            }
        }
    }

    pub(super) async fn update_target_here(
        &self,
        key: Key<T>,
        mut change: impl FnMut(&mut T) + Send,
    ) -> Result<Versioned<T>> {
        let mut attempts = self.options.begin();
        loop {
            let mut target = self.targets.require(key.clone()).await?;
            let before = pointing(&*target)?;
            change(&mut target);
            let source = self.source_of(&mut target).await?;
            let mut replace = IndexedTransaction::new(&self.targets).replace(&target);
            // A source that this target pointed at before writes it too, and so would be noticed.
            if let Some(source) = source.as_ref().filter(|source| Some(source.key()) != before.as_ref()) {
                replace = replace.operation(touch(source)?);
            }
            match replace.commit().await {
                Ok(written) => {
                    target.written(version(written.into_iter().next())?)?;
                    return Ok(target);
                }
                Err(error) => {
                    let conflict = is_conflict(&error);
                    attempts.after(error, conflict).await?;
                }
            }
        }
    }

    /// The source that a target names, whose fields it takes.
    async fn source_of(&self, target: &mut T) -> Result<Option<Versioned<T::Source>>> {
        let source = match target.source() {
            Some(key) => Some(self.targets.require(key).await?),
            None => None,
        };
        target.take(source.as_deref());
        Ok(source)
    }
}

pub(crate) fn pointing<T: KeepsCopies>(target: &T) -> Result<Option<EntityKey>> {
    target.source().map(|key| key.resolve()).transpose()
}

fn take_if_pointing<T: KeepsCopies>(target: &mut T, key: &EntityKey, source: Option<&T::Source>) {
    if pointing(target).is_ok_and(|at| at.as_ref() == Some(key)) {
        target.take(source);
    }
}

/// The targets whose rows a change makes others of.
fn changed<T: KeepsCopies>(targets: Vec<Versioned<T>>, change: impl Fn(&mut T)) -> Result<Vec<Versioned<T>>> {
    let mut changed = Vec::new();
    for mut target in targets {
        let before = target.value().to_row()?;
        change(&mut target);
        if target.value().to_row()? != before {
            changed.push(target);
        }
    }
    Ok(changed)
}

/// Gives a source a new version, so that whoever changes it now reads its targets again.
pub(crate) fn touch<S>(source: &Versioned<S>) -> Result<Operation> {
    Operation::new(Action::Merge(DynamicEntity::new(source.key().clone()), unchanged(source)))
}

/// The most rows that one write of an entity touches: its own, and two for each index.
fn rows_of<E: Entity>() -> usize {
    1 + 2 * E::SCHEMA.indexes.len()
}

/// How many targets fit a transaction beside other rows.
fn chunk_size<T: Entity>(others: usize) -> usize {
    (limits::TRANSACTION_OPERATIONS.saturating_sub(others) / rows_of::<T>()).max(1)
}

pub(crate) fn is_conflict(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::PreconditionFailed | ErrorKind::NotFound)
}

fn require_target<T: KeepsCopies>(targets: &[Versioned<T>], source: &EntityKey) -> Result<()> {
    if T::NEEDS_TARGET && targets.is_empty() {
        let message = format!("there is no {} for this entity; insert it first", T::SCHEMA.name);
        return Err(Error::not_found(message).with_key(source.clone()));
    }
    Ok(())
}
