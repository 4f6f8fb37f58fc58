//! Opening entities whose indexes a mover keeps.

use table_core::{Entity, Error, Result, Table};

use super::message::{Places, scope};
use crate::eventually_consistent_transactions::Mover;
use crate::intent::{Intent, IntentOptions, Keeper};
use crate::intra_partition_secondary_index::Indexed;

impl<E: Entity> Indexed<E> {
    /// The entities of a table whose indexes in other partitions and tables this mover keeps: it was built with
    /// [`keep_indexes`](crate::eventually_consistent_transactions::MoverBuilder::keep_indexes), and somebody
    /// starts its workers.
    ///
    /// # Errors
    /// [`Unsupported`](table_core::ErrorKind::Unsupported) where the mover has no worker for them, or for an
    /// index that is read in its order on a store without order.
    pub fn kept_by(table: Table, mover: &Mover) -> Result<Self> {
        if !mover.handles::<Intent<Places>>(&scope::<E>(&table)) {
            return Err(Error::unsupported(format!(
                "the mover keeps no indexes of {name} in the table {table}; build it with `keep_indexes::<{name}>(&table)`, or open the entities with `Indexed::kept_elsewhere` where another process does",
                name = E::SCHEMA.name,
                table = table.name()
            )));
        }
        Self::kept_elsewhere(table, mover)
    }

    /// As [`kept_by`](Indexed::kept_by), where the worker is in another process: this mover only sends to its
    /// queue. While no such process runs, the indexes of writers that die stay as they were.
    ///
    /// # Errors
    /// As [`kept_by`](Indexed::kept_by).
    pub fn kept_elsewhere(table: Table, mover: &Mover) -> Result<Self> {
        Self::with_keeper(table, Some(Keeper::new(mover)))
    }

    /// Sets how long intents are hidden, and how long tombstones and fences stay.
    ///
    /// # Errors
    /// [`LimitExceeded`](table_core::ErrorKind::LimitExceeded) for a grace period over seven days, or for
    /// intents that are hidden for more than a quarter of it.
    pub fn with_intents(mut self, options: IntentOptions) -> Result<Self> {
        options.check()?;
        if let Some(keeper) = self.keeper_mut() {
            keeper.options = options;
        }
        Ok(self)
    }

    /// Creates the table and those of its indexes, unless they exist.
    ///
    /// # Errors
    /// Those of reaching the store.
    pub async fn create_if_missing(&self) -> Result<()> {
        self.table().create_if_missing().await?;
        for name in E::SCHEMA.indexes.iter().filter_map(|index| index.table) {
            self.table().sibling(name)?.create_if_missing().await?;
        }
        Ok(())
    }
}
