//! The seven steps of a writer.

use table_core::store::MessageReceipt;
use table_core::{Action, ETag, Entity, EntityKey, Error, ErrorKind, IfMatch, Operation, Result, Table, Written};
use uuid::Uuid;

use super::change::{Change, Plan};
use super::message::{Collect, Garbage, Intent, scope};
use super::options::{Age, IntentOptions};
use super::place::{Found, Standing};
use super::rows;
use super::settle::{Applied, Settling, read_all};
use crate::attempts::UpdateOptions;
use crate::eventually_consistent_transactions::{Mover, Outgoing};
use crate::intra_partition_secondary_index::{Refused, taken};

/// Who keeps the indexes elsewhere, and how.
#[derive(Debug, Clone)]
pub(crate) struct Keeper {
    pub(super) mover: Mover,
    pub(super) options: IntentOptions,
}

impl Keeper {
    pub(crate) const fn options(&self) -> &IntentOptions {
        &self.options
    }
}

/// A writer of entities with indexes elsewhere.
pub(crate) struct Writer<'a> {
    pub(crate) table: &'a Table,
    pub(crate) keeper: &'a Keeper,
    pub(crate) attempts: &'a UpdateOptions,
}

/// How an attempt ended that did not succeed.
enum Ended {
    /// The change was refused.
    Refused(Refused),
    /// The intent was given up, and another may succeed.
    Again(Error),
}

/// An intent that was sent.
struct Sent {
    intent: Intent,
    receipt: MessageReceipt,
    age: Age,
    /// Whether an index row may have been written for it.
    touched: bool,
}

impl Writer<'_> {
    /// Makes a change, and brings the indexes elsewhere up to date. Once the entity is written the answer is
    /// its version, whatever becomes of the rest: a worker does what is left.
    pub(crate) async fn write<E: Entity>(&self, change: &Change<'_, E>) -> Result<Option<ETag>, Refused> {
        let plan = change.plan(self.table)?;
        if plan.places.is_empty() {
            return change.local(self.table).try_commit().await.map(version_of_first);
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
        let mut sent = self.send::<E>(plan, age).await.map_err(before_the_change)?;
        if let Err(ended) = self.claim(plan, &mut found, &owner, &mut sent).await {
            self.give_up::<E>(sent).await;
            return Err(ended);
        }
        self.refuse_old(&sent)?;
        let intent = rows::intent_key(&plan.source, &sent.intent.id).map_err(Refused::from)?;
        match change.with_intent(self.table, rows::intent(intent.clone(), &owner)).try_commit().await {
            Ok(written) => {
                self.finish::<E>(plan, &found, sent, intent).await;
                Ok(version_of_first(written))
            }
            // A worker put it there, and does what is to be done.
            Err(refused) if refused.is_fenced() => Err(Ended::Again(refused.into_error())),
            Err(refused) => {
                if refused.is_final() {
                    self.give_up::<E>(sent).await;
                }
                Err(Ended::Refused(refused))
            }
        }
    }

    /// Step 1. A first insert takes its places for empty: where they are not, its write is refused.
    async fn look(&self, plan: &Plan, assume: bool) -> Result<Vec<Found>> {
        if assume { Ok(vec![Found::ABSENT; plan.places.len()]) } else { read_all(self.table, &plan.places).await }
    }

    /// Step 2. The message comes before everything that it is to mend.
    async fn send<E: Entity>(&self, plan: &Plan, age: Age) -> Result<Sent> {
        let IntentOptions { hidden, grace } = self.keeper.options;
        let intent = Intent {
            scope: scope::<E>(self.table),
            id: Uuid::new_v4().simple().to_string(),
            source: plan.source.clone(),
            places: plan.places.clone(),
            grace,
        };
        let receipt = self.keeper.mover.send_later(&Outgoing::of(&intent)?, hidden).await?;
        Ok(Sent { intent, receipt, age, touched: false })
    }

    /// Step 3. The index row of a unique value is its claim; until step 5 readers skip it.
    async fn claim(&self, plan: &Plan, found: &mut [Found], owner: &str, sent: &mut Sent) -> Result<(), Ended> {
        for position in &plan.claims {
            let (Some(place), Some(found)) = (plan.places.get(*position), found.get_mut(*position)) else { continue };
            self.refuse_old(sent)?;
            let claim = rows::claim(&place.key, owner, &sent.intent.id);
            let written = place.write(self.table, claim, found).await;
            sent.touched |= !matches!(written, Ok(None));
            let Some(etag) = written.map_err(before_the_change)? else {
                return Err(Ended::Again(place.at(Error::precondition_failed("somebody else wrote to the index row"))));
            };
            let (owner, intent) = (owner.to_owned(), sent.intent.id.clone());
            *found = Found { etag: Some(etag), standing: Standing::Claimed { owner, intent } };
        }
        Ok(())
    }

    /// The fence of an old intent may be gone soon, and then nobody would stop a write that nobody knows of.
    fn refuse_old(&self, sent: &Sent) -> Result<(), Ended> {
        if sent.age.is_too_old(self.keeper.options.grace) {
            return Err(Ended::Again(Error::precondition_failed("the intent is too old to be carried out")));
        }
        Ok(())
    }

    /// Steps 5 to 7. The change is made, so a failure here is nobody's but the worker's that comes after.
    async fn finish<E: Entity>(&self, plan: &Plan, found: &[Found], sent: Sent, intent: EntityKey) {
        let settling = self.settling(&sent.intent);
        let work = async {
            let garbage = match settling.apply(&plan.places, found, &plan.copies, sent.age).await? {
                Applied::All(garbage) => garbage,
                Applied::Conflict => {
                    let mut garbage = settling.settle::<E>(plan.places.clone(), self.attempts).await?;
                    if !plan.claims.is_empty() {
                        // Whoever saw a claim may put a fence where the intent is no longer.
                        garbage.push(Garbage::fence(self.table, intent.clone()));
                    }
                    garbage
                }
            };
            delete(self.table, intent).await?;
            self.close(&sent, garbage).await
        };
        if let Err(error) = work.await {
            tracing::debug!(source = %plan.source, %error, "the indexes are left to a worker");
        }
    }

    /// Takes an intent back whose change was refused for good: what it claimed is free again.
    async fn give_up<E: Entity>(&self, sent: Sent) {
        let work = async {
            let mut garbage = Vec::new();
            if sent.touched {
                garbage = self.settling(&sent.intent).settle::<E>(sent.intent.places.clone(), self.attempts).await?;
                // Whoever saw the claim may have put a fence there.
                let intent = rows::intent_key(&sent.intent.source, &sent.intent.id)?;
                garbage.push(Garbage::fence(self.table, intent));
            }
            self.close(&sent, garbage).await
        };
        if let Err(error) = work.await {
            tracing::debug!(source = %sent.intent.source, %error, "the intent is left to a worker");
        }
    }

    /// Step 7. The message goes, or waits until its tombstones can go.
    async fn close(&self, sent: &Sent, garbage: Vec<Garbage>) -> Result<()> {
        let Keeper { mover, options } = self.keeper;
        let closed = if garbage.is_empty() {
            mover.withdraw(&sent.receipt).await
        } else {
            let grace = options.grace;
            let collect = Collect { scope: sent.intent.scope.clone(), rows: garbage, grace };
            mover.exchange(&sent.receipt, Outgoing::of(&collect)?, grace).await.map(|_| ())
        };
        match closed {
            // A worker has it, and does the same.
            Err(error) if error.kind() == ErrorKind::PreconditionFailed => Ok(()),
            closed => closed,
        }
    }

    fn settling<'a>(&'a self, intent: &'a Intent) -> Settling<'a> {
        Settling { table: self.table, source: &intent.source, intent: &intent.id, grace: intent.grace }
    }
}

impl From<Refused> for Ended {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

/// The failure of a step before the entity is written: the change has certainly not happened.
fn before_the_change(error: Error) -> Ended {
    Ended::Refused(error.with_outcome_unknown(false).into())
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

/// Removes a row that nobody else needs.
pub(crate) async fn delete(table: &Table, key: EntityKey) -> Result<()> {
    match table.store().write(table.name(), Operation::new(Action::Delete(key, IfMatch::Any))?).await {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn version_of_first(written: Vec<Written>) -> Option<ETag> {
    written.into_iter().next().and_then(|written| written.etag)
}
