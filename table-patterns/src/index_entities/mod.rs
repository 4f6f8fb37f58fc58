//! Index entities: one row for each value, with the list of the keys of the entities that have it.
//!
//! # Problem
//! Many employees share a last name. To find them, the store would read the whole partition; copies
//! of each employee under its last name would answer, but take a row for each. And who works in Berlin, in
//! whichever department, would take a scan of the whole table.
//!
//! # Rows
//! A list stands where its declaration says ([`ListPlace`]): beside its entities, in a partition of its own, or in
//! another table. There is one row for each value:
//!
//! | table | partition | row | properties |
//! | --- | --- | --- | --- |
//! | `Employees` | `Sales` | `empid_000152` | the entity, and `RowToken` |
//! | `Employees` | `Sales` | `list_Employee:last_name:Jones` | beside: `RowKind` = `list:last_name`, `Keys00` = `empid_000152` and others, a line each, `RowToken` |
//! | `Employees` | `list_Employee:team:Blue` | | in a partition of its own: `Keys00` = `Sales/empid_000152` and others |
//! | `EmployeesByCity` | `list:employees:Employee:city:Berlin` | | in another table: the same |
//! | `EmployeesByCity` | `list:employees:Employee:city:Bonn` | | `RowKind` = `tombstone`: nobody has this value any more |
//! | `EmployeesByCity` | `list:employees:Employee:city:Rome` | | in a blob: `Keys` = `blob:1;901120;9f86…;text;employees-lists/Employee/3a7b…/Keys-9f86…-5c2e…`, `RowBlobs` = `Keys` |
//! | `Employees` | `Sales` | `~intent_list_5c2e…` | `RowKind` = `intent`: a change that is not yet in all lists; or `fence`: no such change may come any more |
//!
//! The key of a list has the type of its entities in it, and in another table theirs too: lists of two types or tables
//! share no row, whatever they are called and wherever they stand.
//!
//! A long list goes on in `Keys01` and so forth, 64 KiB each. With [`with_blobs`](IndexEntities::with_blobs) it moves to
//! a blob before its row is full, and back when it has shrunk to half of that, without its users noticing; with
//! [`ListPlace::in_blob`] it is always there.
//!
//! # A write, step by step
//! Lists beside the entity are read, and written in its transaction. For a list elsewhere:
//!
//! 1. Read the lists of the old and new values.
//! 2. Send a message that names the entity and these lists, hidden for half a minute.
//! 3. In one transaction of the entity's partition: the change, the lists that stand there, the intent.
//! 4. Write each of the named lists, if it still is what step 1 read: what it held, with the key or without it, and a
//!    tombstone where it gets empty; also where it already looks right. Who meets somebody else reads the list again,
//!    then the entity, and writes what that says.
//! 5. Delete the intent.
//! 6. Delete the message. Where there are tombstones it becomes the message that removes them, in a day.
//!
//! A worker that gets the message puts a fence where there is no intent, and does the same: the list, then the entity,
//! then the conditional write. What is written of one entity is always read from it after the list that it is written
//! to, and all other keys stay as they were read: so it does not matter how often, in which order or how late anybody
//! writes.
//!
//! A list in a blob is put under a new name, with its hash in it, before a row refers to it; a message that is sent
//! before names it and the one that it replaces, and in a day deletes whichever the row does not refer to.
//!
//! # Guarantees
//! - An entity and the lists beside it change in one transaction: such a list never names an entity
//!   that is gone or has another value, and never misses one. A change of the value touches three rows: the
//!   entity, the old list and the new one. A list that gets empty is deleted.
//! - Once the queue is empty, a list elsewhere names exactly the entities that have its value. In between it may lag
//!   behind; [`find`](IndexEntities::find) and [`find_across`](IndexEntities::find_across) ask each entity, and leave out
//!   those that no longer have the value.
//! - Every list is written on the condition that it is as it was read; where somebody was faster, all
//!   is read again, a bounded number of times. What a writer cannot bring to a list elsewhere, a worker does.
//! - A row never refers to a blob that is not there, and once the queue is empty every blob is referred to. What is
//!   read from a blob is checked by length and checksum.
//!
//! # After a crash
//! Beside the entity there is one write, so it happened or it did not. A lost answer is settled by the token in the
//! entity or, where that is deleted, in a list; only where the last list went with the entity can the
//! outcome stay unknown.
//!
//! | with lists elsewhere, the writer dies after | what is left | who mends it |
//! | --- | --- | --- |
//! | 1 | nothing | |
//! | 2 | a message | a worker: it puts a fence, writes the lists as they are, and removes the fence in a day |
//! | 3 | an entity that its lists do not show yet | a worker writes the lists |
//! | 4 | the intent | a worker writes the same once more, and deletes it |
//! | 5 | the message | a worker writes the same once more behind a fence |
//! | any put of a blob | a blob that nobody refers to | its message deletes it in a day |
//!
//! # When not to use it
//! - When the matching entities are wanted whole and are many: each takes one more read. Copies in
//!   the order of the value (a secondary index) are read by the page.
//! - When very many entities share a value and change often: all writers meet in its list, and each writes it as a
//!   whole.
//! - Where a lookup across partitions must see a change at once: a list elsewhere follows within moments.
//! - For lists elsewhere that near 1 MiB without [`with_blobs`](IndexEntities::with_blobs): who would join one is refused
//!   when less than 64 KiB are left. Should more come at the same moment than have room there (thirty of the longest
//!   keys, a thousand usual ones), the last of them are written and not listed, and their messages are put aside.
//!
//! [`maintenance`](crate::maintenance) builds, checks and repairs lists, key by key. To find what is missing it reads the
//! lists that are to name an entity, once for all that come within ten seconds while no more than 100,000 keys are kept.
//!
//! A list elsewhere, from declaration to lookup:
//!
//! ```
//! use std::sync::Arc;
//! use object_store::memory::InMemory;
//! use table_core::{Entity, MemoryStore, Table};
//! use table_patterns::IndexEntities;
//! use table_patterns::eventually_consistent_transactions::Mover;
//! use table_patterns::index_entities::{ListBlobs, ListPlace};
//!
//! #[derive(Entity)]
//! #[entity(partition = "{department}", row = "empid_{id:06}")]
//! struct Employee {
//!     department: String,
//!     id: u32,
//!     city: String,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> table_core::Result<()> {
//! let store = Arc::new(MemoryStore::new());
//! let lists = IndexEntities::<Employee>::new(Table::new(store.clone(), "Employees")?)
//!     .list_at(ListPlace::table("EmployeesByCity"), "city", |employee| Some(employee.city.clone()))
//!     .with_blobs(ListBlobs::new(Arc::new(InMemory::new())));
//! let mover = Mover::builder(store, "moves")?.keep_lists(&lists).build().await?;
//! let employees = lists.kept_by(&mover)?;
//! employees.create_if_missing().await?;
//! let workers = mover.start();
//!
//! for (department, id) in [("Sales", 7), ("Marketing", 152)] {
//!     employees.insert(&Employee { department: department.into(), id, city: "Berlin".into() }).await?;
//! }
//! let berlin = employees.find_across("city", "Berlin").await?;
//! assert_eq!(berlin.iter().map(|employee| employee.id).collect::<Vec<_>>(), [152, 7]);
//! workers.shutdown().await;
//! # Ok(())
//! # }
//! ```

mod blobs;
mod keep;
mod list;
mod maintain;
mod pass;
mod place;
mod settle;
mod shelf;
mod write;

use std::fmt;

use table_core::{
    DynamicEntity, Entity, EntityKey, Error, ErrorKind, PartitionKey, Result, RowKey, Table, TableName, Versioned,
};

use crate::attempts::UpdateOptions;
use crate::intent::{IntentOptions, Keeper};
use list::{KeyList, list_name};
use place::List;
use shelf::Shelf;

pub use blobs::ListBlobs;
pub use place::ListPlace;

pub(crate) use list::is_list;
pub(crate) use settle::is_of_lists;

/// How many listed entities, or lists, are read at once.
const LISTED_READS: usize = 8;

/// Entities, and lists of their keys by value.
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
    /// A name that two lists have.
    doubled: Option<&'static str>,
    /// Where lists go that are too long for a row.
    blobs: Option<ListBlobs>,
    /// Who keeps the lists elsewhere, and collects blobs.
    keeper: Option<Keeper>,
    /// How long intents are hidden and what is left stays, whoever keeps the lists.
    intents: IntentOptions,
    /// Which messages a worker of these lists has.
    scope: String,
}

impl<E: Entity> IndexEntities<E> {
    /// The entities of a table, with no lists yet.
    #[must_use]
    pub fn new(table: Table) -> Self {
        let scope = format!("{}/{}", table.name().as_str().to_ascii_lowercase(), E::SCHEMA.name);
        Self {
            table,
            options: UpdateOptions::default(),
            lists: Vec::new(),
            doubled: None,
            blobs: None,
            keeper: None,
            intents: IntentOptions::default(),
            scope,
        }
    }

    /// Declares a list beside its entities by its name, and by the value of each entity; one without a value is not
    /// listed. Every program that writes these entities must declare the same lists. A name that another list of
    /// these entities has is refused when the lists are opened or first used.
    #[must_use]
    pub fn list(self, name: &'static str, value: fn(&E) -> Option<String>) -> Self {
        self.list_at(ListPlace::beside(), name, value)
    }

    /// As [`list`](IndexEntities::list), for a list that stands in a partition of its own, in another table, or
    /// always in a blob. It takes a mover: see [`kept_by`](IndexEntities::kept_by), which comes after the last list.
    ///
    /// A list whose place or value is to change needs a new name while processes run that know it as it was, or while
    /// their messages are on the queue: declare and build it beside the old one, and take that away when they are gone.
    /// Then delete the rows of the old one, which nobody reads any more, nor looks at to verify them. A message with a
    /// place that this process does not know of the list waits for a process that does.
    #[must_use]
    pub fn list_at(mut self, place: ListPlace, name: &'static str, value: fn(&E) -> Option<String>) -> Self {
        if self.lists.iter().any(|list| list.name == name) {
            self.doubled = Some(name);
        }
        self.lists.push(List { name, place, value });
        self.not_kept()
    }

    /// Lets lists that are too long for a row move to blobs. It takes a mover, which deletes those that were
    /// replaced: see [`kept_by`](IndexEntities::kept_by), which comes after this. Every program that uses these lists
    /// must say the same.
    #[must_use]
    pub fn with_blobs(mut self, blobs: ListBlobs) -> Self {
        self.blobs = Some(blobs);
        self.not_kept()
    }

    /// Forgets the mover, which was asked for what was declared before: the first write asks for one again.
    fn not_kept(self) -> Self {
        Self { keeper: None, ..self }
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

    /// The row keys of the entities of a partition that have a value, in their order. One storage transaction, and
    /// one read where the list is in a blob.
    ///
    /// # Errors
    /// [`InvalidQuery`](table_core::ErrorKind::InvalidQuery) for a list that was not declared,
    /// [`Corrupted`](table_core::ErrorKind::Corrupted) for a blob that is not what was stored, and those
    /// of reading.
    pub async fn keys(&self, partition: &PartitionKey, list: &str, value: &str) -> Result<Vec<RowKey>> {
        let keys = self.read_keys(partition, self.declared(list)?, value).await?;
        Ok(keys.into_keys().filter(|key| key.partition == *partition).map(|key| key.row).collect())
    }

    /// The entities of a partition that have a value, in the order of their keys, up to eight reads at once. One
    /// storage transaction for the list, and one for each entity.
    ///
    /// The entities are not one snapshot: one that was changed after the list was read, so that it
    /// has another value, is left out.
    ///
    /// # Errors
    /// As [`IndexEntities::keys`].
    pub async fn find(&self, partition: &PartitionKey, list: &str, value: &str) -> Result<Vec<Versioned<E>>> {
        let keys = self.keys(partition, list, value).await?;
        let keys = keys.into_iter().map(|row| EntityKey::new(partition.clone(), row)).collect();
        self.fetch(keys, list, value).await
    }

    /// The keys of all entities that have a value, in whichever partition, in their order: those that a list in a
    /// partition or table of its own names. One storage transaction, and one read where the list is in a blob.
    ///
    /// The list may lag behind for a moment; [`find_across`](IndexEntities::find_across) asks the entities.
    ///
    /// # Errors
    /// [`InvalidQuery`](table_core::ErrorKind::InvalidQuery) for a list that stands beside its entities, and as
    /// [`IndexEntities::keys`].
    pub async fn keys_across(&self, list: &str, value: &str) -> Result<Vec<EntityKey>> {
        let declared = self.declared(list)?;
        if !declared.is_elsewhere() {
            return Err(Error::invalid_query(format!(
                "there is a list {list} in each partition; ask one with `keys`, or declare the list with `list_at` in a partition or table of its own"
            )));
        }
        let nowhere = PartitionKey::new("")?;
        Ok(self.read_keys(&nowhere, declared, value).await?.into_keys().collect())
    }

    /// All entities that have a value, in whichever partition, in the order of their keys, up to eight reads at once.
    /// One storage transaction for the list, and one for each entity. One that no longer has the value is left out.
    ///
    /// # Errors
    /// As [`IndexEntities::keys_across`].
    pub async fn find_across(&self, list: &str, value: &str) -> Result<Vec<Versioned<E>>> {
        let keys = self.keys_across(list, value).await?;
        self.fetch(keys, list, value).await
    }

    /// The entities of keys that have the value of a list.
    async fn fetch(&self, keys: Vec<EntityKey>, list: &str, value: &str) -> Result<Vec<Versioned<E>>> {
        let value_of = self.declared(list)?.value;
        let found = self.table.get_many::<E, _>(keys, LISTED_READS).await?;
        let has_value = |entity: &Versioned<E>| value_of(entity).as_deref() == Some(value);
        Ok(found.into_iter().flatten().filter(has_value).collect())
    }

    fn declared(&self, name: &str) -> Result<&List<E>> {
        self.refuse_doubles()?;
        let found = self.lists.iter().find(|list| list.name == name);
        found.ok_or_else(|| Error::invalid_query(format!("{}; add it with `list` or `list_at`", self.unknown(name))))
    }

    /// What is to be said of a list that was not declared.
    fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.lists.iter().map(|list| list.name).collect();
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        format!("no list {name} of {} was declared, but {known}", E::SCHEMA.name)
    }

    /// Refuses lists of one name, which would be one.
    fn refuse_doubles(&self) -> Result<()> {
        self.doubled.map_or(Ok(()), |name| {
            Err(Error::new(
                ErrorKind::InvalidName,
                format!("two lists of {} are called {name}; give each a name of its own", E::SCHEMA.name),
            ))
        })
    }

    /// The list that a row of a table is one of.
    fn list_of(&self, table: &TableName, row: &DynamicEntity) -> Option<&List<E>> {
        let is_called =
            |list: &&List<E>| list_name(row) == Some(list.name) && list.is_called(&self.table, table, &row.key);
        self.lists.iter().find(is_called)
    }

    async fn read_keys(&self, partition: &PartitionKey, list: &List<E>, value: &str) -> Result<KeyList> {
        let spot = list.spot(&self.table, partition, value)?;
        Ok(self.shelf().read(list, &spot).await?.keys)
    }

    const fn shelf(&self) -> Shelf<'_> {
        Shelf {
            table: &self.table,
            blobs: self.blobs.as_ref(),
            keeper: self.keeper.as_ref(),
            scope: self.scope.as_str(),
            entity: E::SCHEMA.name,
            options: &self.options,
        }
    }
}

impl<E> Clone for IndexEntities<E> {
    fn clone(&self) -> Self {
        Self {
            table: self.table.clone(),
            options: self.options.clone(),
            lists: self.lists.clone(),
            doubled: self.doubled,
            blobs: self.blobs.clone(),
            keeper: self.keeper.clone(),
            intents: self.intents.clone(),
            scope: self.scope.clone(),
        }
    }
}

impl<E> fmt::Debug for IndexEntities<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, lists, blobs, .. } = self;
        f.debug_struct("IndexEntities")
            .field("table", table)
            .field("lists", lists)
            .field("blobs", blobs)
            .finish_non_exhaustive()
    }
}
