//! Index entities: one row for each value, with the list of the keys of the entities that have it.
//!
//! # Problem
//! Many employees share a last name. To find them, the store would read the whole partition; copies
//! of each employee under its last name would answer, but take a row for each.
//!
//! # Rows
//! Beside each entity, in its partition, one row for each value of each list:
//!
//! | partition | row | properties |
//! | --- | --- | --- |
//! | `Sales` | `empid_000152` | the entity, and `RowToken` |
//! | `Sales` | `list_last_name:Jones` | `RowKind` = `list:last_name`, `Keys00` = `empid_000152` and others, a line each, `RowToken` |
//!
//! A long list goes on in `Keys01` and so forth, 64 KiB each.
//!
//! # Guarantees
//! - An entity and the lists that name it change in one transaction: a list never names an entity
//!   that is gone or has another value, and never misses one.
//! - A change of the value touches three rows: the entity, the old list and the new one. A list
//!   that gets empty is deleted.
//! - Every list is written on the condition that it is as it was read; where somebody was faster, all
//!   is read again, a bounded number of times.
//!
//! # After a crash
//! There is one write, so it happened or it did not. A lost answer is settled by the token in the
//! entity or, where that is deleted, in a list; only where the last list went with the entity can the
//! outcome stay unknown.
//!
//! # When not to use it
//! - When the matching entities are wanted whole and are many: each takes one more read. Copies in
//!   the order of the value (a secondary index) are read by the page.
//! - When very many entities share a value: all writers meet in its list, and a list is at most
//!   1 MiB.
//! - For a lookup across partitions.

mod list;
mod write;

use std::fmt;

use table_core::keys::{KeyTemplate, KeyValue, PartFormat, TemplatePart};
use table_core::{DynamicEntity, Entity, EntityKey, Error, PartitionKey, Result, RowKey, Table, Versioned};

use crate::attempts::UpdateOptions;
use list::KeyList;

/// How many listed entities, or lists, are read at once.
const LISTED_READS: usize = 8;

/// `list_last_name:Jones`.
const ROW: KeyTemplate = KeyTemplate::new(&[
    TemplatePart::Literal("list_"),
    TemplatePart::Field { name: "list", format: PartFormat::Text { terminator: Some(':') } },
    TemplatePart::Literal(":"),
    TemplatePart::Field { name: "value", format: PartFormat::Text { terminator: None } },
]);

/// Entities, and lists of their keys by value, in one partition.
///
/// ```
/// use std::sync::Arc;
/// use table_core::{Entity, MemoryStore, PartitionKey, Table};
/// use table_patterns::IndexEntities;
///
/// #[derive(Entity)]
/// #[entity(partition = "{department}", row = "empid_{id:06}")]
/// struct Employee {
///     department: String,
///     id: u32,
///     last_name: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let table = Table::new(Arc::new(MemoryStore::new()), "Employees")?;
/// table.create().await?;
/// let employees =
///     IndexEntities::<Employee>::new(table).list("last_name", |employee| Some(employee.last_name.clone()));
///
/// for id in [152, 7] {
///     employees.insert(&Employee { department: "Sales".into(), id, last_name: "Jones".into() }).await?;
/// }
/// employees.update(Employee::key("Sales", 7), |employee| employee.last_name = "Smith".into()).await?;
///
/// let sales = PartitionKey::new("Sales")?;
/// let jones = employees.find(&sales, "last_name", "Jones").await?;
/// assert_eq!(jones.iter().map(|employee| employee.id).collect::<Vec<_>>(), [152]);
/// assert_eq!(employees.keys(&sales, "last_name", "Smith").await?[0].as_str(), "empid_000007");
/// # Ok(())
/// # }
/// ```
pub struct IndexEntities<E> {
    table: Table,
    options: UpdateOptions,
    lists: Vec<List<E>>,
}

/// A declared list: its name, and the value by which an entity is listed.
struct List<E> {
    name: &'static str,
    value: fn(&E) -> Option<String>,
}

impl<E: Entity> IndexEntities<E> {
    /// The entities of a table, with no lists yet.
    #[must_use]
    pub fn new(table: Table) -> Self {
        Self { table, options: UpdateOptions::default(), lists: Vec::new() }
    }

    /// Declares a list by its name, and by the value of each entity; one without a value is not
    /// listed. Every program that writes these entities must declare the same lists.
    #[must_use]
    pub fn list(mut self, name: &'static str, value: fn(&E) -> Option<String>) -> Self {
        self.lists.push(List { name, value });
        self
    }

    /// Sets how often a write tries again under contention.
    #[must_use]
    pub fn with_options(mut self, options: UpdateOptions) -> Self {
        self.options = options;
        self
    }

    /// The table, for reads of the entities themselves.
    #[must_use]
    pub const fn table(&self) -> &Table {
        &self.table
    }

    /// The row keys of the entities that have a value, in their order. One storage transaction.
    ///
    /// # Errors
    /// [`InvalidQuery`](table_core::ErrorKind::InvalidQuery) for a list that was not declared, and those
    /// of reading.
    pub async fn keys(&self, partition: &PartitionKey, list: &str, value: &str) -> Result<Vec<RowKey>> {
        let list = self.declared(list)?;
        Ok(self.read_list(row_key(partition, list.name, value)?).await?.1.into_keys())
    }

    /// The entities that have a value, in the order of their keys, up to eight reads at once. One
    /// storage transaction for the list, and one for each entity.
    ///
    /// The entities are not one snapshot: one that was changed after the list was read, so that it
    /// has another value, is left out.
    ///
    /// # Errors
    /// As [`IndexEntities::keys`].
    pub async fn find(&self, partition: &PartitionKey, list: &str, value: &str) -> Result<Vec<Versioned<E>>> {
        let value_of = self.declared(list)?.value;
        let keys = self.keys(partition, list, value).await?;
        let keys = keys.into_iter().map(|row| EntityKey::new(partition.clone(), row));
        let found = self.table.get_many::<E, _>(keys, LISTED_READS).await?;
        let has_value = |entity: &Versioned<E>| value_of(entity).as_deref() == Some(value);
        Ok(found.into_iter().flatten().filter(has_value).collect())
    }

    fn declared(&self, name: &str) -> Result<&List<E>> {
        let found = self.lists.iter().find(|list| list.name == name);
        found.ok_or_else(|| Error::invalid_query(format!("no list {name} was declared; add it with `list`")))
    }

    /// A list and the row that it was read from; an empty one where there is no row.
    async fn read_list(&self, key: EntityKey) -> Result<(Option<Versioned<DynamicEntity>>, KeyList)> {
        let row = self.table.get::<DynamicEntity>(key).await?;
        let list = row.as_ref().map_or_else(|| Ok(KeyList::default()), |row| KeyList::from_row(row.value()))?;
        Ok((row, list))
    }
}

/// Where the list of a value stands.
fn row_key(partition: &PartitionKey, list: &str, value: &str) -> Result<EntityKey> {
    let row = ROW.row_key(&[KeyValue::Text(list.into()), KeyValue::Text(value.into())])?;
    Ok(EntityKey::new(partition.clone(), row))
}

impl<E> Clone for List<E> {
    fn clone(&self) -> Self {
        Self { name: self.name, value: self.value }
    }
}

impl<E> Clone for IndexEntities<E> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), options: self.options.clone(), lists: self.lists.clone() }
    }
}

impl<E> fmt::Debug for IndexEntities<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lists: Vec<&str> = self.lists.iter().map(|list| list.name).collect();
        f.debug_struct("IndexEntities").field("table", &self.table).field("lists", &lists).finish_non_exhaustive()
    }
}
