//! What a worker does with an intent, and with blobs that are to be collected.

use table_core::Result;
use table_core::store::Selection;

use super::BlobTable;
use super::message::{Blobs, Collect, path, scope};
use crate::blobs::{references, remove};
use crate::eventually_consistent_transactions::{Delivery, MoverBuilder, Next, Outgoing};
use crate::intent::{Intent, delete, fence, rows};

impl MoverBuilder {
    /// Looks after the blobs of a table's entities.
    ///
    /// Whoever writes the entities opens them with [`Large::kept_by`](crate::Large::kept_by).
    #[must_use]
    pub fn keep_blobs(self, place: &BlobTable) -> Self {
        let scope = scope(&place.table);
        let (settled, collected) = (place.clone(), place.clone());
        self.on_scope::<Intent<Blobs>, _, _>(&scope, move |intent, delivery| {
            let place = settled.clone();
            async move { settle(&place, intent, &delivery).await }
        })
        .on_scope::<Collect, _, _>(&scope, move |garbage, delivery| {
            let place = collected.clone();
            async move { collect(&place, garbage, &delivery).await }
        })
    }
}

/// Sees to it that the write of an intent has happened or cannot happen any more, and has its blobs looked at
/// when nobody can be late: a writer that was kept from writing may still put its blob.
async fn settle(place: &BlobTable, intent: Intent<Blobs>, delivery: &Delivery) -> Result<Next> {
    let key = intent.key()?;
    let Intent { scope, source, named: Blobs { blobs }, grace, .. } = intent;
    let owner = rows::owner(&place.table, &source);
    delivery.step("look for the intent", fence(&place.table, &key, &owner, &scope)).await?;
    let collect = Collect { scope, source, blobs, intent: Some(key) };
    Ok(Next::Become(Outgoing::of(&collect)?, grace))
}

/// Deletes the blobs that the entity does not refer to. Those that it once referred to and those whose writer
/// failed are the same: nothing will ever refer to them again.
async fn collect(place: &BlobTable, garbage: Collect, delivery: &Delivery) -> Result<Next> {
    let table = &place.table;
    let look = table.store().get(table.name(), &garbage.source, &Selection::All);
    let row = delivery.step("read the entity", look).await?;
    let held = row.as_ref().map(references).transpose()?.unwrap_or_default();
    for name in &garbage.blobs {
        let name = path(name)?;
        if !held.iter().any(|(_, reference)| reference.name == name) {
            delivery.step("delete the blob", remove(&place.blobs, &name)).await?;
        }
    }
    if let Some(intent) = garbage.intent {
        delivery.step("delete the intent", delete(table, intent)).await?;
    }
    Ok(Next::Done)
}
