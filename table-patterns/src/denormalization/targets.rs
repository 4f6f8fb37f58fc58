//! Which targets may copy a source: a query that a message can carry, and its pages.

use std::fmt;
use std::marker::PhantomData;

use serde::{Deserialize, Serialize};
use table_core::keys::KeyRange;
use table_core::query::{Continuation, Explain, Filter};
use table_core::{DynamicEntity, Entity, EntityKey, IndexCopy, IndexSchema, Key, Query, Result, Table, Versioned};

use crate::eventually_consistent_transactions::not_here;
use crate::rows::fits_no_key;

/// How many targets are read at once behind the rows of an index.
const READS: usize = 8;

/// Where the targets of a source are found: by their key, in ranges of keys, or through one of their indexes.
///
/// It may find more than those that copy the source; each target is asked. What a query says of order, columns and
/// `top` does not matter.
///
/// ```
/// use table_core::Entity;
/// use table_patterns::denormalization::Targets;
///
/// #[derive(Entity, Clone)]
/// #[entity(partition = "{order}", row = "line_{number:04}")]
/// #[index(product, table = "LinesByProduct", partition = "{product}", row = "line_{order}_{number:04}", include())]
/// struct OrderLine {
///     order: String,
///     number: u32,
///     product: String,
///     product_name: String,
/// }
///
/// let one = Targets::from(OrderLine::key("A7", 1));
/// let of_an_order = Targets::from(OrderLine::range("A7").query());
/// let of_a_product = Targets::by_index(OrderLine::by_product("tea"));
/// # drop((one, of_an_order, of_a_product));
/// ```
#[must_use]
pub struct Targets<T> {
    /// None where no key can match.
    lookup: Result<Option<Lookup>>,
    target: PhantomData<fn() -> T>,
}

impl<T: Entity> Targets<T> {
    /// The targets behind the rows of one of their indexes: in their partition, or elsewhere.
    pub fn by_index<C: IndexCopy<Source = T>>(rows: impl Into<Query<C>>) -> Self {
        let index = T::SCHEMA.indexes.get(C::INDEX).map(|index| index.name.to_owned());
        Self::new(index, rows.into().explain())
    }

    fn new(index: Option<String>, explained: Result<Explain>) -> Self {
        let lookup = explained.and_then(|explained| {
            explained.check_scan()?;
            let filter = Filter::any_of(explained.filters());
            Ok((filter != Filter::NEVER).then(|| Lookup { index, filter: printed(&filter) }))
        });
        Self { lookup, target: PhantomData }
    }

    pub(crate) fn lookup(self) -> Result<Option<Lookup>> {
        self.lookup
    }
}

impl<T: Entity> From<Query<T>> for Targets<T> {
    fn from(query: Query<T>) -> Self {
        Self::new(None, query.explain())
    }
}

impl<T: Entity> From<Key<T>> for Targets<T> {
    fn from(key: Key<T>) -> Self {
        let range = key.resolve().map(|key| KeyRange::entity(&key));
        Query::<T>::in_range(range).into()
    }
}

impl<T> Clone for Targets<T> {
    fn clone(&self) -> Self {
        Self { lookup: self.lookup.clone(), target: PhantomData }
    }
}

impl<T> fmt::Debug for Targets<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Targets").field("lookup", &self.lookup).finish()
    }
}

/// A query for targets, as a message carries it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Lookup {
    /// The index whose rows lead to the targets; none where their own keys do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    index: Option<String>,
    /// Which rows, in OData; empty where all.
    filter: String,
}

/// The targets of one page, and where the next begins.
pub(crate) struct Found<T> {
    pub(crate) targets: Vec<Versioned<T>>,
    pub(crate) next: Option<Continuation>,
}

/// A lookup that is asked about targets one by one.
#[derive(Debug)]
pub(crate) struct Finder {
    /// The position of the index whose rows lead to the targets.
    index: Option<usize>,
    filter: Filter,
}

impl Finder {
    /// The row by which a target is found; none where it is not.
    pub(crate) fn place<T: Entity>(&self, target: &T) -> Result<Option<EntityKey>> {
        let row = match self.index {
            None => target.to_row().map(Some),
            Some(position) => target.index_row(position),
        };
        match row {
            Ok(row) => Ok(row.filter(|row| self.filter.matches(row)).map(|row| row.key)),
            // What fits no key of an index has no row there.
            Err(error) if fits_no_key(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether targets are found by rows that a write can move.
    pub(crate) const fn reads_an_index(&self) -> bool {
        self.index.is_some()
    }
}

impl Lookup {
    /// The lookup, to be asked about targets.
    pub(crate) fn finder<T: Entity>(&self) -> Result<Finder> {
        let index = self.index::<T>()?.map(|(position, _)| position);
        let filter = if self.filter.is_empty() { Filter::ALWAYS } else { Filter::parse(&self.filter)? };
        Ok(Finder { index, filter })
    }

    /// The index whose rows lead to the targets, and its position.
    fn index<T: Entity>(&self) -> Result<Option<(usize, &'static IndexSchema)>> {
        let Some(name) = &self.index else { return Ok(None) };
        let mut indexes = T::SCHEMA.indexes.iter().enumerate();
        let found = indexes.find(|(_, index)| index.name == *name);
        found.map(Some).ok_or_else(|| {
            not_here(format!("{} has no index {name}; another version of the program sent this", T::SCHEMA.name))
        })
    }

    /// Reads one page.
    pub(crate) async fn page<T: Entity>(&self, table: &Table, after: Option<&Continuation>) -> Result<Found<T>> {
        let Some((position, index)) = self.index::<T>()? else {
            let page = table.page(self.rows::<T>(None), after).await?;
            return Ok(Found { targets: page.items, next: page.next });
        };
        let page = table.page(self.rows::<DynamicEntity>(index.table), after).await?;
        let mut keys = Vec::with_capacity(page.items.len());
        for row in page.items {
            let row = row.into_value();
            if T::SCHEMA.recognizes_copy(index, &row) {
                keys.push(T::copy_source(position, row)?);
            }
        }
        keys.sort_unstable();
        keys.dedup();
        let targets = table.get_many::<T, Key<T>>(keys.into_iter().map(Key::from), READS).await?;
        Ok(Found { targets: targets.into_iter().flatten().collect(), next: page.next })
    }

    /// Reads all pages.
    pub(crate) async fn all<T: Entity>(&self, table: &Table) -> Result<Vec<Versioned<T>>> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let Found { targets, next } = self.page(table, after.as_ref()).await?;
            all.extend(targets);
            match next {
                Some(next) => after = Some(next),
                None => return Ok(all),
            }
        }
    }

    fn rows<R: table_core::FromRow>(&self, table: Option<&'static str>) -> Query<R> {
        let query = Query::<R>::all().in_table(table).allow_scan();
        if self.filter.is_empty() { query } else { query.filter_odata(&self.filter) }
    }
}

/// What parsing gives back; every row is the empty text.
fn printed(filter: &Filter) -> String {
    if *filter == Filter::ALWAYS { String::new() } else { filter.to_string() }
}
