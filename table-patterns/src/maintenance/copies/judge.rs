//! What is wrong with a target, and whether that is only for a moment.

use std::collections::BTreeMap;
use std::time::Duration;

use table_core::{DynamicEntity, EntityKey, Key, Query, Result, Timestamp, Versioned};

use super::{Copies, Wrong};
use crate::denormalization::{KeepsCopies, differs, pointing};
use crate::intent::IntentOptions;
use crate::maintenance::look::{Verdict, until_still};
use crate::maintenance::marks;

/// What is wrong with a target, and the source that it has.
type WrongOf = (Wrong, Option<EntityKey>);

impl<T: KeepsCopies> Copies<'_, T> {
    pub(super) async fn target(&self, key: &EntityKey) -> Result<Option<Versioned<T>>> {
        self.0.table().get::<T>(Key::from(key.clone())).await
    }

    pub(super) async fn source_of(&self, target: &Versioned<T>) -> Result<Option<Versioned<T::Source>>> {
        match pointing(target.value())? {
            Some(at) => self.0.sources().get::<T::Source>(Key::from(at)).await,
            None => Ok(None),
        }
    }

    /// Looks at a target until it and its source stand still, and says what is wrong with it.
    ///
    /// An intent is deleted after its targets are written. So a target that is wrong when there is no intent any more,
    /// neither of its source nor of itself, is wrong for good, if both have not changed before and after.
    pub(super) async fn confirm(&self, key: &EntityKey, now: Timestamp) -> Result<Verdict<WrongOf>> {
        until_still(|| self.look(key, now)).await
    }

    async fn look(&self, key: &EntityKey, now: Timestamp) -> Result<Option<Verdict<WrongOf>>> {
        let Some(target) = self.target(key).await? else { return Ok(Some(Verdict::Right)) };
        let source = self.source_of(&target).await?;
        let at = pointing(target.value())?;
        if self.has_intent(key, at.as_ref(), now).await? {
            return Ok(Some(Verdict::InFlight));
        }
        let Some(wrong) = judge(&target, source.as_deref())? else { return Ok(Some(Verdict::Right)) };
        let again = self.target(key).await?;
        let stands = again.as_ref().map(Versioned::etag) == Some(target.etag());
        let source_again = self.source_of(&target).await?;
        let source_stands = source_again.as_ref().map(Versioned::etag) == source.as_ref().map(Versioned::etag);
        Ok((stands && source_stands).then_some(Verdict::Wrong((wrong, at))))
    }

    /// Whether a change is on its way: of the source, or of the target itself.
    async fn has_intent(&self, target: &EntityKey, source: Option<&EntityKey>, now: Timestamp) -> Result<bool> {
        if self.0.across().is_none() {
            return Ok(false);
        }
        let entities = [source.map(|source| (self.0.sources(), source)), Some((self.0.table(), target))];
        for (table, entity) in entities.into_iter().flatten() {
            if marks::has_intent(table, entity, now, self.grace(), |row| self.owns(row)).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether an intent or a fence is of this pair. That of another pair is not settled here, and so not removed.
    pub(super) fn owns(&self, row: &DynamicEntity) -> bool {
        self.0.across().is_some_and(|across| across.owns(row))
    }

    /// How many sources a target has more than it says; none where it does not count, or is gone.
    pub(super) async fn miscount(&self, target: &Versioned<T>) -> Result<Option<i64>> {
        let Some(counted) = target.counted() else { return Ok(None) };
        let all = Query::<T::Source>::partition(&target.key().partition).allow_scan();
        let mut lookups = BTreeMap::new();
        for source in self.0.sources().all(all).await? {
            if let Some(lookup) = T::targets(source.value()).lookup()? {
                *lookups.entry(lookup).or_insert(0) += 1;
            }
        }
        let mut real = 0;
        for (lookup, sources) in lookups {
            let found = lookup.all::<T>(self.0.table()).await?;
            real += if found.iter().any(|found| found.key() == target.key()) { sources } else { 0 };
        }
        Ok(Some(real - counted))
    }

    /// Whether a target counts its sources, and wrongly, while it stands still: whoever adds a source writes it too.
    pub(super) async fn has_wrong_count(&self, key: &EntityKey) -> Result<bool> {
        Ok(until_still(|| self.look_at_count(key)).await? == Verdict::Wrong(()))
    }

    async fn look_at_count(&self, key: &EntityKey) -> Result<Option<Verdict<()>>> {
        let Some(target) = self.target(key).await? else { return Ok(Some(Verdict::Right)) };
        if self.miscount(&target).await?.unwrap_or(0) == 0 {
            return Ok(Some(Verdict::Right));
        }
        let stands = self.target(key).await?.as_ref().map(Versioned::etag) == Some(target.etag());
        Ok(stands.then_some(Verdict::Wrong(())))
    }

    /// Whether a row stands for so long that nobody comes for it any more.
    pub(super) fn is_overdue(&self, row: &DynamicEntity, now: Timestamp) -> bool {
        marks::is_overdue(row, now, self.grace())
    }

    fn grace(&self) -> Duration {
        let intents = self.0.across().map(|across| across.keeper().options().grace);
        intents.unwrap_or_else(|| IntentOptions::default().grace)
    }
}

/// What is wrong with a target that has this source.
pub(super) fn judge<T: KeepsCopies>(target: &Versioned<T>, source: Option<&T::Source>) -> Result<Option<Wrong>> {
    if !differs(target, source)? {
        return Ok(None);
    }
    Ok(Some(match source {
        None => Wrong::Orphaned,
        Some(_) if !differs(target, None)? => Wrong::Missing,
        Some(_) => Wrong::Stale,
    }))
}
