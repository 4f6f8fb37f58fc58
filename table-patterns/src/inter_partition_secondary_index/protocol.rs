//! The seven steps of a writer.

use table_core::{ETag, Entity, Error, Result, Table, Written};

use super::change::{Change, Plan};
use super::message::{Places, scope};
use super::place::{Found, Standing};
use super::settle::{Applied, Settling, read_all};
use crate::attempts::UpdateOptions;
use crate::intent::{Age, Ended, Garbage, Intent, Keeper, Outer, Sent, before_the_change, rows};
use crate::intra_partition_secondary_index::{IndexedTransaction, Refused, taken};

/// A writer of entities with indexes elsewhere.
pub(crate) struct Writer<'a> {
    pub(crate) table: &'a Table,
    pub(crate) keeper: &'a Keeper,
    pub(crate) attempts: &'a UpdateOptions,
    /// The intent of a pattern that keeps more than these indexes, which is committed with every change.
    pub(crate) outer: Option<Outer>,
}

impl Writer<'_> {
    /// Makes a change, and brings the indexes elsewhere up to date. Once the entity is written the answer is
    /// its version, whatever becomes of the rest: a worker does what is left.
    pub(crate) async fn write<E: Entity>(&self, change: &Change<'_, E>) -> Result<Option<ETag>, Refused> {
        let plan = change.plan(self.table)?;
        if plan.places.is_empty() {
            return self.local(change).try_commit().await.map(version_of_first);
        }
        let mut attempts = self.attempts.begin();
        let mut assume = plan.is_first;
        loop {
            match self.attempt(change, &plan, assume).await {
                Ok(etag) => return Ok(etag),
                Err(Ended::Refused(refused)) => return Err(refused),
                // Something stood where nothing was expected, which is nobody's doing.
                Err(Ended::Again(_)) if assume => assume = false,
                Err(Ended::Again(error)) => attempts.after(error, true).await?,
            }
        }
    }

    async fn attempt<E: Entity>(
        &self,
        change: &Change<'_, E>,
        plan: &Plan,
        assume: bool,
    ) -> Result<Option<ETag>, Ended> {
        let age = Age::begin();
        let mut found = self.look(plan, assume).await.map_err(before_the_change)?;
        let owner = rows::owner(self.table, &plan.source);
        refuse_taken(plan, &found, &owner)?;
        let sent = self.send::<E>(plan, age).await?;
        let mut touched = false;
        if let Err(ended) = self.claim(plan, &mut found, &owner, &sent, &mut touched).await {
            self.give_up::<E>(&sent, touched).await;
            return Err(ended);
        }
        if let Err(too_old) = self.refuse_old_outer() {
            self.give_up::<E>(&sent, touched).await;
            return Err(too_old);
        }
        match self.keeper.commit(self.table, &sent, self.local(change)).await {
            Ok(written) => {
                self.keeper.finish(self.table, &sent, self.settle::<E>(plan, &found, &sent)).await;
                Ok(version_of_first(written))
            }
            Err(Ended::Refused(refused)) => {
                if refused.is_final() {
                    self.give_up::<E>(&sent, touched).await;
                }
                Err(Ended::Refused(refused))
            }
            Err(again) => Err(again),
        }
    }

    /// The change in the partition of the entity.
    fn local<E: Entity>(&self, change: &Change<'_, E>) -> IndexedTransaction<'_> {
        let local = change.local(self.table);
        match &self.outer {
            Some(outer) => local.outer_intent(outer.intent.clone()),
            None => local,
        }
    }

    fn refuse_old_outer(&self) -> Result<(), Ended> {
        match &self.outer {
            Some(outer) if outer.age.is_too_old(self.keeper.options.grace) => {
                Err(Error::precondition_failed("the intent is too old to be carried out").into())
            }
            _ => Ok(()),
        }
    }

    /// Step 1. A first insert takes its places for empty: where they are not, its write is refused.
    async fn look(&self, plan: &Plan, assume: bool) -> Result<Vec<Found>> {
        if assume { Ok(vec![Found::ABSENT; plan.places.len()]) } else { read_all(self.table, &plan.places).await }
    }

    /// Step 2. The message comes before everything that it is to mend.
    async fn send<E: Entity>(&self, plan: &Plan, age: Age) -> Result<Sent<Places>, Ended> {
        let (scope, places) = (scope::<E>(self.table), Places { places: plan.places.clone() });
        self.keeper.send(scope, Keeper::new_id(), plan.source.clone(), places, age).await
    }

    /// Step 3. The index row of a unique value is its claim; until step 5 readers skip it. Says whether one may have
    /// been written.
    async fn claim(
        &self,
        plan: &Plan,
        found: &mut [Found],
        owner: &str,
        sent: &Sent<Places>,
        touched: &mut bool,
    ) -> Result<(), Ended> {
        for position in &plan.claims {
            let (Some(place), Some(found)) = (plan.places.get(*position), found.get_mut(*position)) else { continue };
            self.keeper.refuse_old(sent)?;
            let claim = rows::claim(&place.key, owner, &sent.intent.id);
            let written = place.write(self.table, claim, found).await;
            *touched |= !matches!(written, Ok(None));
            let Some(etag) = written.map_err(before_the_change)? else {
                return Err(Ended::Again(place.at(Error::precondition_failed("somebody else wrote to the index row"))));
            };
            let (owner, intent) = (owner.to_owned(), sent.intent.id.clone());
            *found = Found { etag: Some(etag), standing: Standing::Claimed { owner, intent } };
        }
        Ok(())
    }

    /// Step 5. Where somebody else wrote to an index row, all is read again.
    async fn settle<E: Entity>(&self, plan: &Plan, found: &[Found], sent: &Sent<Places>) -> Result<Vec<Garbage>> {
        let settling = self.settling(&sent.intent);
        match settling.apply(&plan.places, found, &plan.copies, sent.age).await? {
            Applied::All(garbage) => Ok(garbage),
            Applied::Conflict => {
                let mut garbage = settling.settle::<E>(plan.places.clone(), self.attempts).await?;
                if !plan.claims.is_empty() {
                    // Whoever saw a claim may put a fence where the intent is no longer.
                    garbage.push(Garbage::fence(self.table, sent.intent.key()?));
                }
                Ok(garbage)
            }
        }
    }

    /// Takes an intent back whose change was refused for good: what it claimed is free again.
    async fn give_up<E: Entity>(&self, sent: &Sent<Places>, touched: bool) {
        let undo = async {
            if !touched {
                return Ok(Vec::new());
            }
            let places = sent.intent.named.places.clone();
            let mut garbage = self.settling(&sent.intent).settle::<E>(places, self.attempts).await?;
            // Whoever saw the claim may have put a fence there.
            garbage.push(Garbage::fence(self.table, sent.intent.key()?));
            Ok(garbage)
        };
        self.keeper.give_up(sent, undo).await;
    }

    fn settling<'a>(&'a self, intent: &'a Intent<Places>) -> Settling<'a> {
        Settling { table: self.table, source: &intent.source, intent: &intent.id, grace: intent.grace }
    }
}

/// Refuses a unique value that is another's.
fn refuse_taken(plan: &Plan, found: &[Found], owner: &str) -> Result<(), Ended> {
    for position in &plan.claims {
        let (Some(place), Some(found)) = (plan.places.get(*position), found.get(*position)) else { continue };
        // Whether a claim holds is known in a moment; also that of another change of the same entity, which may
        // be carried out although this one is not.
        if found.claimed_by().is_some() {
            let message = format!("another change is about to take this key of the unique index {}", place.index);
            return Err(Ended::Again(place.at(Error::already_exists(message))));
        }
        if found.is_of_another(owner) {
            return Err(Ended::Refused(place.at(taken(&place.index)).into()));
        }
    }
    Ok(())
}

fn version_of_first(written: Vec<Written>) -> Option<ETag> {
    written.into_iter().next().and_then(|written| written.etag)
}
