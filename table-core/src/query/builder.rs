//! The query as a caller builds it.

use std::fmt;
use std::marker::PhantomData;

use crate::entity::FromRow;
use crate::error::Result;
use crate::keys::{KeyRange, PartitionKey};

/// Which rows of type `E` to read, and as what.
///
/// Plain data until a [`Table`](crate::Table) runs it.
pub struct Query<E, R = E> {
    table: Option<&'static str>,
    range: Result<KeyRange>,
    types: PhantomData<fn() -> (E, R)>,
}

impl<E: FromRow> Query<E> {
    /// All rows of the type in a range of keys.
    #[must_use]
    pub fn in_range(range: Result<KeyRange>) -> Self {
        Self { table: None, range, types: PhantomData }
    }

    /// All rows of the type in the table.
    #[must_use]
    pub fn all() -> Self {
        Self::in_range(Ok(KeyRange::ALL))
    }

    /// All rows of the type in a partition.
    #[must_use]
    pub fn partition(partition: &PartitionKey) -> Self {
        Self::in_range(Ok(KeyRange::partition(partition)))
    }

    /// The same query on a table of its own, as that of an index elsewhere.
    #[must_use]
    pub fn in_table(mut self, table: Option<&'static str>) -> Self {
        self.table = table;
        self
    }
}

impl<E, R> fmt::Debug for Query<E, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Query").field("table", &self.table).field("range", &self.range).finish_non_exhaustive()
    }
}
