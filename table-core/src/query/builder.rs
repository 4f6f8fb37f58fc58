//! The query as a caller builds it.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::explain::Explain;
use super::filter::Filter;
use super::lower::lower;
use super::plan::Plan;
use super::predicate::{Node, Predicate};
use super::select::Columns;
use crate::dynamic::DynamicEntity;
use crate::entity::{Entity, FromRow, Schema, marks};
use crate::error::Result;
use crate::keys::{KeyRange, PartitionKey, Span};
use crate::limits;
use crate::names::PropertyName;
use crate::store::Selection;
use crate::versioned::Versioned;

/// How many requests a query makes at once unless it says otherwise.
const DEFAULT_CONCURRENCY: usize = 8;
/// How many requests a query makes at once at most.
pub(super) const MAX_CONCURRENCY: usize = 64;

/// How a row becomes a result.
pub(super) type ReadRow<R> = Arc<dyn Fn(DynamicEntity) -> Result<Versioned<R>> + Send + Sync>;

/// Reads the rows of a query, apart from finding them. See [`Query::rows`].
pub struct RowReader<R>(ReadRow<R>);

impl<R> RowReader<R> {
    /// What the query makes of a row.
    ///
    /// # Errors
    /// [`Corrupted`](crate::ErrorKind::Corrupted) where the row is not what its type says.
    pub fn read(&self, row: DynamicEntity) -> Result<Versioned<R>> {
        (self.0)(row)
    }
}

impl<R> fmt::Debug for RowReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RowReader")
    }
}

/// Which rows of type `E` to read, and as what.
///
/// Plain data until a [`Table`](crate::Table) runs it. A mistake in it, such as a filter that does
/// not parse, is kept and returned by whatever uses the query.
///
/// ```
/// use table_core::query::CostClass;
/// use table_core::{DynamicEntity, PartitionKey, Query};
///
/// let query = Query::<DynamicEntity>::partition(&PartitionKey::new("Sales")?)
///     .filter_odata("RowKey ge 'S' and RowKey lt 'T' and Age ge 40")
///     .top(10);
/// assert_eq!(query.explain()?.class(), CostClass::Range);
/// # Ok::<(), table_core::Error>(())
/// ```
#[must_use]
pub struct Query<E, R = E> {
    pub(super) table: Option<&'static str>,
    pub(super) range: Result<KeyRange>,
    /// What raw filters say.
    raw: Result<Filter>,
    /// What typed conditions say. They are lowered together, since one may fix the key part that
    /// another needs.
    typed: Vec<Node>,
    /// The schema that typed conditions are lowered by.
    schema: Option<&'static Schema>,
    pub(super) selection: Selection,
    pub(super) read: ReadRow<R>,
    pub(super) top: Option<usize>,
    pub(super) page_size: usize,
    pub(super) concurrency: usize,
    pub(super) allow_scan: bool,
    entity: PhantomData<fn() -> E>,
}

impl<E: FromRow> Query<E> {
    /// All rows of the type in a range of keys.
    pub fn in_range(range: Result<KeyRange>) -> Self {
        Self {
            table: None,
            range,
            raw: Ok(Filter::ALWAYS),
            typed: Vec::new(),
            schema: None,
            selection: with_marks(E::selection()),
            read: Arc::new(E::from_row),
            top: None,
            page_size: limits::PAGE_ENTITIES,
            concurrency: DEFAULT_CONCURRENCY,
            allow_scan: false,
            entity: PhantomData,
        }
    }

    /// All rows of the type in the table.
    pub fn all() -> Self {
        Self::in_range(Ok(KeyRange::ALL))
    }

    /// All rows of the type in a partition.
    pub fn partition(partition: &PartitionKey) -> Self {
        Self::in_range(Ok(KeyRange::partition(partition)))
    }
}

impl<E: Entity, R> Query<E, R> {
    /// Keeps the entities that fulfil a condition, built from the type's columns. Several
    /// conditions must all hold.
    ///
    /// A condition on a field that only the key holds becomes a range of keys; where the key does
    /// not sort by the field, the query is refused with a hint when it is used.
    pub fn filter(mut self, predicate: Predicate<E>) -> Self {
        self.typed.push(predicate.into_node());
        self.schema = Some(E::SCHEMA);
        self
    }
}

impl<E: FromRow, R> Query<E, R> {
    /// The same query on a table of its own, as that of an index elsewhere.
    pub fn in_table(mut self, table: Option<&'static str>) -> Self {
        self.table = table;
        self
    }

    /// Keeps the rows that fulfil a filter on stored names, beside all other conditions.
    pub fn filter_raw(mut self, filter: Filter) -> Self {
        self.raw = self.raw.map(|so_far| Filter::all_of([so_far, filter.normalised()]));
        self
    }

    /// Keeps the rows that fulfil a filter in OData text, as an operator pastes it.
    pub fn filter_odata(mut self, filter: &str) -> Self {
        self.raw = self.raw.and_then(|so_far| Ok(Filter::all_of([so_far, Filter::parse(filter)?])));
        self
    }

    /// Stops after so many entities. Rows of other types and index copies do not count.
    pub const fn top(mut self, count: usize) -> Self {
        self.top = Some(count);
        self
    }

    /// Lets [`Table::page`](crate::Table::page) return at most so many entities at a time, from 1
    /// to 1,000, which is also the default.
    pub fn page_size(mut self, count: usize) -> Self {
        self.page_size = count.clamp(1, limits::PAGE_ENTITIES);
        self
    }

    /// Reads at most so many ranges at once, from 1 to 64, where the query has several. The
    /// default is 8.
    pub fn concurrency(mut self, requests: usize) -> Self {
        self.concurrency = requests.clamp(1, MAX_CONCURRENCY);
        self
    }

    /// Allows a query that reads whole partitions or the whole table.
    pub const fn allow_scan(mut self) -> Self {
        self.allow_scan = true;
        self
    }

    /// Reads only some columns: one, or a tuple of up to eight.
    ///
    /// A row without a column's property is an error; see [`Column::optional`](super::Column::optional).
    pub fn select<C: Columns<E>>(self, columns: C) -> Query<E, C::Row> {
        let mut names = Vec::new();
        columns.add_names(&mut names);
        self.read_as(Selection::Only(names), move |row| Versioned::from_read(columns.read(&row)?, row, Vec::new()))
    }

    /// Reads each entity as a smaller type.
    pub fn project<P: FromRow>(self) -> Query<E, P> {
        self.read_as(P::selection(), P::from_row)
    }

    /// The same query for rows as they are stored, with these properties too, and what reads them: for whoever
    /// does something to a row before it is read, such as fetching what it keeps elsewhere.
    pub fn rows(mut self, also: impl IntoIterator<Item = PropertyName>) -> (Query<E, DynamicEntity>, RowReader<R>) {
        let read = Arc::clone(&self.read);
        if let Selection::Only(names) = &mut self.selection {
            names.extend(also);
        }
        let selection = self.selection.clone();
        (self.read_as(selection, DynamicEntity::from_row), RowReader(read))
    }

    /// The same query for rows of another type under the same keys: for a pattern that keeps an entity in rows of
    /// its own. What was said of the first type's fields still holds.
    ///
    /// ```
    /// use table_core::query::CostClass;
    /// use table_core::{DynamicEntity, Entity};
    ///
    /// #[derive(Entity)]
    /// #[entity(partition = "{department}", row = "empid_{id:06}")]
    /// struct Employee {
    ///     department: String,
    ///     id: u32,
    /// }
    ///
    /// let anything = Employee::range("Sales").id_range(200..300).rows_as::<DynamicEntity>();
    /// assert_eq!(anything.explain()?.class(), CostClass::Range);
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn rows_as<F: FromRow>(self) -> Query<F> {
        let Query { table, range, raw, typed, schema, top, page_size, concurrency, allow_scan, .. } = self;
        Query { table, range, raw, typed, schema, top, page_size, concurrency, allow_scan, ..Query::all() }
    }

    fn read_as<S>(
        self,
        selection: Selection,
        read: impl Fn(DynamicEntity) -> Result<Versioned<S>> + Send + Sync + 'static,
    ) -> Query<E, S> {
        Query {
            table: self.table,
            range: self.range,
            raw: self.raw,
            typed: self.typed,
            schema: self.schema,
            selection: with_marks(selection),
            read: Arc::new(read),
            top: self.top,
            page_size: self.page_size,
            concurrency: self.concurrency,
            allow_scan: self.allow_scan,
            entity: PhantomData,
        }
    }

    /// Says what the query reads and what that costs, without a store.
    ///
    /// # Errors
    /// [`InvalidQuery`](crate::ErrorKind::InvalidQuery) for a filter that does not parse or a
    /// condition that the key cannot express, [`InvalidKey`](crate::ErrorKind::InvalidKey) for a
    /// value that does not fit its key template,
    /// [`LimitExceeded`](crate::ErrorKind::LimitExceeded) for more than 128 ranges.
    pub fn explain(&self) -> Result<Explain> {
        Ok(Explain::new(self.table, self.plan()?, self.selection.clone(), self.top, self.allow_scan))
    }

    /// The ranges that the query reads.
    pub(super) fn plan(&self) -> Result<Plan> {
        let range = self.range.clone()?;
        let of_type = KeyRange { partition: Span::ALL, row: Span::prefix(E::row_prefix()) };
        let mut filter = self.raw.clone()?;
        if let Some(schema) = self.schema {
            filter = Filter::all_of([lower(schema, &Node::And(self.typed.clone()))?, filter]);
        }
        Plan::new(&filter, &range.intersect(&of_type))
    }
}

/// A selection by which rows can still be told apart.
fn with_marks(selection: Selection) -> Selection {
    match selection {
        Selection::All => Selection::All,
        Selection::Only(mut names) => {
            names.extend(marks());
            names.sort_unstable();
            names.dedup();
            Selection::Only(names)
        }
    }
}

/// The least that a query selects: what tells rows apart.
pub(super) fn only_marks() -> Selection {
    with_marks(Selection::Only(Vec::<PropertyName>::new()))
}

impl<E, R> Clone for Query<E, R> {
    fn clone(&self) -> Self {
        Self {
            table: self.table,
            range: self.range.clone(),
            raw: self.raw.clone(),
            typed: self.typed.clone(),
            schema: self.schema,
            selection: self.selection.clone(),
            read: Arc::clone(&self.read),
            top: self.top,
            page_size: self.page_size,
            concurrency: self.concurrency,
            allow_scan: self.allow_scan,
            entity: PhantomData,
        }
    }
}

impl<E, R> fmt::Debug for Query<E, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Query")
            .field("table", &self.table)
            .field("range", &self.range)
            .field("raw", &self.raw)
            .field("typed", &self.typed)
            .field("selection", &self.selection)
            .field("top", &self.top)
            .field("page_size", &self.page_size)
            .field("concurrency", &self.concurrency)
            .field("allow_scan", &self.allow_scan)
            .finish_non_exhaustive()
    }
}
