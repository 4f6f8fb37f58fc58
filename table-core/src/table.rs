//! A handle on one table of one store, which speaks typed entities.

mod load;
mod transaction;
mod write;

pub use load::{LoadMode, LoadOptions, LoadProgress, LoadUnit};
pub use transaction::TableTransaction;

use std::sync::Arc;

use crate::entity::FromRow;
use crate::error::{Error, ErrorKind, Result};
use crate::key::Key;
use crate::keys::EntityKey;
use crate::names::TableName;
use crate::reserved;
use crate::store::{Selection, TableStore};
use crate::versioned::Versioned;

/// A cheap handle on one table of one store.
///
/// Reads take typed keys and queries, writes take typed entities; the store may be shared, boxed
/// and wrapped in layers.
///
/// ```
/// use std::sync::Arc;
/// use table_core::{Entity, MemoryStore, Table};
///
/// #[derive(Entity, Clone, Debug, PartialEq)]
/// #[entity(partition = "{department}", row = "empid_{id:06}")]
/// struct Employee {
///     department: String,
///     id: u32,
///     age: i32,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let employees = Table::new(Arc::new(MemoryStore::new()), "Employees")?;
/// employees.create_if_missing().await?;
/// employees.insert(&Employee { department: "Sales".into(), id: 223, age: 41 }).await?;
///
/// assert!(employees.get(Employee::key("Sales", 999)).await?.is_none());
/// let jo = employees.require(Employee::key("Sales", 223)).await?;
/// assert_eq!(employees.all(Employee::range("Sales")).await?, [jo]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Table {
    /// Called as `(*store).get(..)`: a shared store is a store too, and as such would box each
    /// future once more.
    store: Arc<dyn TableStore>,
    name: TableName,
}

impl Table {
    /// A handle on a table, which need not exist yet.
    ///
    /// # Errors
    /// [`InvalidName`](ErrorKind::InvalidName) for a name that the service does not take.
    pub fn new(store: Arc<dyn TableStore>, name: &str) -> Result<Self> {
        Ok(Self { store, name: TableName::new(name)? })
    }

    /// The table's name.
    #[must_use]
    pub const fn name(&self) -> &TableName {
        &self.name
    }

    /// The store that keeps the table.
    #[must_use]
    pub const fn store(&self) -> &Arc<dyn TableStore> {
        &self.store
    }

    /// A handle on another table of the same store.
    ///
    /// # Errors
    /// As [`Table::new`].
    pub fn sibling(&self, name: &str) -> Result<Self> {
        Self::new(Arc::clone(&self.store), name)
    }

    /// The table that a key or query names, or this one.
    pub(crate) fn named(&self, table: Option<&'static str>) -> Result<TableName> {
        table.map_or_else(|| Ok(self.name.clone()), TableName::new)
    }

    /// Creates the table.
    ///
    /// # Errors
    /// [`AlreadyExists`](ErrorKind::AlreadyExists).
    pub async fn create(&self) -> Result<()> {
        self.store.create_table(&self.name).await
    }

    /// Creates the table unless it exists, and says whether it did.
    ///
    /// # Errors
    /// Those of reaching the store.
    pub async fn create_if_missing(&self) -> Result<bool> {
        match self.create().await {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Reads one entity; `None` where there is none, or only a row that keeps its place.
    ///
    /// # Errors
    /// [`Corrupted`](ErrorKind::Corrupted) where the row is of another type than the key,
    /// [`Unsupported`](ErrorKind::Unsupported) where it is of a newer version of its type.
    pub async fn get<R: FromRow>(&self, key: impl Into<Key<R>>) -> Result<Option<Versioned<R>>> {
        self.read(&key.into()).await
    }

    async fn read<R: FromRow>(&self, key: &Key<R>) -> Result<Option<Versioned<R>>> {
        let (table, at) = (self.named(key.table())?, key.place()?);
        let selection: Selection = R::selection();
        let Some(row) = (*self.store).get(&table, at, &selection).await? else {
            return Ok(None);
        };
        if !R::recognizes(&row) {
            if reserved::is_placeholder(&row) {
                return Ok(None);
            }
            return Err(Error::corrupted(
                "the row is of another type than its key says; read it as the entity set of its table",
            )
            .with_operation("get")
            .with_table(table.as_str())
            .with_key(at.clone()));
        }
        R::from_row(row).map(Some)
    }

    /// Reads one entity that must exist.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound), naming the key; and as [`Table::get`].
    pub async fn require<R: FromRow>(&self, key: impl Into<Key<R>>) -> Result<Versioned<R>> {
        let key = key.into();
        match self.read(&key).await? {
            Some(found) => Ok(found),
            None => Err(missing("get", &self.named(key.table())?, key.resolve()?)),
        }
    }
}

/// The error for an entity that is not there.
fn missing(operation: &'static str, table: &TableName, key: EntityKey) -> Error {
    Error::not_found("there is no such entity").with_operation(operation).with_table(table.as_str()).with_key(key)
}
