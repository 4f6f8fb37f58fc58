//! What a worker does with an intent.

use table_core::{Entity, Result, Table};

use super::message::{Places, scope};
use super::settle::Settling;
use crate::attempts::UpdateOptions;
use crate::eventually_consistent_transactions::{MoverBuilder, not_here};
use crate::intent::{Garbage, Intent};

impl MoverBuilder {
    /// Keeps the indexes that the entities of a table have in other partitions and tables.
    ///
    /// Messages name the table, the type and its indexes. One that names an index which this version of the type does not have
    /// waits for a process whose version does; so drain the queue before an index is taken away for good.
    ///
    /// An index whose table, key or included fields are to change needs a new name while processes run that know it as it was:
    /// indexes are told apart by name only, and a worker of the other version would take the rows that it does not know for
    /// rows that are to go, or write them with its own fields. Declare it under the new name beside the old one, build it, and take
    /// the old one away when those processes are gone and the queue is empty. A type with `upgrade_from` goes on to name the indexes
    /// of its older rows; write those anew before an index is taken away from it.
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
    // What this version of the type knows nothing of it would take for rows that are to go.
    let is_declared = |name: &str| E::SCHEMA.indexes.iter().any(|index| index.name == name);
    if let Some(place) = named.places.iter().find(|place| !is_declared(&place.index)) {
        let (entity, index) = (E::SCHEMA.name, &place.index);
        return Err(not_here(format!("{entity} has no index {index} here; another version of the program sent this")));
    }
    let settling = Settling { table, source: &source, intent: &id, grace };
    settling.settle::<E>(named.places, &UpdateOptions::default()).await
}
