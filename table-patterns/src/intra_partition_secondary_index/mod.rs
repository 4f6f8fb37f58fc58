//! The intra-partition secondary index: copies of an entity under other row keys of its partition.
//!
//! # Problem
//! A store finds an entity by partition key and row key alone. To find an employee by email address,
//! or to list the employees of a department by name, it would read the whole partition.
//!
//! # Rows
//! Each index that the entity declares keeps a copy, with all properties or with some:
//!
//! | partition | row | properties |
//! | --- | --- | --- |
//! | `Sales` | `empid_000223` | everything, and `RowToken` |
//! | `Sales` | `email_jonesj@contoso.com` | `RowKind` = `index:email`, `Id`, what `include(...)` names |
//! | `Sales` | `lname_Jones_000223` | `RowKind` = `index:last_name`, what `include(...)` names |
//!
//! # Guarantees
//! - The primary row and all its copies change in one transaction: no reader ever finds a copy
//!   without its entity, an entity without its copies, or a copy with old fields.
//! - Changing an indexed field moves the copy. A field that is `None` has no copy.
//! - A unique index (its key lacks a part of the primary key) has one owner for each key; a second
//!   one is refused with an error that names the index.
//! - A write is for the version that was read. [`Indexed::update`] reads again when somebody was
//!   faster, a bounded number of times.
//! - An entity that is older than an index of its type gets the copy when it is next written.
//!
//! # After a crash
//! There is one write, so it happened or it did not: a crash before it leaves the old state, a crash
//! after it the new one. When the answer is lost, the token in the primary row tells
//! [`Retry`](table_core::layer::Retry) which it was. A delete leaves no row to carry a token: when its
//! answer is lost and the entity is gone, the error says that the outcome is unknown.
//!
//! # When not to use it
//! - For a lookup across partitions, which needs an index in a partition of its own.
//! - When many entities share a value and are always read together: one list of keys
//!   may serve better than as many copies.
//! - When writes are many and lookups are rare: each index is one more row in every write.

mod load;
mod lookup;
mod transaction;
mod write;

use std::fmt;
use std::marker::PhantomData;

use table_core::{Entity, Error, Result, Table};

use crate::attempts::UpdateOptions;
use crate::intent::Keeper;

pub(crate) use lookup::is_copy_of;
pub use transaction::IndexedTransaction;
pub(crate) use transaction::{Refused, is_local, refuse_blobs, taken};
pub(crate) use write::Shown;

/// Entities with the copies that their indexes keep, written together.
///
/// ```
/// use std::sync::Arc;
/// use table_core::{Entity, ErrorKind, MemoryStore, Table};
/// use table_patterns::Indexed;
///
/// #[derive(Entity, Clone)]
/// #[entity(partition = "{department}", row = "empid_{id:06}")]
/// #[index(email, row = "email_{email}", include(name))]
/// #[index(name, row = "name_{name}_{id:06}", include())]
/// struct Employee {
///     department: String,
///     id: u32,
///     name: String,
///     email: Option<String>,
///     age: i32,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let table = Table::new(Arc::new(MemoryStore::new()), "Employees")?;
/// table.create().await?;
/// let employees = Indexed::<Employee>::new(table)?;
///
/// let jo = Employee {
///     department: "Sales".into(),
///     id: 223,
///     name: "Jo".into(),
///     email: Some("jo@contoso.com".into()),
///     age: 41,
/// };
/// employees.insert(&jo).await?;
///
/// // The copy holds what the index includes; the whole entity takes one more read.
/// let copy = employees.require(Employee::by_email("Sales", "jo@contoso.com")).await?;
/// assert_eq!(copy.name, "Jo");
/// let whole = employees.full(Employee::by_email("Sales", "jo@contoso.com")).await?;
/// assert_eq!(whole.map(|jo| jo.age), Some(41));
///
/// // Changing the address moves the copy in the same transaction.
/// employees.update(Employee::key("Sales", 223), |jo| jo.email = Some("jones@contoso.com".into())).await?;
/// assert!(employees.get(Employee::by_email("Sales", "jo@contoso.com")).await?.is_none());
///
/// let second = Employee { id: 224, email: Some("jones@contoso.com".into()), ..jo };
/// let error = employees.insert(&second).await.unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::AlreadyExists);
/// assert!(error.message().contains("unique index email"));
/// # Ok(())
/// # }
/// ```
pub struct Indexed<E> {
    table: Table,
    options: UpdateOptions,
    /// Who keeps the indexes in other partitions and tables, where there are any.
    keeper: Option<Keeper>,
    entity: PhantomData<fn() -> E>,
}

impl<E: Entity> Indexed<E> {
    /// The entities of a table, each with its copies.
    ///
    /// # Errors
    /// [`Unsupported`](table_core::ErrorKind::Unsupported) where the type declares an index in
    /// another partition or table, which takes a mover to keep, or an index that is not unique, and
    /// so is read in its order, on a store without order.
    pub fn new(table: Table) -> Result<Self> {
        if let Some(index) = E::SCHEMA.indexes.iter().find(|index| !index.is_local()) {
            return Err(Error::unsupported(format!(
                "the index {} of {} keeps its copies in another partition or table, which takes a queue and a worker; open it with `Indexed::kept_by(table, &mover)`, or `Indexed::kept_elsewhere` where another process has the worker",
                index.name,
                E::SCHEMA.name
            )));
        }
        Self::with_keeper(table, None)
    }

    pub(crate) fn with_keeper(table: Table, keeper: Option<Keeper>) -> Result<Self> {
        refuse_blobs::<E>()?;
        for index in E::SCHEMA.indexes.iter().filter(|index| !index.unique) {
            let who = format!("the index {} of {}", index.name, E::SCHEMA.name);
            table.store().capabilities().require_order(&who)?;
        }
        Ok(Self { table, options: UpdateOptions::default(), keeper, entity: PhantomData })
    }

    pub(crate) const fn keeper(&self) -> Option<&Keeper> {
        self.keeper.as_ref()
    }

    pub(crate) const fn keeper_mut(&mut self) -> Option<&mut Keeper> {
        self.keeper.as_mut()
    }

    pub(crate) const fn options(&self) -> &UpdateOptions {
        &self.options
    }

    /// Sets how often [`update`](Indexed::update), [`upsert`](Indexed::upsert) and
    /// [`delete_by_key`](Indexed::delete_by_key) try again under contention.
    #[must_use]
    pub const fn with_options(mut self, options: UpdateOptions) -> Self {
        self.options = options;
        self
    }

    /// The table, for queries, pages and streams.
    #[must_use]
    pub const fn table(&self) -> &Table {
        &self.table
    }
}

impl<E> Clone for Indexed<E> {
    fn clone(&self) -> Self {
        Self {
            table: self.table.clone(),
            options: self.options.clone(),
            keeper: self.keeper.clone(),
            entity: PhantomData,
        }
    }
}

impl<E> fmt::Debug for Indexed<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Indexed")
            .field("table", &self.table)
            .field("options", &self.options)
            .field("keeper", &self.keeper)
            .finish()
    }
}
