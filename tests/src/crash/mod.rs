//! What the crash tests and the process that they kill agree on.

mod kills;

pub use kills::{KillReport, kill_repeatedly, run_and_kill};

use table_core::{Action, DynamicEntity, EntityKey, Operation, QueueName, Result, TableName, Transaction};

/// Rows of each transaction.
pub const ROWS: u32 = 3;

/// The table that is written to.
///
/// # Errors
/// None: the name is valid.
pub fn table() -> Result<TableName> {
    TableName::new("Crash")
}

/// The queue that is written to.
///
/// # Errors
/// None: the name is valid.
pub fn queue() -> Result<QueueName> {
    QueueName::new("crash")
}

/// The key of one row of a transaction.
///
/// # Errors
/// None: the parts are numbers.
pub fn key(round: u32, writer: u32, number: u32, row: u32) -> Result<EntityKey> {
    EntityKey::parse(&format!("{round:04}-{writer}"), &format!("{number:06}-{row}"))
}

/// What a row of a transaction holds, which its key tells.
#[must_use]
pub fn content(number: u32, row: u32) -> String {
    format!("{number}.{row} ").repeat(40)
}

/// Several rows that must be there together or not at all.
///
/// # Errors
/// None: the rows are small.
pub fn transaction(round: u32, writer: u32, number: u32) -> Result<Transaction> {
    let rows = (0..ROWS).map(|row| {
        let entity = DynamicEntity::new(key(round, writer, number, row)?).with("Content", content(number, row))?;
        Operation::new(Action::Insert(entity))
    });
    Transaction::new(rows.collect::<Result<Vec<_>>>()?)
}
