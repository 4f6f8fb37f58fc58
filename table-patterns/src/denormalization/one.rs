//! Writing one target, which a change of its source may be looking for at that moment.
//!
//! A target that stays in the row by which changes of its source find it is written as it is: whoever changes the source
//! finds it before or after, and one of the two is refused. A target that such a change may miss is written with a message
//! and an intent of its own, and its source is read once more when its index rows lead to it; should its writer die before,
//! a worker does.

use std::time::Duration;

use table_core::{ETag, EntityKey, Key, Result, Versioned};

use super::across::{Across, read_again};
use super::message::{About, Pointed, new_id};
use super::targets::Finder;
use super::{KeepsCopies, pointing};
use crate::intent::{Age, Ended, Intent, Sent, Settled};
use crate::inter_partition_secondary_index::Change;
use crate::intra_partition_secondary_index::Shown;
use crate::maintenance::marks;
use crate::rows::existing;

/// How long a worker waits for the index rows of a target.
pub(super) const FOR_INDEXES: Duration = Duration::from_secs(5);

/// What a target copies: a source as it was read, or that there is none.
pub(super) struct Copied<'s, S> {
    pub(super) at: &'s EntityKey,
    pub(super) source: Option<&'s Versioned<S>>,
}

/// How a target and its source stand once the target is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// The source was the same all the time; and whoever changes it from now on finds the target.
    Same,
    /// The source has changed meanwhile.
    Changed,
    /// Index rows elsewhere do not lead to the target yet, by which a change of its source might look for it.
    Waits,
}

/// Where changes of its source find a target.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    Nowhere,
    At(EntityKey),
    /// Nobody can say.
    Unknown,
}

impl Place {
    /// The place of a target, by what asks for the targets of its source, if anything does. A row of an older version of
    /// the type may stand elsewhere in an index.
    pub(super) fn of<T: KeepsCopies>(target: &Versioned<T>, finder: Option<&Finder>) -> Result<Self> {
        let Some(finder) = finder else { return Ok(Self::Nowhere) };
        if target.is_upgraded() && finder.reads_an_index() {
            return Ok(Self::Unknown);
        }
        Ok(finder.place(target.value())?.map_or(Self::Nowhere, Self::At))
    }

    /// Whether a target that was here is not missed while it is written, since it stays.
    pub(super) fn stays(&self, after: &Self) -> bool {
        *self != Self::Unknown && self == after
    }
}

/// What the next change of a source asks for its targets; none where it has none.
pub(super) fn finder_of<T: KeepsCopies>(source: &T::Source) -> Result<Option<Finder>> {
    T::targets(source).lookup()?.map(|lookup| lookup.finder::<T>()).transpose()
}

/// Has a target take what it copies, and says whether changes of the source find it all the time, where it stood before and
/// where it stands now. Where there is no source, nobody knows where the next one will look for its targets.
pub(super) fn take<T: KeepsCopies>(
    target: &mut Versioned<T>,
    before: &Versioned<T>,
    source: Option<&T::Source>,
) -> Result<bool> {
    target.take(source);
    let Some(source) = source else { return Ok(false) };
    let finder = finder_of::<T>(source)?;
    Ok(Place::of(before, finder.as_ref())?.stays(&Place::of(target, finder.as_ref())?))
}

impl<T: KeepsCopies> Across<T> {
    /// Writes what its source says into a target, always; none where the target is gone.
    pub(crate) async fn write_target(&self, key: &EntityKey) -> Result<Option<Versioned<T>>> {
        let mut attempts = self.options.begin();
        loop {
            let Some(mut target) = self.targets.get::<T>(Key::from(key.clone())).await? else { return Ok(None) };
            let shown = self.targets.shown(&target)?;
            let written = match pointing(&*target)? {
                None => {
                    target.take(None);
                    self.targets.write_edited(&mut target, shown).await.map_err(Ended::from)
                }
                Some(at) => {
                    let source = self.sources.get::<T::Source>(Key::from(at.clone())).await?;
                    let before = read_again(&target)?;
                    let is_found = take(&mut target, &before, source.as_deref())?;
                    let copied = Copied { at: &at, source: source.as_ref() };
                    self.write_one(&mut target, shown, &copied, is_found).await
                }
            };
            match written {
                Ok(()) => return Ok(Some(target)),
                Err(ended) => ended.wait(&mut attempts).await?,
            }
        }
    }

    /// Writes a target over what was read. Where changes of its source may not find it just then, it has an intent of its own,
    /// and what is left to do is a worker's.
    pub(super) async fn write_one(
        &self,
        target: &mut Versioned<T>,
        shown: Shown,
        copied: &Copied<'_, T::Source>,
        is_found: bool,
    ) -> Result<(), Ended> {
        if is_found {
            return Ok(self.targets.write_edited(target, shown).await?);
        }
        let stays = self.targets.stays(target, &shown)?;
        let (sent, etag) = self.announce(&Change::Replace(target), stays).await?;
        let settle = async {
            Ok(match self.look_again(&sent.intent, copied).await? {
                Look::Same => Settled::All(Vec::new()),
                Look::Changed => Settled::Later(Pointed {}, Duration::ZERO),
                Look::Waits => Settled::Later(Pointed {}, FOR_INDEXES),
            })
        };
        self.keeper.finish(self.targets.table(), &sent, settle).await;
        Ok(target.written(etag)?)
    }

    /// Writes a target with a message and an intent.
    pub(super) async fn announce(&self, change: &Change<'_, T>, stays: bool) -> Result<(Sent<Pointed>, ETag), Ended> {
        let (scope, key) = (self.scope(About::Targets), change.key()?);
        let sent = self.keeper.send(scope, new_id(), key, Pointed {}, Age::begin()).await?;
        let etag = existing(self.commit(&self.targets, &sent, change, stays).await?)?;
        Ok((sent, etag))
    }

    /// Looks whether the source of a target is still what was copied, once index rows lead to the target.
    pub(super) async fn look_again(&self, intent: &Intent<Pointed>, copied: &Copied<'_, T::Source>) -> Result<Look> {
        if self.waits_for_indexes(&intent.source).await? {
            return Ok(Look::Waits);
        }
        let current = self.sources.get::<T::Source>(Key::from(copied.at.clone())).await?;
        let is_same = current.as_ref().map(Versioned::etag) == copied.source.map(Versioned::etag);
        Ok(if is_same { Look::Same } else { Look::Changed })
    }

    /// Brings a target up to date that has an intent.
    pub(super) async fn settle_target(&self, intent: Intent<Pointed>) -> Result<Settled<Pointed>> {
        if self.waits_for_indexes(&intent.source).await? {
            return Ok(Settled::Later(Pointed {}, FOR_INDEXES));
        }
        self.write_target(&intent.source).await?;
        Ok(Settled::All(Vec::new()))
    }

    /// Whether index rows elsewhere are not yet what a target says.
    async fn waits_for_indexes(&self, target: &EntityKey) -> Result<bool> {
        if self.targets.keeper().is_none() {
            return Ok(false);
        }
        marks::has_any_intent(self.targets.table(), target, marks::is_of_indexes).await
    }
}
