//! Building, checking and repairing lists: a key is missing, stale or orphaned, one by one.

use std::time::Duration;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use table_core::store::Selection;
use table_core::{
    Action, DynamicEntity, Entity, EntityKey, Error, ErrorKind, IfMatch, Key, Operation, Result, Table, TableName,
    Timestamp, Value, Versioned, reserved,
};

use super::pass::{Pass, Reads};
use super::place::Spot;
use super::settle::is_of_lists;
use super::{IndexEntities, LISTED_READS};
use crate::intent::{Age, is_conflict, rows};
use crate::maintenance::look::{Verdict, until_still};
use crate::maintenance::marks::{Mark, has_intent, is_overdue};
use crate::maintenance::{Checked, Finding, Maintained, MaintenanceOptions, Report, Tables, Wrong};
use crate::rows::is_unreadable;

impl<E: Entity> Maintained for IndexEntities<E> {
    fn tables(&self) -> Result<Tables> {
        Ok(Tables { sources: vec![self.table.clone()], copies: self.list_tables()? })
    }

    async fn check(&self, table: &Table, row: DynamicEntity, now: Timestamp) -> Result<Checked> {
        self.check_in(&Reads::default(), table, row, now).await
    }

    async fn fill(&self, table: &Table, row: DynamicEntity) -> Result<Checked> {
        self.fill_in(&Reads::default(), table, row).await
    }

    async fn build(&self, options: MaintenanceOptions) -> Result<Report> {
        Pass::new(self).build(options).await
    }

    async fn verify(&self, options: MaintenanceOptions) -> Result<Report> {
        Pass::new(self).verify(options).await
    }

    async fn mend(&self, finding: &Finding, now: Timestamp) -> Result<bool> {
        self.require_keeper()?;
        let Finding { wrong, copy, table, key, source } = finding;
        match (wrong, source) {
            (Wrong::Orphaned | Wrong::Stale | Wrong::Missing, Some(source)) if self.declared(copy).is_ok() => {
                let spot = Spot { list: copy.clone(), table: table.clone(), key: key.clone() };
                self.set(&spot, source).await.map(|_| true)
            }
            (Wrong::Leftover, Some(source)) => self.clear(finding, source, now).await,
            _ => Ok(false),
        }
    }
}

impl<E: Entity> IndexEntities<E> {
    /// As [`check`](Maintained::check), with the lists that a pass has read.
    pub(super) async fn check_in(
        &self,
        reads: &Reads,
        table: &Table,
        row: DynamicEntity,
        now: Timestamp,
    ) -> Result<Checked> {
        if table.name() == self.table.name() && E::recognizes(&row) {
            return self.check_source(reads, row, now).await;
        }
        if let Some(list) = self.list_of(table.name(), &row) {
            let spot = Spot { list: list.name.to_owned(), table: table.name().clone(), key: row.key };
            return self.check_list(&spot, now).await;
        }
        Ok(self.check_mark(table, &row, now))
    }

    /// As [`fill`](Maintained::fill), with the lists that a pass has read.
    pub(super) async fn fill_in(&self, reads: &Reads, table: &Table, row: DynamicEntity) -> Result<Checked> {
        if table.name() != self.table.name() || !E::recognizes(&row) {
            return Ok(Checked::default());
        }
        self.require_keeper()?;
        let mut checked = Checked { is_source: true, ..Checked::default() };
        let source = row.key.clone();
        for spot in self.suspects(reads, row, &mut checked).await? {
            checked.written += u64::from(self.set(&spot, &source).await?);
        }
        Ok(checked)
    }

    /// The lists that lack a stored entity. Where the entity or a list cannot be read, that is found.
    async fn suspects(&self, reads: &Reads, row: DynamicEntity, checked: &mut Checked) -> Result<Vec<Spot>> {
        let key = row.key.clone();
        let unreadable = |spot| finding(&spot, Wrong::Unreadable, &key);
        let entity = match E::from_row(row) {
            Ok(entity) => entity,
            Err(error) if is_unreadable(&error) => {
                let (list, table) = (String::new(), self.table.name().clone());
                checked.findings.push(unreadable(Spot { list, table, key: key.clone() }));
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        };
        let mut suspects = Vec::new();
        for (list, spot) in self.spots_of(&key, &entity)? {
            match reads.contains(self.shelf(), list, &spot, &key).await {
                Ok(true) => {}
                Ok(false) => suspects.push(spot),
                Err(error) if error.kind() == ErrorKind::Corrupted => checked.findings.push(unreadable(spot)),
                Err(error) => return Err(error),
            }
        }
        Ok(suspects)
    }

    async fn check_source(&self, reads: &Reads, row: DynamicEntity, now: Timestamp) -> Result<Checked> {
        let mut checked = Checked { is_source: true, ..Checked::default() };
        let source = row.key.clone();
        for spot in self.suspects(reads, row, &mut checked).await? {
            match self.confirm(&spot, &source, now).await? {
                // A key whose entity has moved on since is found in its list.
                Verdict::Right | Verdict::Wrong(Wrong::Stale | Wrong::Orphaned) => {}
                Verdict::Wrong(wrong) => checked.findings.push(finding(&spot, wrong, &source)),
                Verdict::InFlight => checked.in_flight += 1,
            }
        }
        Ok(checked)
    }

    /// Asks the entity of each key of a list whether it is to be there.
    async fn check_list(&self, spot: &Spot, now: Timestamp) -> Result<Checked> {
        let mut checked = Checked { is_copy: true, ..Checked::default() };
        let held = match self.shelf().read(self.declared(&spot.list)?, spot).await {
            Ok(held) => held,
            Err(error) if error.kind() == ErrorKind::Corrupted => {
                let Spot { list, table, key } = spot.clone();
                checked.findings.push(Finding { wrong: Wrong::Unreadable, copy: list, table, key, source: None });
                return Ok(checked);
            }
            Err(error) => return Err(error),
        };
        let keys: Vec<EntityKey> = held.keys.into_keys().collect();
        let looks = keys.into_iter().map(|source| async move {
            let is_listed = match self.entity(&source).await {
                Ok(entity) => entity.is_some_and(|entity| self.is_listed(&source, &entity, spot)),
                // That is found with the entity, and nothing can be said of its key.
                Err(error) if is_unreadable(&error) => true,
                Err(error) => return Err(error),
            };
            if is_listed {
                return Ok((source, Verdict::Right));
            }
            self.confirm(spot, &source, now).await.map(|verdict| (source, verdict))
        });
        let looked: Vec<_> = stream::iter(looks).buffered(LISTED_READS).try_collect().await?;
        for (source, verdict) in looked {
            match verdict {
                Verdict::Wrong(wrong @ (Wrong::Orphaned | Wrong::Stale)) => {
                    checked.findings.push(finding(spot, wrong, &source));
                }
                Verdict::InFlight => checked.in_flight += 1,
                Verdict::Wrong(_) | Verdict::Right => {}
            }
        }
        Ok(checked)
    }

    /// Looks at a key of a list until its entity stands still, and says what is wrong with it.
    ///
    /// An intent is deleted after its lists are written. So a list that is wrong when there is no intent any more is
    /// wrong for good, if the entity has not changed before and after.
    async fn confirm(&self, spot: &Spot, source: &EntityKey, now: Timestamp) -> Result<Verdict> {
        let list = self.declared(&spot.list)?;
        until_still(|| async {
            let entity = self.entity(source).await?;
            if list.is_elsewhere() && has_intent(&self.table, source, now, self.grace(), is_of_lists).await? {
                return Ok(Some(Verdict::InFlight));
            }
            let is_in = self.shelf().read(list, spot).await?.keys.contains(source);
            let belongs = entity.as_ref().is_some_and(|entity| self.is_listed(source, entity, spot));
            let wrong = match (belongs, is_in) {
                (true, false) => Wrong::Missing,
                (false, true) if entity.is_some() => Wrong::Stale,
                (false, true) => Wrong::Orphaned,
                (true, true) | (false, false) => return Ok(Some(Verdict::Right)),
            };
            let again = self.entity(source).await?;
            let is_still = again.as_ref().map(Versioned::etag) == entity.as_ref().map(Versioned::etag);
            Ok(is_still.then_some(Verdict::Wrong(wrong)))
        })
        .await
    }

    /// Tombstones, intents and fences are left over when they are old.
    fn check_mark(&self, table: &Table, row: &DynamicEntity, now: Timestamp) -> Checked {
        let mut checked = Checked::default();
        if is_overdue(row, now, self.grace())
            && let Some((mark, source)) = self.own_mark(table.name(), row)
        {
            let spot = Spot { list: mark.as_str().to_owned(), table: table.name().clone(), key: row.key.clone() };
            checked.findings.push(finding(&spot, Wrong::Leftover, &source));
        }
        checked
    }

    /// The mark of a row, and its entity, where it is one of these lists: a tombstone in their place, or an intent or
    /// fence of theirs. Those of indexes, of copies, and of the lists of another type are not theirs to clear.
    fn own_mark(&self, table: &TableName, row: &DynamicEntity) -> Option<(Mark, EntityKey)> {
        let owner = row.get(reserved::ROW_OWNER.as_str()).and_then(Value::as_str);
        let source = owner.and_then(|owner| rows::source(&self.table, owner));
        let (mark, source) = (Mark::of(row)?, source?);
        let is_ours = match mark {
            Mark::Tombstone => self.lists.iter().any(|list| list.is_called(&self.table, table, &row.key)),
            Mark::Intent | Mark::Fence => is_of_lists(row) && rows::scope(row) == Some(self.scope.as_str()),
            Mark::Claim => false,
        };
        is_ours.then_some((mark, source))
    }

    async fn entity(&self, key: &EntityKey) -> Result<Option<Versioned<E>>> {
        self.table.get::<E>(Key::from(key.clone())).await
    }

    const fn grace(&self) -> Duration {
        self.intents.grace
    }

    /// Puts a key into a list, or takes it out, as its entity says, and says whether that took a write.
    async fn set(&self, spot: &Spot, source: &EntityKey) -> Result<bool> {
        let list = self.declared(&spot.list)?;
        let mut attempts = self.options.begin();
        loop {
            let age = Age::begin();
            let held = self.shelf().read(list, spot).await?;
            let entity = self.entity(source).await?;
            let belongs = entity.as_ref().is_some_and(|entity| self.is_listed(source, entity, spot));
            if held.keys.contains(source) == belongs {
                return Ok(false);
            }
            let is_written = if list.is_elsewhere() {
                let written = self.write_key(spot, held, source, belongs, age).await?;
                if let (Some(Some(tombstone)), Some(keeper)) = (&written, &self.keeper) {
                    keeper.collect_later(self.scope.clone(), vec![tombstone.clone()]).await;
                }
                written.is_some()
            } else {
                let keys = held.keys.clone().with(source, belongs);
                // A list that was not there has no version by which the write could be refused; so the entity is
                // touched in the same transaction, if it is still so.
                let touch = entity.map(|entity| {
                    let row = crate::rows::marked(DynamicEntity::new(entity.key().clone()));
                    Operation::new(Action::Merge(row, IfMatch::Version(entity.etag().clone())))
                });
                self.write_beside(spot, &held, &keys, touch.transpose()?).await?
            };
            if is_written {
                return Ok(true);
            }
            let changed = Error::precondition_failed("the list or its entity changed while the list was repaired");
            attempts.after(spot.at(changed), true).await?;
        }
    }

    /// Removes a row of the protocol that nobody comes for any more, and says whether it is gone.
    async fn clear(&self, finding: &Finding, source: &EntityKey, now: Timestamp) -> Result<bool> {
        let store = self.table.store();
        let Some(row) = store.get(&finding.table, &finding.key, &Selection::All).await? else { return Ok(true) };
        let mark = self.own_mark(&finding.table, &row).map(|(mark, _)| mark);
        if mark.is_none() || !is_overdue(&row, now, self.grace()) {
            return Ok(false);
        }
        if mark == Some(Mark::Intent)
            && let Some(entity) = self.entity(source).await?
        {
            // Its message is lost. Lists that the entity has left are found by their keys.
            for (_, spot) in self.spots_of(source, &entity)? {
                self.set(&spot, source).await?;
            }
        }
        let Some(etag) = row.etag.clone() else { return Ok(false) };
        let remove = Operation::new(Action::Delete(finding.key.clone(), IfMatch::Version(etag)))?;
        match store.write(&finding.table, remove).await {
            Ok(_) => Ok(true),
            Err(error) if is_conflict(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn finding(spot: &Spot, wrong: Wrong, source: &EntityKey) -> Finding {
    let Spot { list, table, key } = spot.clone();
    Finding { wrong, copy: list, table, key, source: Some(source.clone()) }
}
