//! What a worker does with an intent, and with what is to be collected.

use table_core::store::Selection;
use table_core::{Action, EntityKey, ErrorKind, IfMatch, Operation, Result, Table, reserved};

use super::message::{Collect, Garbage, Intent, Named};
use super::writer::{Settled, send_surplus};
use super::{delete, is_conflict, rows};
use crate::eventually_consistent_transactions::{Delivery, MoverBuilder, Next, Outgoing};

impl MoverBuilder {
    /// Handles the intents of a scope whose entities stand in a table, and collects what they leave. `settle` reads
    /// the targets, then the entity, writes the targets, and answers what is to be collected.
    pub(crate) fn keep_intents<N, F, R>(self, table: &Table, scope: &str, settle: F) -> Self
    where
        N: Named,
        F: Fn(Intent<N>) -> R + Clone + Send + Sync + 'static,
        R: Future<Output = Result<Vec<Garbage>>> + Send + 'static,
    {
        let kept = table.clone();
        let handled = self.on_scope::<Intent<N>, _, _>(scope, move |intent, delivery| {
            let (table, settle) = (kept.clone(), settle.clone());
            async move {
                let is_there = look(&table, &intent, &delivery).await?;
                let garbage = delivery.step("write what the entity says", settle(intent.clone())).await?;
                end(&table, intent, is_there, garbage, &delivery).await
            }
        });
        handled.collect_intents(table, scope)
    }

    /// As [`keep_intents`](MoverBuilder::keep_intents), where settling may take several deliveries, and where nothing is
    /// to be done for a change that was never committed.
    pub(crate) fn keep_intents_in_parts<N, F, R>(self, table: &Table, scope: &str, settle: F) -> Self
    where
        N: Named,
        F: Fn(Intent<N>, Delivery) -> R + Clone + Send + Sync + 'static,
        R: Future<Output = Result<Settled<N>>> + Send + 'static,
    {
        let kept = table.clone();
        let handled = self.on_scope::<Intent<N>, _, _>(scope, move |intent, delivery| {
            let (table, settle) = (kept.clone(), settle.clone());
            async move {
                // Only who has settled deletes an intent: its writer, a worker, or the repair of the same scope. And where
                // it never was, a fence keeps it from coming.
                if !look(&table, &intent, &delivery).await? {
                    return end(&table, intent, false, Vec::new(), &delivery).await;
                }
                let work = settle(intent.clone(), delivery.clone());
                match delivery.step("write what the entity says", work).await? {
                    Settled::All(garbage) => end(&table, intent, true, garbage, &delivery).await,
                    Settled::Later(named, due) => Ok(Next::Become(Outgoing::of(&Intent { named, ..intent })?, due)),
                }
            }
        });
        handled.collect_intents(table, scope)
    }

    /// Indexes and lists of one type in one table share this: it takes rows of either.
    fn collect_intents(self, table: &Table, scope: &str) -> Self {
        if self.handles::<Collect>(scope) {
            return self;
        }
        let collected = table.clone();
        self.on_scope::<Collect, _, _>(scope, move |garbage, delivery| {
            let table = collected.clone();
            async move { delivery.step("collect", collect(&table, garbage)).await }
        })
    }
}

/// Says whether the change of an intent was committed and is not settled; if not, it never will be.
async fn look<N>(table: &Table, intent: &Intent<N>, delivery: &Delivery) -> Result<bool> {
    let (key, owner) = (intent.key()?, rows::owner(table, &intent.source));
    delivery.step("look for the intent", fence(table, &key, &owner, &intent.scope)).await
}

/// Ends an intent that is settled.
async fn end<N>(
    table: &Table,
    intent: Intent<N>,
    is_there: bool,
    mut garbage: Vec<Garbage>,
    delivery: &Delivery,
) -> Result<Next> {
    let key = intent.key()?;
    let Intent { scope, grace, .. } = intent;
    if is_there {
        delivery.step("delete the intent", delete(table, key.clone())).await?;
    }
    // Also where there was an intent: a worker that is late finds none now, and puts a fence there.
    garbage.push(Garbage::fence(table, key));
    let last = send_surplus(delivery.mover(), Collect { scope, rows: garbage, grace }).await?;
    Ok(last.map_or(Next::Done, |item| Next::Become(item, grace)))
}

/// Says whether an intent is there, and puts a fence in its place where it is not: so its writer, should it
/// still be on its way, fails instead of committing unseen.
pub(crate) async fn fence(table: &Table, key: &EntityKey, owner: &str, scope: &str) -> Result<bool> {
    let insert = Operation::new(Action::Insert(rows::fence(key.clone(), owner, scope)))?;
    match table.store().write(table.name(), insert).await {
        Ok(_) => return Ok(false),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    // An intent that is gone by now has done its work.
    let found = table.store().get(table.name(), key, &Selection::All).await?;
    Ok(found.is_some_and(|row| rows::is_of_kind(&row, reserved::INTENT_KIND)))
}

/// Removes what is still as it was left. A tombstone that somebody has written anew is followed for another
/// grace period, since whoever wrote it may not have lived to see to it.
async fn collect(table: &Table, garbage: Collect) -> Result<Next> {
    let Collect { scope, rows, grace } = garbage;
    let mut younger = Vec::new();
    for row in rows {
        let condition = row.etag.clone().map_or(IfMatch::Any, IfMatch::Version);
        let remove = Operation::new(Action::Delete(row.key.clone(), condition))?;
        match table.store().write(&row.table, remove).await {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) if is_conflict(&error) => younger.extend(tombstone_at(table, row).await?),
            Err(error) => return Err(error),
        }
    }
    if younger.is_empty() {
        return Ok(Next::Done);
    }
    Ok(Next::Become(Outgoing::of(&Collect { scope, rows: younger, grace })?, grace))
}

/// The tombstone that stands where another stood.
async fn tombstone_at(table: &Table, place: Garbage) -> Result<Option<Garbage>> {
    let found = table.store().get(&place.table, &place.key, &Selection::All).await?;
    let tombstone = found.filter(|row| rows::is_of_kind(row, reserved::TOMBSTONE_KIND));
    Ok(tombstone.map(|row| Garbage { etag: row.etag, ..place }))
}
