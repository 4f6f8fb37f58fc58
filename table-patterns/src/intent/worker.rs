//! What a worker does with an intent, and with what is to be collected.

use table_core::store::Selection;
use table_core::{Action, EntityKey, ErrorKind, IfMatch, Operation, Result, Table, reserved};

use super::message::{Collect, Garbage, Intent, Named};
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
        let (kept, collected) = (table.clone(), table.clone());
        self.on_scope::<Intent<N>, _, _>(scope, move |intent, delivery| {
            let (table, settle) = (kept.clone(), settle.clone());
            async move { settled(&table, intent, &delivery, settle).await }
        })
        .on_scope::<Collect, _, _>(scope, move |garbage, delivery| {
            let table = collected.clone();
            async move { delivery.step("collect", collect(&table, garbage)).await }
        })
    }
}

/// Brings the targets of an intent up to date, whatever its writer did and does.
async fn settled<N, R>(
    table: &Table,
    intent: Intent<N>,
    delivery: &Delivery,
    settle: impl FnOnce(Intent<N>) -> R,
) -> Result<Next>
where
    N: Named,
    R: Future<Output = Result<Vec<Garbage>>>,
{
    let (scope, grace, key) = (intent.scope.clone(), intent.grace, intent.key()?);
    let owner = rows::owner(table, &intent.source);
    let is_there = delivery.step("look for the intent", fence(table, &key, &owner)).await?;
    let mut garbage = delivery.step("write what the entity says", settle(intent)).await?;
    if is_there {
        delivery.step("delete the intent", delete(table, key.clone())).await?;
    }
    // Also where there was an intent: a worker that is late finds none now, and puts a fence there.
    garbage.push(Garbage::fence(table, key));
    Ok(Next::Become(Outgoing::of(&Collect { scope, rows: garbage, grace })?, grace))
}

/// Says whether an intent is there, and puts a fence in its place where it is not: so its writer, should it
/// still be on its way, fails instead of committing unseen.
pub(crate) async fn fence(table: &Table, key: &EntityKey, owner: &str) -> Result<bool> {
    let insert = Operation::new(Action::Insert(rows::fence(key.clone(), owner)))?;
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
