//! A pair whose targets stand in other partitions or tables: the steps of whoever changes a source.

use std::fmt;

use table_core::{DynamicEntity, ETag, Entity, Key, Result, Table, Versioned};

use super::KeepsCopies;
use super::message::{About, Behind, new_id, scope};
use crate::attempts::UpdateOptions;
use crate::eventually_consistent_transactions::Mover;
use crate::intent::{Age, Ended, IntentOptions, Keeper, Named, Outer, Sent, rows};
use crate::inter_partition_secondary_index::Change;
use crate::intra_partition_secondary_index::Indexed;
use crate::rows::existing;

/// The pages of targets that a writer sees to itself; the rest it leaves to a worker.
const WRITER_PAGES: usize = 1;

/// Sources and targets that no transaction spans, and who keeps them in step.
pub(crate) struct Across<T: KeepsCopies> {
    pub(super) sources: Indexed<T::Source>,
    pub(super) targets: Indexed<T>,
    pub(super) keeper: Keeper,
    pub(super) options: UpdateOptions,
}

impl<T: KeepsCopies> Across<T> {
    pub(super) fn new(sources: &Table, targets: &Table, mover: &Mover, intents: IntentOptions) -> Result<Self> {
        let keeper = Keeper { mover: mover.clone(), options: intents };
        Ok(Self {
            sources: entities(sources, &keeper)?,
            targets: entities(targets, &keeper)?,
            keeper,
            options: UpdateOptions::default(),
        })
    }

    pub(super) fn with_options(self, options: &UpdateOptions) -> Self {
        Self {
            sources: self.sources.with_options(options.clone()),
            targets: self.targets.with_options(options.clone()),
            options: options.clone(),
            ..self
        }
    }

    pub(crate) const fn keeper(&self) -> &Keeper {
        &self.keeper
    }

    /// Whether an intent or a fence is of this pair, and not of another that has the same source or target.
    pub(crate) fn owns(&self, row: &DynamicEntity) -> bool {
        let scope = rows::scope(row);
        [About::Sources, About::Targets].into_iter().any(|about| scope == Some(self.scope(about).as_str()))
    }

    pub(super) fn scope(&self, about: About) -> String {
        scope::<T>(about, self.sources.table(), self.targets.table())
    }

    pub(super) async fn insert(&self, source: &T::Source) -> Result<ETag> {
        let behind = Behind::of([T::targets(source)])?;
        let mut attempts = self.options.begin();
        loop {
            match self.change(&Change::Insert(source), false, behind.clone()).await {
                Ok(etag) => return existing(etag),
                Err(Ended::Refused(refused)) => return Err(refused.into_error()),
                Err(Ended::Again(error)) => attempts.after(error, true).await?,
            }
        }
    }

    pub(super) async fn update(
        &self,
        key: Key<T::Source>,
        mut change: impl FnMut(&mut T::Source) + Send,
    ) -> Result<Versioned<T::Source>> {
        let mut attempts = self.options.begin();
        loop {
            let mut source = self.sources.require(key.clone()).await?;
            let (before, shown) = (read_again(&source)?, self.sources.shown(&source)?);
            change(&mut source);
            let written = if T::shows(&before, &source) {
                let behind = Behind::of([T::targets(&before), T::targets(&source)])?;
                let stays = self.sources.stays(&source, &shown)?;
                match self.change(&Change::Replace(&source), stays, behind).await {
                    Ok(etag) => existing(etag).and_then(|etag| source.written(etag)).map_err(Ended::from),
                    Err(ended) => Err(ended),
                }
            } else {
                self.sources.write_edited(&mut source, shown).await.map_err(Ended::from)
            };
            match written {
                Ok(()) => return Ok(source),
                Err(ended) => ended.wait(&mut attempts).await?,
            }
        }
    }

    pub(super) async fn delete(&self, key: Key<T::Source>) -> Result<bool> {
        let mut attempts = self.options.begin();
        loop {
            let Some(source) = self.sources.get::<T::Source>(key.clone()).await? else { return Ok(false) };
            let behind = Behind::of([T::targets(&source)])?;
            match self.change(&Change::Delete(&source), false, behind).await {
                Ok(_) => return Ok(true),
                Err(ended) => ended.wait(&mut attempts).await?,
            }
        }
    }

    /// Changes a source with a message and an intent, and brings the first targets up to date. Once the source is
    /// written the answer is its version, whatever becomes of the rest: a worker does what is left.
    async fn change(&self, change: &Change<'_, T::Source>, stays: bool, behind: Behind) -> Result<Option<ETag>, Ended> {
        if behind.next().is_none() {
            return self.sources.put(change).await.map_err(Ended::from);
        }
        let (scope, source) = (self.scope(About::Sources), change.key()?);
        let sent = self.keeper.send(scope, new_id(), source.clone(), behind.clone(), Age::begin()).await?;
        let etag = self.commit(&self.sources, &sent, change, stays).await?;
        let settle = self.settle(&source, behind, WRITER_PAGES);
        self.keeper.finish(self.sources.table(), &sent, settle).await;
        Ok(etag)
    }

    /// Commits a change together with the intent row, and closes the message where it was refused for good. Where no index
    /// elsewhere shows it, it `stays` in one transaction.
    pub(super) async fn commit<E: Entity, N: Named>(
        &self,
        entities: &Indexed<E>,
        sent: &Sent<N>,
        change: &Change<'_, E>,
        stays: bool,
    ) -> Result<Option<ETag>, Ended> {
        let table = entities.table();
        let committed = if stays || entities.keeper().is_none() {
            let written = self.keeper.commit(table, sent, change.local(table)).await;
            written.map(|written| written.into_iter().next().and_then(|written| written.etag))
        } else {
            let owner = rows::owner(table, &sent.intent.source);
            let intent = rows::intent(sent.intent.key()?, &owner, &sent.intent.scope);
            entities.put_within(change, Outer { intent, age: sent.age }).await.map_err(|refused| {
                let begins_again = refused.is_outer_fenced() || sent.age.is_too_old(self.keeper.options.grace);
                if begins_again { Ended::Again(refused.into_error()) } else { Ended::Refused(refused) }
            })
        };
        if let Err(Ended::Refused(refused)) = &committed
            && refused.is_final()
        {
            self.keeper.give_up(sent, async { Ok(Vec::new()) }).await;
        }
        committed
    }
}

/// Entities whose indexes elsewhere are kept too, where they have any.
fn entities<E: Entity>(table: &Table, keeper: &Keeper) -> Result<Indexed<E>> {
    let has_remote = E::SCHEMA.indexes.iter().any(|index| !index.is_local());
    Indexed::with_keeper(table.clone(), has_remote.then(|| keeper.clone()))
}

/// What was read, once more: an entity need not be clonable.
pub(crate) fn read_again<E: Entity>(read: &Versioned<E>) -> Result<Versioned<E>> {
    E::from_row(DynamicEntity { etag: Some(read.etag().clone()), ..read.to_row()? })
}

impl<T: KeepsCopies> Clone for Across<T> {
    fn clone(&self) -> Self {
        Self {
            sources: self.sources.clone(),
            targets: self.targets.clone(),
            keeper: self.keeper.clone(),
            options: self.options.clone(),
        }
    }
}

impl<T: KeepsCopies> fmt::Debug for Across<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Across").field("keeper", &self.keeper).finish_non_exhaustive()
    }
}
