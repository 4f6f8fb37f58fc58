//! What a worker does with an intent, and with what is to be collected.

use table_core::store::Selection;
use table_core::{Action, Entity, EntityKey, ErrorKind, IfMatch, Operation, Result, Table, reserved};

use super::message::{Collect, Garbage, Intent, scope};
use super::place::is_conflict;
use super::protocol::delete;
use super::rows;
use super::settle::Settling;
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
    let (settling, options) = (Settling { table, source: &source, grace }, UpdateOptions::default());
    let garbage = delivery.step("write the index rows", settling.settle::<E>(places, &options)).await?;
    if is_there {
        delivery.step("delete the intent", delete(table, key.clone())).await?;
    }
    // Also where there was an intent: a worker that is late finds none now, and puts a fence there.
    let collect = Collect { scope, rows: garbage, fence: Some(key), grace };
    Ok(Next::Become(Outgoing::of(&collect)?, grace))
}

/// Says whether an intent is there, and puts a fence in its place where it is not: so its writer, should it
/// still be on its way, fails instead of committing unseen.
async fn fence(table: &Table, key: &EntityKey, owner: &str) -> Result<bool> {
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
    let mut younger = Vec::new();
    for row in garbage.rows {
        let remove = Operation::new(Action::Delete(row.key.clone(), IfMatch::Version(row.etag.clone())))?;
        match table.store().write(&row.table, remove).await {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) if is_conflict(&error) => younger.extend(tombstone_at(table, row).await?),
            Err(error) => return Err(error),
        }
    }
    if let Some(fence) = garbage.fence {
        delete(table, fence).await?;
    }
    if younger.is_empty() {
        return Ok(Next::Done);
    }
    let Collect { scope, grace, .. } = garbage;
    Ok(Next::Become(Outgoing::of(&Collect { scope, rows: younger, fence: None, grace })?, grace))
}

/// The tombstone that stands where another stood.
async fn tombstone_at(table: &Table, place: Garbage) -> Result<Option<Garbage>> {
    let found = table.store().get(&place.table, &place.key, &Selection::All).await?;
    let tombstone = found.filter(|row| rows::is_of_kind(row, reserved::TOMBSTONE_KIND));
    Ok(tombstone.and_then(|row| row.etag).map(|etag| Garbage { etag, ..place }))
}
