//! The redb tables of the file, and what says which user table or queue is which.

use redb::TableDefinition;
use table_core::{Error, QueueName, Result, TableName};

/// The format of the file as a whole.
pub(crate) const FORMAT: u64 = 1;

/// Numbers about the file itself, by the keys below.
pub(crate) const META: TableDefinition<'_, &str, u64> = TableDefinition::new("table-patterns.meta");
/// The format of the file.
pub(crate) const META_FORMAT: &str = "format";
/// A time at or after every one given to a row, in ticks: none is given twice, whatever the clock does.
pub(crate) const META_TIMESTAMP: &str = "timestamp";
/// The number of the next table or queue; none is used twice.
pub(crate) const META_NUMBER: &str = "number";

/// User tables: the name in lower case, to the number and the name as written.
pub(crate) const TABLES: TableDefinition<'_, &str, (u64, &str)> = TableDefinition::new("table-patterns.tables");
/// Queues by name, to their number.
pub(crate) const QUEUES: TableDefinition<'_, &str, u64> = TableDefinition::new("table-patterns.queues");
/// Property names by number.
pub(crate) const NAMES: TableDefinition<'_, u16, &str> = TableDefinition::new("table-patterns.names");
/// Names of redb tables whose pages are yet to be freed.
pub(crate) const DROPPED: TableDefinition<'_, &str, ()> = TableDefinition::new("table-patterns.dropped");

/// A user table, by a number that no other has had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TableNumber(pub(crate) u64);

impl TableNumber {
    /// The redb table that holds the rows.
    pub(crate) fn rows_name(self) -> String {
        let Self(number) = self;
        format!("rows.{number}")
    }
}

/// The redb tables of a queue: messages by id, and ids by the time at which they can be received
/// and at which they end.
#[derive(Debug)]
pub(crate) struct QueueTables {
    pub(crate) messages: String,
    pub(crate) visible: String,
    pub(crate) expiring: String,
}

impl QueueTables {
    pub(crate) fn new(number: u64) -> Self {
        Self {
            messages: format!("messages.{number}"),
            visible: format!("visible.{number}"),
            expiring: format!("expiring.{number}"),
        }
    }
}

/// A definition of the rows of a user table: [`table_core::SortKey`] bytes to [`super::row`] bytes.
pub(crate) const fn bytes_table(name: &str) -> TableDefinition<'_, &'static [u8], &'static [u8]> {
    TableDefinition::new(name)
}

/// A definition of a queue's messages by id.
pub(crate) const fn messages_table(name: &str) -> TableDefinition<'_, u64, &'static [u8]> {
    TableDefinition::new(name)
}

/// A definition of a queue's ids by a time in ticks.
pub(crate) const fn times_table(name: &str) -> TableDefinition<'_, (i64, u64), ()> {
    TableDefinition::new(name)
}

/// The key of a user table in [`TABLES`].
pub(crate) fn table_key(name: &TableName) -> String {
    name.as_str().to_ascii_lowercase()
}

/// A name that stands in the file.
pub(crate) fn stored_table_name(name: &str) -> Result<TableName> {
    TableName::new(name).map_err(|error| Error::corrupted("the catalog holds a bad table name").with_source(error))
}

/// The error for a table that is not there.
pub(crate) fn no_table(table: &TableName, operation: &'static str) -> Error {
    Error::new(table_core::ErrorKind::TableNotFound, "there is no such table; create it first")
        .with_operation(operation)
        .with_table(table.as_str())
}

/// The error for a queue that is not there.
pub(crate) fn no_queue(queue: &QueueName, operation: &'static str) -> Error {
    Error::new(table_core::ErrorKind::QueueNotFound, "there is no such queue; create it first")
        .with_operation(operation)
        .with_table(queue.as_str())
}
