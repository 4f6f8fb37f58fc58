//! Targets that are new, or that are changed: the steps of whoever writes them.

use table_core::{ETag, Error, Key, Result, Versioned};

use super::across::{Across, read_again};
use super::message::Pointed;
use super::one::{Copied, FOR_INDEXES, Look, take};
use super::{KeepsCopies, pointing};
use crate::intent::{Ended, Settled};
use crate::inter_partition_secondary_index::Change;

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
            let source = self.sources.require(Key::<T::Source>::from(at.clone())).await?;
            target.take(Some(&source));
            match self.point(&Change::Insert(&target), false, &Copied { at: &at, source: Some(&source) }).await {
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
            let (before, shown) = (read_again(&target)?, self.targets.shown(&target)?);
            refuse_counts(read_again(&target)?.into_value())?;
            change(&mut target);
            let Some(at) = pointing(&*target)? else {
                target.take(None);
                match self.targets.write_edited(&mut target, shown).await {
                    Ok(()) => return Ok(target),
                    Err(refused) => Ended::from(refused).wait(&mut attempts).await?,
                }
                continue;
            };
            let is_new = pointing(&*before)?.as_ref() != Some(&at);
            // After the target: what is written is never older than what stood there.
            let key = Key::<T::Source>::from(at.clone());
            let source = if is_new { Some(self.sources.require(key).await?) } else { self.sources.get(key).await? };
            let is_found = take(&mut target, &before, source.as_deref())? && !is_new;
            let written = if is_found {
                self.targets.write_edited(&mut target, shown).await.map_err(Ended::from)
            } else {
                let stays = self.targets.stays(&target, &shown)?;
                let copied = Copied { at: &at, source: source.as_ref() };
                match self.point(&Change::Replace(&target), stays, &copied).await {
                    Ok((_, Some(settled))) => return Ok(settled),
                    Ok((etag, None)) => target.written(etag).map_err(Ended::from),
                    Err(ended) => Err(ended),
                }
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
        stays: bool,
        copied: &Copied<'_, T::Source>,
    ) -> Result<(ETag, Option<Versioned<T>>), Ended> {
        let (sent, etag) = self.announce(change, stays).await?;
        let mut settled = None;
        let settle = async {
            match self.look_again(&sent.intent, copied).await? {
                Look::Waits => return Ok(Settled::Later(Pointed {}, FOR_INDEXES)),
                Look::Changed => settled = self.write_target(&sent.intent.source).await?,
                Look::Same => {}
            }
            Ok(Settled::All(Vec::new()))
        };
        self.keeper.finish(self.targets.table(), &sent, settle).await;
        Ok((etag, settled))
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
