//! A pair in one partition: sources with their targets, and targets with the fields of their source, in one
//! transaction each.

use table_core::{Action, DynamicEntity, ETag, Entity, EntityKey, Error, Key, Operation, Result, Versioned, limits};

use super::{Denormalized, KeepsCopies};
pub(crate) use crate::attempts::is_outpaced as is_conflict;
use crate::intra_partition_secondary_index::IndexedTransaction;
use crate::rows::{unchanged, version};

impl<T: KeepsCopies> Denormalized<T> {
    pub(super) async fn insert_here(&self, source: &T::Source) -> Result<ETag> {
        let key = source.entity_key()?;
        let mut attempts = self.options.begin();
        loop {
            let targets = self.targets_of(source).await?;
            require_target::<T>(&targets, &key)?;
            // A target that looks right is written too: whoever refreshes it for want of a source is to notice.
            let changed = changed(targets, |target| {
                target.count(1);
                take_if_pointing(target, &key, Some(source))
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
            let changed = changed(targets, |target| {
                take_if_pointing(target, &at, Some(&source));
                false
            })?;
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
                let mut version = source.etag().clone();
                self.refresh_from(&source, &mut version).await?;
                source.written(version)?;
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
                false
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
        self.refresh_from(source, &mut ETag::from("")).await
    }

    /// Refreshes the copies of a source, and says how many. Where the source is of this version, it is noted which version
    /// it has afterwards.
    async fn refresh_from(&self, source: &T::Source, version: &mut ETag) -> Result<usize> {
        let key = source.entity_key()?;
        let mut attempts = self.options.begin();
        let mut written = 0;
        loop {
            // First the targets, then the source. Whoever changes the source back to what some targets still show
            // writes only the source; so it is touched with them, if it is still what was read.
            let targets = self.targets_of(source).await?;
            let mut current = self.targets.get::<T::Source>(Key::from(key.clone())).await?;
            let stale = changed(targets, |target| {
                take_if_pointing(target, &key, current.as_deref());
                false
            })?;
            if stale.is_empty() {
                return Ok(written);
            }
            for chunk in stale.chunks(chunk_size::<T>(1)) {
                let mut replace =
                    chunk.iter().fold(IndexedTransaction::new(&self.targets), IndexedTransaction::replace);
                if let Some(current) = &current {
                    replace = replace.operation(touch(current)?);
                }
                match replace.commit().await {
                    Ok(answers) => {
                        written += chunk.len();
                        if let (Some(current), Some(touched)) = (&mut current, answers.into_iter().last()) {
                            let is_known = current.etag() == version;
                            current.written(crate::rows::version(Some(touched))?)?;
                            if is_known {
                                version.clone_from(current.etag());
                            }
                        }
                    }
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

/// Has a target take the fields of a source that it names, and says whether it does.
fn take_if_pointing<T: KeepsCopies>(target: &mut T, key: &EntityKey, source: Option<&T::Source>) -> bool {
    let is_pointing = pointing(target).is_ok_and(|at| at.as_ref() == Some(key));
    if is_pointing {
        target.take(source);
    }
    is_pointing
}

/// The targets whose rows a change makes others of, and those that it wants written anyway.
fn changed<T: KeepsCopies>(targets: Vec<Versioned<T>>, change: impl Fn(&mut T) -> bool) -> Result<Vec<Versioned<T>>> {
    let mut changed = Vec::new();
    for mut target in targets {
        let before = target.value().to_row()?;
        let anyway = change(&mut target);
        if anyway || target.value().to_row()? != before {
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

fn require_target<T: KeepsCopies>(targets: &[Versioned<T>], source: &EntityKey) -> Result<()> {
    if T::NEEDS_TARGET && targets.is_empty() {
        let message = format!("there is no {} for this entity; insert it first", T::SCHEMA.name);
        return Err(Error::not_found(message).with_key(source.clone()));
    }
    Ok(())
}
