//! What a worker does with an intent, and with what is to be collected.

use table_core::store::Selection;
use table_core::{Action, Entity, ErrorKind, IfMatch, Operation, Result, Table, reserved};

use super::message::{Collect, Garbage, Intent, scope};
use super::place::is_conflict;
use super::protocol::delete;
use super::rows;
use super::settle::{Settling, fence};
use crate::attempts::UpdateOptions;
use crate::eventually_consistent_transactions::{Delivery, MoverBuilder, Next, Outgoing};

impl MoverBuilder {
    /// Keeps the indexes that the entities of a table have in other partitions and tables.
    ///
    /// Whoever writes the entities opens them with [`Indexed::kept_by`](crate::Indexed::kept_by).
    #[must_use]
    pub fn keep_indexes<E: Entity>(self, table: &Table) -> Self {
        let scope = scope::<E>(table);
        let (settled, collected) = (table.clone(), table.clone());
        self.on_scope::<Intent, _, _>(&scope, move |intent, delivery| {
            let table = settled.clone();
            async move { settle::<E>(&table, intent, &delivery).await }
        })
        .on_scope::<Collect, _, _>(&scope, move |garbage, delivery| {
            let table = collected.clone();
            async move { delivery.step("collect", collect(&table, garbage)).await }
        })
    }
}

/// Brings the index rows of an intent up to date, whatever its writer did and does.
async fn settle<E: Entity>(table: &Table, intent: Intent, delivery: &Delivery) -> Result<Next> {
    let Intent { scope, id, source, places, grace } = intent;
    let key = rows::intent_key(&source, &id)?;
    let owner = rows::owner(table, &source);
    let is_there = delivery.step("look for the intent", fence(table, &key, &owner)).await?;
    let (settling, options) = (Settling { table, source: &source, intent: &id, grace }, UpdateOptions::default());
    let mut garbage = delivery.step("write the index rows", settling.settle::<E>(places, &options)).await?;
    if is_there {
        delivery.step("delete the intent", delete(table, key.clone())).await?;
    }
    // Also where there was an intent: a worker that is late finds none now, and puts a fence there.
    garbage.push(Garbage::fence(table, key));
    Ok(Next::Become(Outgoing::of(&Collect { scope, rows: garbage, grace })?, grace))
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
