//! What a worker does with an intent.

use table_core::{Entity, Result, Table};

use super::message::{Places, scope};
use super::settle::Settling;
use crate::attempts::UpdateOptions;
use crate::eventually_consistent_transactions::MoverBuilder;
use crate::intent::{Garbage, Intent};

impl MoverBuilder {
    /// Keeps the indexes that the entities of a table have in other partitions and tables.
    ///
    /// Whoever writes the entities opens them with [`Indexed::kept_by`](crate::Indexed::kept_by).
    #[must_use]
    pub fn keep_indexes<E: Entity>(self, table: &Table) -> Self {
        let kept = table.clone();
        self.keep_intents(table, &scope::<E>(table), move |intent| {
            let table = kept.clone();
            async move { settle::<E>(&table, intent).await }
        })
    }
}

/// Brings the index rows of an intent up to date.
async fn settle<E: Entity>(table: &Table, intent: Intent<Places>) -> Result<Vec<Garbage>> {
    let Intent { id, source, named, grace, .. } = intent;
    let settling = Settling { table, source: &source, intent: &id, grace };
    settling.settle::<E>(named.places, &UpdateOptions::default()).await
}
