//! One page of a query, and where the next begins.

use super::cursor::Cursor;
use super::rows::Budget;
use super::{Prepared, at};
use crate::entity::FromRow;
use crate::error::Result;
use crate::query::Query;
use crate::query::continuation::{Continuation, Position, fingerprint};
use crate::table::Table;
use crate::versioned::Versioned;

/// How many pages of the store one page of a query takes at most.
const MAX_STORE_PAGES: usize = 100;

/// One page of a query's results.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultPage<R> {
    /// The entities, in key order where the store is ordered.
    pub items: Vec<Versioned<R>>,
    /// Where the next page begins; none after the last.
    pub next: Option<Continuation>,
}

impl Table {
    /// Reads one page, from the first or from where another ended.
    ///
    /// Every page but the last holds as many entities as [`page_size`](Query::page_size) says,
    /// save where rows that match are so rare that 100 pages of the store did not fill it; so an
    /// empty page is the end only where it has no `next`. Where the query has several ranges a page
    /// may end early at the border of one.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use table_core::{Action, DynamicEntity, EntityKey, MemoryStore, Operation, Query, Table, TableStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> table_core::Result<()> {
    /// let table = Table::new(Arc::new(MemoryStore::new()), "Employees")?;
    /// table.create().await?;
    /// for row in ["00001", "00002", "00003"] {
    ///     let row = DynamicEntity::new(EntityKey::parse("Sales", row)?);
    ///     table.store().write(table.name(), Operation::new(Action::Insert(row))?).await?;
    /// }
    ///
    /// let query = Query::<DynamicEntity>::all()
    ///     .filter_odata("PartitionKey eq 'Sales' and RowKey ge '0'")
    ///     .page_size(2);
    /// let first = table.page(query.clone(), None).await?;
    /// assert_eq!(first.items.len(), 2);
    ///
    /// // The token may wait anywhere, such as in the link to the next page.
    /// let token = first.next.expect("a third is left").to_token();
    /// let second = table.page(query, Some(&token.parse()?)).await?;
    /// assert_eq!(second.items[0].key().row.as_str(), "00003");
    /// assert!(second.next.is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of the query and of the store; [`InvalidQuery`](crate::ErrorKind::InvalidQuery) for a
    /// continuation of another query.
    pub async fn page<E: FromRow, R: Send + 'static>(
        &self,
        query: impl Into<Query<E, R>>,
        after: Option<&Continuation>,
    ) -> Result<ResultPage<R>> {
        let prepared = Prepared::new(self, query.into())?;
        let query = fingerprint(&prepared.table, E::label(), &prepared.explain);
        let (position, top) = match after {
            Some(after) => after.resume(query).map_err(|error| at(error, &prepared.table))?,
            None => (Position::default(), prepared.top),
        };
        let mut cursor = Cursor::frugal(&prepared, position);
        let mut budget = Budget::new(top);
        let mut items = Vec::new();
        for _ in 0..MAX_STORE_PAGES {
            let room = prepared.page_size.saturating_sub(items.len());
            // A continuation points between pages of the store, so a page that was read ahead and
            // does not fit is left for the next time.
            if room == 0 || budget.is_spent() || cursor.rows_ahead() > room {
                break;
            }
            let Some(rows) = cursor.next(budget.limit().min(room)).await? else { break };
            items.extend(prepared.results(budget.take::<E>(rows))?);
        }
        let next = cursor.position().filter(|_| !budget.is_spent());
        let next = next.map(|at| Continuation::new(query, at.clone(), budget.remaining()));
        Ok(ResultPage { items, next })
    }
}
