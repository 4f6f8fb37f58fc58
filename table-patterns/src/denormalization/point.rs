//! Targets that are new, or that are pointed at another source: the steps of whoever writes them.
//!
//! A change of the source that is on its way may have looked for targets before this one was there. So the source is
//! read once more when the target is written; and should its writer die before, a worker does.

use std::time::Duration;

use table_core::keys::{KeyRange, Span};
use table_core::store::StoreQuery;
use table_core::{ETag, EntityKey, Error, Key, Result, Value, Versioned, reserved};

use super::across::{Across, read_again};
use super::message::{About, Pointed, is_of_copies, new_id};
use super::{KeepsCopies, pointing};
use crate::intent::rows::{self, INTENT_PREFIX};
use crate::intent::{Age, Ended, Intent, Settled};
use crate::inter_partition_secondary_index::Change;
use crate::rows::existing;

/// How long a worker waits for the index rows of a target.
const FOR_INDEXES: Duration = Duration::from_secs(5);

impl<T: KeepsCopies> Across<T> {
    pub(super) async fn insert_target(&self, target: &T) -> Result<ETag>
    where
        T: Clone,
    {
        refuse_counts(target.clone())?;
        let mut attempts = self.options.begin();
        loop {
            let mut target = target.clone();
            let Some(at) = pointing(&target)? else {
                target.take(None);
                return self.targets.insert(&target).await;
            };
            let source = self.sources.require(Key::<T::Source>::from(at)).await?;
            target.take(Some(&source));
            match self.point(&Change::Insert(&target), &source).await {
                Ok((etag, settled)) => return Ok(settled.map_or(etag, |settled| settled.etag().clone())),
                Err(Ended::Refused(refused)) => return Err(refused.into_error()),
                Err(Ended::Again(error)) => attempts.after(error, true).await?,
            }
        }
    }

    pub(super) async fn update_target(
        &self,
        key: Key<T>,
        mut change: impl FnMut(&mut T) + Send,
    ) -> Result<Versioned<T>> {
        let mut attempts = self.options.begin();
        loop {
            let mut target = self.targets.require(key.clone()).await?;
            refuse_counts(read_again(&target)?.into_value())?;
            let (before, shown) = (pointing(&*target)?, self.targets.shown(&target)?);
            change(&mut target);
            let after = pointing(&*target)?;
            // After the target: what is written is never older than what stood there.
            let source = match &after {
                None => None,
                Some(at) if before.as_ref() == Some(at) => self.sources.get(Key::<T::Source>::from(at.clone())).await?,
                Some(at) => Some(self.sources.require(Key::<T::Source>::from(at.clone())).await?),
            };
            target.take(source.as_deref());
            let written = match source.filter(|source| Some(source.key()) != before.as_ref()) {
                // Whoever changes the source that it named before finds it, and so would be noticed.
                None => self.targets.write_edited(&mut target, shown).await.map_err(Ended::from),
                Some(source) => match self.point(&Change::Replace(&target), &source).await {
                    Ok((_, Some(settled))) => return Ok(settled),
                    Ok((etag, None)) => target.written(etag).map_err(Ended::from),
                    Err(ended) => Err(ended),
                },
            };
            match written {
                Ok(()) => return Ok(target),
                Err(ended) => ended.wait(&mut attempts).await?,
            }
        }
    }

    /// Writes a target with a message and an intent, and looks whether its source is still what was copied. Answers its
    /// version, and the target itself where it was written once more.
    async fn point(
        &self,
        change: &Change<'_, T>,
        copied: &Versioned<T::Source>,
    ) -> Result<(ETag, Option<Versioned<T>>), Ended> {
        let (scope, key) = (self.scope(About::Targets), change.key()?);
        let sent = self.keeper.send(scope, new_id(), key, Pointed {}, Age::begin()).await?;
        let etag = existing(self.commit(&self.targets, &sent, change, false).await?)?;
        let mut settled = None;
        let settle = async {
            if self.waits_for_indexes(&sent.intent).await? {
                return Ok(Settled::Later(Pointed {}, FOR_INDEXES));
            }
            let current = self.sources.get::<T::Source>(Key::from(copied.key().clone())).await?;
            // Unchanged, it was the same all the time; and whoever changes it from now on finds the target.
            if current.is_none_or(|current| current.etag() != copied.etag()) {
                settled = self.write_target(&sent.intent.source).await?;
            }
            Ok(Settled::All(Vec::new()))
        };
        self.keeper.finish(self.targets.table(), &sent, settle).await;
        Ok((etag, settled))
    }

    /// Brings a target up to date that was pointed at a source.
    pub(super) async fn settle_target(&self, intent: Intent<Pointed>) -> Result<Settled<Pointed>> {
        if self.waits_for_indexes(&intent).await? {
            return Ok(Settled::Later(Pointed {}, FOR_INDEXES));
        }
        self.write_target(&intent.source).await?;
        Ok(Settled::All(Vec::new()))
    }

    /// Writes what its source says into a target, always; none where the target is gone.
    pub(crate) async fn write_target(&self, key: &EntityKey) -> Result<Option<Versioned<T>>> {
        let mut attempts = self.options.begin();
        loop {
            let Some(mut target) = self.targets.get::<T>(Key::from(key.clone())).await? else { return Ok(None) };
            let source = match pointing(&*target)? {
                Some(at) => self.sources.get::<T::Source>(Key::from(at)).await?,
                None => None,
            };
            let shown = self.targets.shown(&target)?;
            target.take(source.as_deref());
            match self.targets.write_edited(&mut target, shown).await {
                Ok(()) => return Ok(Some(target)),
                Err(refused) => Ended::from(refused).wait(&mut attempts).await?,
            }
        }
    }

    /// Whether index rows elsewhere do not lead to a target yet, by which a change of its source might look for it.
    async fn waits_for_indexes(&self, intent: &Intent<Pointed>) -> Result<bool> {
        if self.targets.keeper().is_none() {
            return Ok(false);
        }
        let table = self.targets.table();
        let partition = KeyRange::partition(&intent.source.partition).partition;
        let mut query = StoreQuery::new(KeyRange { partition, row: Span::prefix(INTENT_PREFIX) });
        let owner = rows::owner(table, &intent.source);
        loop {
            let page = table.store().query(table.name(), &query).await?;
            let waits = page.entities.iter().any(|row| {
                let is_of_target =
                    row.get(reserved::ROW_OWNER.as_str()).and_then(Value::as_str) == Some(owner.as_str());
                is_of_target && !is_of_copies(row) && rows::is_of_kind(row, reserved::INTENT_KIND)
            });
            if waits || page.next.is_none() {
                return Ok(waits);
            }
            query.after = page.next;
        }
    }
}

/// Refuses a target that counts its sources, before it is written.
fn refuse_counts<T: KeepsCopies>(mut target: T) -> Result<()> {
    let before = target.to_row()?;
    target.count(1);
    if target.to_row()? == before && target.counted().is_none() { Ok(()) } else { Err(counts::<T>()) }
}

/// Why counts are not kept across partitions.
pub(super) fn counts<T: KeepsCopies>() -> Error {
    Error::unsupported(format!(
        "{} counts or needs its sources, which only a transaction in one partition keeps right; keep the pair in one partition with `Denormalized::new`, or count elsewhere",
        T::SCHEMA.name
    ))
}
