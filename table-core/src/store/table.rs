//! The trait of table stores.

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::Capabilities;
use crate::dynamic::DynamicEntity;
use crate::error::Result;
use crate::keys::{EntityKey, KeyRange};
use crate::names::{PropertyName, TableName};
use crate::operation::{Operation, Transaction, Written};
use crate::query::Filter;

/// A store of tables.
///
/// Few methods, each one request to a service. Everything typed stands on
/// [`Table`](crate::Table), a handle on one table of one store.
///
/// ```
/// use table_core::store::Selection;
/// use table_core::{Action, DynamicEntity, EntityKey, MemoryStore, Operation, TableName, TableStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let (store, table) = (MemoryStore::new(), TableName::new("Employees")?);
/// store.create_table(&table).await?;
/// let key = EntityKey::parse("Sales", "empid_000223")?;
/// let jo = DynamicEntity::new(key.clone()).with("Age", 41)?;
/// store.write(&table, Operation::new(Action::Insert(jo))?).await?;
/// let found = store.get(&table, &key, &Selection::All).await?;
/// assert!(found.is_some_and(|jo| jo.get("Age").is_some()));
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait TableStore: fmt::Debug + Send + Sync + 'static {
    /// What this store does.
    fn capabilities(&self) -> Capabilities;

    /// Creates a table.
    ///
    /// # Errors
    /// [`AlreadyExists`](crate::ErrorKind::AlreadyExists).
    async fn create_table(&self, table: &TableName) -> Result<()>;

    /// Deletes a table and all its entities.
    ///
    /// # Errors
    /// [`TableNotFound`](crate::ErrorKind::TableNotFound).
    async fn delete_table(&self, table: &TableName) -> Result<()>;

    /// One page of the tables, by name.
    ///
    /// # Errors
    /// [`InvalidQuery`](crate::ErrorKind::InvalidQuery) for a token of another store.
    async fn list_tables(&self, after: Option<&PageToken>) -> Result<TablePage>;

    /// Reads one entity; `None` where there is none.
    ///
    /// # Errors
    /// [`TableNotFound`](crate::ErrorKind::TableNotFound).
    async fn get(&self, table: &TableName, key: &EntityKey, selection: &Selection) -> Result<Option<DynamicEntity>>;

    /// Reads one page of entities. A page may be short or empty and still have a successor.
    ///
    /// # Errors
    /// [`TableNotFound`](crate::ErrorKind::TableNotFound),
    /// [`InvalidQuery`](crate::ErrorKind::InvalidQuery) for a token of another store.
    async fn query(&self, table: &TableName, query: &StoreQuery) -> Result<Page>;

    /// Does one write.
    ///
    /// # Errors
    /// [`AlreadyExists`](crate::ErrorKind::AlreadyExists), [`NotFound`](crate::ErrorKind::NotFound) before
    /// [`PreconditionFailed`](crate::ErrorKind::PreconditionFailed),
    /// [`TableNotFound`](crate::ErrorKind::TableNotFound).
    async fn write(&self, table: &TableName, operation: Operation) -> Result<Written>;

    /// Does all writes of a transaction, or none.
    ///
    /// # Errors
    /// As [`TableStore::write`], with the index of the failing operation.
    async fn transact(&self, table: &TableName, transaction: Transaction) -> Result<Vec<Written>>;
}

/// Which properties a read returns. Keys and ETag always come along.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Selection {
    /// All of them.
    #[default]
    All,
    /// These, where the entity has them.
    Only(Vec<PropertyName>),
}

impl Selection {
    /// Whether a property is returned.
    #[must_use]
    pub fn includes(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.iter().any(|each| each.as_str() == name),
        }
    }
}

/// What one page of a query asks of a store.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreQuery {
    /// Which keys.
    pub range: KeyRange,
    /// Which of these rows, by their properties; none for all.
    pub filter: Option<Filter>,
    /// Which properties.
    pub selection: Selection,
    /// At most so many entities, and never more than 1,000.
    pub limit: Option<usize>,
    /// Where the page before ended.
    pub after: Option<PageToken>,
}

impl StoreQuery {
    /// All rows of a range, from its start.
    #[must_use]
    pub const fn new(range: KeyRange) -> Self {
        Self { range, filter: None, selection: Selection::All, limit: None, after: None }
    }

    /// How many entities a page of this query holds at most.
    #[must_use]
    pub fn page_size(&self) -> usize {
        self.limit.unwrap_or(crate::limits::PAGE_ENTITIES).min(crate::limits::PAGE_ENTITIES)
    }
}

/// One page of entities.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// The entities, in key order where the store is ordered.
    pub entities: Vec<DynamicEntity>,
    /// Where the next page begins; none at the end.
    pub next: Option<PageToken>,
}

/// One page of table names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TablePage {
    /// The names.
    pub tables: Vec<TableName>,
    /// Where the next page begins; none at the end.
    pub next: Option<PageToken>,
}

/// Where a page ended, in the store's own words.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PageToken(String);

impl PageToken {
    /// A token with a store's own content.
    #[must_use]
    pub fn new(content: impl Into<String>) -> Self {
        Self(content.into())
    }

    /// The store's own content.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
