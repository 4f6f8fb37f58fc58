//! Writing what a source says into its targets: targets first, then the source, then conditional writes.
//!
//! Writers, workers and whoever repairs do this. What is written is read at that time and never carried along, so it
//! does not matter who does it, in which order, or how often.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::stream;
use table_core::{EntityKey, Error, Key, LoadOptions, LoadUnit, PartitionKey, Result, RowKey, Versioned};

use super::across::Across;
use super::message::Behind;
use super::one::{Copied, Place, finder_of};
use super::targets::Lookup;
use super::{KeepsCopies, pointing};
use crate::intent::{Ended, Settled};
use crate::intra_partition_secondary_index::IndexedTransaction;

/// Requests for targets of different partitions that run at once.
const AT_ONCE: usize = 8;

impl<T: KeepsCopies> Across<T> {
    /// Brings the targets of so many pages up to date, and says what is left.
    pub(super) async fn settle(&self, source: &EntityKey, mut behind: Behind, pages: usize) -> Result<Settled<Behind>> {
        for _ in 0..pages {
            let Some((lookup, after)) = behind.next() else { break };
            let page = lookup.page::<T>(self.targets.table(), after).await?;
            self.write_copies(source, page.targets, lookup).await?;
            behind.done(page.next);
        }
        Ok(if behind.next().is_some() { Settled::Later(behind, Duration::ZERO) } else { Settled::All(Vec::new()) })
    }

    /// Writes the copies of a source that differ from what it says, wherever they are, and says how many.
    pub(super) async fn refresh(&self, source: &T::Source) -> Result<usize> {
        let key = Key::new(table_core::Entity::entity_key(source));
        let mut behind = Behind::of([T::targets(source)])?;
        let mut written = 0;
        while let Some((lookup, after)) = behind.next() {
            let page = lookup.page::<T>(self.targets.table(), after).await?;
            let current = self.sources.get::<T::Source>(key.clone()).await?;
            let mut stale = Vec::new();
            for target in page.targets {
                if is_of(target.value(), &key.resolve()?) && differs(&target, current.as_deref())? {
                    stale.push(target);
                }
            }
            written += stale.len();
            self.write_copies(&key.resolve()?, stale, lookup).await?;
            behind.done(page.next);
        }
        Ok(written)
    }

    /// Writes what a source says into those of the targets that name it, as they were read before by a lookup.
    async fn write_copies(&self, source: &EntityKey, read: Vec<Versioned<T>>, lookup: &Lookup) -> Result<()> {
        let mut attempts = self.options.begin();
        let mut due = of_source(read, source);
        while !due.is_empty() {
            // After the targets: whoever changes the source later moves their versions.
            let current = self.sources.get::<T::Source>(Key::from(source.clone())).await?;
            let refused = self.write_all(due, &Copied { at: source, source: current.as_ref() }, lookup).await?;
            if refused.is_empty() {
                return Ok(());
            }
            let changed = Error::precondition_failed("a target changed while its copies were written");
            attempts.after(changed.with_key(source.clone()), true).await?;
            let again = refused.into_iter().map(Key::from);
            let again = self.targets.table().get_many::<T, Key<T>>(again, AT_ONCE).await?;
            due = of_source(again.into_iter().flatten().collect(), source);
        }
        Ok(())
    }

    /// Writes targets, as many in a transaction as fit, and says which of them somebody else has changed. What already
    /// looks right is written too: the new version is what stops whoever comes late.
    async fn write_all(
        &self,
        targets: Vec<Versioned<T>>,
        copied: &Copied<'_, T::Source>,
        lookup: &Lookup,
    ) -> Result<Vec<EntityKey>> {
        let refused = Refusals::default();
        // Where the next change of the source will look; of a source that is gone, where this one did.
        let finder = match copied.source {
            Some(source) => finder_of::<T>(source)?,
            None => Some(lookup.finder::<T>()?),
        };
        let (mut units, mut alone) = (Vec::new(), Vec::new());
        for mut target in targets {
            let (shown, before) = (self.targets.shown(&target)?, Place::of(&target, finder.as_ref())?);
            target.take(copied.source.map(Versioned::value));
            let stays = self.targets.stays(&target, &shown)?;
            let is_found = before.stays(&Place::of(&target, finder.as_ref())?);
            if stays && is_found {
                units.push(Unit::new(self.targets.table(), target));
            } else {
                alone.push((target, shown, is_found));
            }
        }
        let options = LoadOptions::default().with_concurrency(AT_ONCE);
        self.targets
            .table()
            .load_units(stream::iter(units), options, |units| self.write_units(units, &refused))
            .await?;
        for (mut target, shown, is_found) in alone {
            match self.write_one(&mut target, shown, copied, is_found).await {
                Ok(()) => {}
                Err(Ended::Again(_)) => refused.add(target.key()),
                Err(Ended::Refused(error)) if error.is_conflict() => refused.add(target.key()),
                Err(Ended::Refused(error)) => return Err(error.into_error()),
            }
        }
        Ok(refused.into_keys())
    }

    /// Writes targets in one transaction, and each alone where that is refused.
    async fn write_units(&self, units: Vec<Unit<'_, T>>, refused: &Refusals) -> Result<()> {
        let (mut transaction, mut targets) = (IndexedTransaction::local_part(self.targets.table()), Vec::new());
        for unit in units {
            transaction = transaction.join(unit.transaction);
            targets.push(unit.target);
        }
        match transaction.commit().await {
            Ok(_) => return Ok(()),
            Err(error) if !crate::attempts::is_outpaced(&error) => return Err(error),
            Err(_) => {}
        }
        if let [only] = targets.as_slice() {
            refused.add(only.key());
            return Ok(());
        }
        for target in targets {
            match IndexedTransaction::local_part(self.targets.table()).replace(&target).commit().await {
                Ok(_) => {}
                Err(error) if crate::attempts::is_outpaced(&error) => refused.add(target.key()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Whether a target names a source.
fn is_of<T: KeepsCopies>(target: &T, source: &EntityKey) -> bool {
    pointing(target).is_ok_and(|at| at.as_ref() == Some(source))
}

fn of_source<T: KeepsCopies>(targets: Vec<Versioned<T>>, source: &EntityKey) -> Vec<Versioned<T>> {
    targets.into_iter().filter(|target| is_of(target.value(), source)).collect()
}

/// Whether a target shows something else than its source says.
pub(crate) fn differs<T: KeepsCopies>(target: &Versioned<T>, source: Option<&T::Source>) -> Result<bool> {
    let mut right = super::across::read_again(target)?;
    right.take(source);
    Ok(right.value().to_row()? != target.value().to_row()?)
}

/// The targets that were refused, noted by requests side by side.
#[derive(Debug, Default)]
struct Refusals(Mutex<Vec<EntityKey>>);

impl Refusals {
    fn add(&self, key: &EntityKey) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(key.clone());
    }

    fn into_keys(self) -> Vec<EntityKey> {
        let mut keys = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        keys.sort_unstable();
        keys
    }
}

/// A target and its copies in its partition.
struct Unit<'t, T> {
    target: Versioned<T>,
    transaction: IndexedTransaction<'t>,
}

impl<'t, T: KeepsCopies> Unit<'t, T> {
    fn new(table: &'t table_core::Table, target: Versioned<T>) -> Result<Self> {
        let transaction = IndexedTransaction::local_part(table).replace(&target).checked()?;
        Ok(Self { target, transaction })
    }
}

impl<T: Send> LoadUnit for Unit<'_, T> {
    fn partition(&self) -> &PartitionKey {
        &self.target.key().partition
    }

    fn rows(&self) -> impl Iterator<Item = &RowKey> {
        self.transaction.rows().map(|(key, _)| &key.row)
    }

    fn counted_bytes(&self) -> usize {
        self.transaction.rows().map(|(_, bytes)| bytes).sum()
    }
}
