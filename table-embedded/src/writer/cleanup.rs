//! Space of dropped tables and queues, freed while the writer has nothing else to do.
//!
//! Dropping is one small commit that only notes the name. What it held is freed here in bites, so
//! that a write never waits long behind it. The notes are in the file: a crash only delays it.

use redb::{ReadableTable, WriteTransaction};

use crate::engine::Engine;
use crate::error::StorageFailure;
use crate::format::catalog;

/// Rows that one bite frees.
const BITE: usize = 2_000;

/// Whether there is something to free.
#[derive(Debug)]
pub(crate) struct Cleanup {
    pending: bool,
}

impl Default for Cleanup {
    /// A file may have been closed with something left to free.
    fn default() -> Self {
        Self { pending: true }
    }
}

impl Cleanup {
    pub(super) fn wake(&mut self) {
        self.pending = true;
    }

    /// Frees one bite, and says whether there is more. A failure leaves the rest for later.
    pub(super) fn step(&mut self, engine: &Engine) -> bool {
        self.pending = self.pending && engine.check_sync().is_ok() && bite(engine).unwrap_or(false);
        self.pending
    }
}

fn bite(engine: &Engine) -> Result<bool, StorageFailure> {
    let slot = engine.database.blocking_read();
    let Some(database) = slot.as_ref() else {
        return Ok(false);
    };
    let transaction = super::begin(engine, database)?;
    let next = {
        let dropped = transaction.open_table(catalog::DROPPED)?;
        let first = dropped.first()?;
        first.map(|(name, _)| name.value().to_owned())
    };
    let Some(name) = next else {
        transaction.abort()?;
        return Ok(false);
    };
    if free(&transaction, &name)? {
        transaction.open_table(catalog::DROPPED)?.remove(&*name)?;
    }
    super::commit(engine, transaction)?;
    Ok(true)
}

/// Frees a bite of a redb table, and says whether it is gone.
fn free(transaction: &WriteTransaction, name: &str) -> Result<bool, StorageFailure> {
    match name.split_once('.') {
        Some(("rows", _)) => free_table(transaction, catalog::bytes_table(name)),
        Some(("messages", _)) => free_table(transaction, catalog::messages_table(name)),
        _ => free_table(transaction, catalog::times_table(name)),
    }
}

fn free_table<K, V>(
    transaction: &WriteTransaction,
    definition: redb::TableDefinition<'_, K, V>,
) -> Result<bool, StorageFailure>
where
    K: redb::Key + 'static,
    V: redb::Value + 'static,
{
    let mut table = transaction.open_table(definition)?;
    for _ in 0..BITE {
        if table.pop_first()?.is_none() {
            drop(table);
            transaction.delete_table(definition)?;
            return Ok(true);
        }
    }
    Ok(false)
}
