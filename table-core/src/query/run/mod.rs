//! Queries at work: pages, streams, counts, and many queries at once.
//!
//! The ranges of a plan are disjoint and in key order, so reading them one after the other gives
//! the results in key order, each once; up to [`concurrency`](crate::Query::concurrency) ranges are
//! asked for ahead.

mod cursor;
mod many;
mod page;
mod rows;

pub use page::ResultPage;

use std::sync::Arc;

use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};

use self::rows::Rows;
use super::builder::{Query, ReadRow, only_marks};
use super::explain::Explain;
use crate::dynamic::DynamicEntity;
use crate::entity::FromRow;
use crate::error::{Error, Result};
use crate::names::TableName;
use crate::store::TableStore;
use crate::table::Table;
use crate::versioned::Versioned;

/// A query that is known to be allowed, on its table.
struct Prepared<R> {
    store: Arc<dyn TableStore>,
    table: TableName,
    explain: Explain,
    read: ReadRow<R>,
    top: Option<usize>,
    page_size: usize,
    concurrency: usize,
}

impl<R> Prepared<R> {
    fn new<E: FromRow>(table: &Table, query: Query<E, R>) -> Result<Self> {
        let name = table.named(query.table)?;
        let explain = query.explain().and_then(|explain| explain.check_scan().map(|()| explain));
        Ok(Self {
            explain: explain.map_err(|error| at(error, &name))?,
            store: Arc::clone(table.store()),
            table: name,
            read: query.read,
            top: query.top,
            page_size: query.page_size,
            concurrency: query.concurrency,
        })
    }

    /// What the query makes of rows.
    fn results(&self, rows: Vec<DynamicEntity>) -> Result<Vec<Versioned<R>>> {
        let mut results = Vec::with_capacity(rows.len());
        self.read_into(&mut results, rows)?;
        Ok(results)
    }

    fn read_into(&self, results: &mut Vec<Versioned<R>>, rows: Vec<DynamicEntity>) -> Result<()> {
        results.reserve(rows.len());
        for row in rows {
            results.push((self.read)(row).map_err(|error| at(error, &self.table))?);
        }
        Ok(())
    }

    /// Reads everything, a batch at a time.
    fn batches<E: FromRow>(self) -> BoxStream<'static, Result<Vec<Versioned<R>>>>
    where
        R: Send + 'static,
    {
        stream::try_unfold((Rows::<E>::new(&self), self), |(mut rows, query)| async {
            let Some(batch) = rows.next().await? else { return Ok(None) };
            Ok(Some((query.results(batch)?, (rows, query))))
        })
        .boxed()
    }
}

/// Says where a query went wrong.
fn at(error: Error, table: &TableName) -> Error {
    error.with_operation("query").with_table(table.as_str())
}

/// Running queries.
///
/// Each method takes a [`Query`] or what becomes one, such as a range builder. Results come in key
/// order, each entity once. A store whose answers are not sorted
/// ([`Capabilities::ordered`](crate::store::Capabilities) is false) gives the ranges of a query in
/// order, and each range in an order of its own.
///
/// A query that scans is [`ScanRefused`](crate::ErrorKind::ScanRefused) before anything is read, unless it says
/// [`allow_scan`](Query::allow_scan); the errors of [`Query::explain`] come in the same way. Rows of
/// other types and index copies are skipped; a row that is not what its type says is
/// [`Corrupted`](crate::ErrorKind::Corrupted).
impl Table {
    /// Reads everything that a query finds.
    ///
    /// # Errors
    /// Those of the query and of the store.
    pub async fn all<E: FromRow, R: Send + 'static>(&self, query: impl Into<Query<E, R>>) -> Result<Vec<Versioned<R>>> {
        let query = Prepared::new(self, query.into())?;
        let mut rows = Rows::<E>::new(&query);
        let mut all = Vec::new();
        while let Some(batch) = rows.next().await? {
            query.read_into(&mut all, batch)?;
        }
        Ok(all)
    }

    /// Reads the first entity that a query finds.
    ///
    /// # Errors
    /// Those of the query and of the store.
    pub async fn first<E: FromRow, R: Send + 'static>(
        &self,
        query: impl Into<Query<E, R>>,
    ) -> Result<Option<Versioned<R>>> {
        let query = query.into();
        let top = query.top.map_or(1, |top| top.min(1));
        self.stream(query.top(top)).try_next().await
    }

    /// Counts what a query finds. Nothing but keys and marks is read, but every row is.
    ///
    /// # Errors
    /// Those of the query and of the store.
    pub async fn count<E: FromRow, R: Send + 'static>(&self, query: impl Into<Query<E, R>>) -> Result<usize> {
        let mut query = query.into();
        query.selection = only_marks();
        let mut rows = Rows::<E>::new(&Prepared::new(self, query)?);
        let mut count = 0;
        while let Some(batch) = rows.next().await? {
            count += batch.len();
        }
        Ok(count)
    }

    /// Reads what a query finds as it is wanted: page after page, and nothing before the first poll.
    /// Dropping the stream ends the query.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use futures_util::TryStreamExt;
    /// use table_core::{DynamicEntity, MemoryStore, Query, Table};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> table_core::Result<()> {
    /// let table = Table::new(Arc::new(MemoryStore::new()), "Employees")?;
    /// table.create().await?;
    /// let mut everyone = table.stream(Query::<DynamicEntity>::all().allow_scan());
    /// while let Some(employee) = everyone.try_next().await? {
    ///     println!("{}", employee.key());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn stream<E: FromRow, R: Send + 'static>(
        &self,
        query: impl Into<Query<E, R>>,
    ) -> BoxStream<'static, Result<Versioned<R>>> {
        match Prepared::new(self, query.into()) {
            Ok(prepared) => prepared.batches::<E>().map_ok(|batch| stream::iter(batch).map(Ok)).try_flatten().boxed(),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }
}
