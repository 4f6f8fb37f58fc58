//! Denormalization: copies of one entity's fields in another, and counts, kept in step.
//!
//! # Problem
//! A department names its manager by id. To show the manager's name and address beside the
//! department takes a second read, and to say how many employees it has takes a scan.
//!
//! # Rows
//! The target keeps what is always wanted with it:
//!
//! | partition | row | properties |
//! | --- | --- | --- |
//! | `Sales` | `department` | the target: `ManagerId`, copies `ManagerName` and `ManagerEmail`, `EmployeeCount` |
//! | `Sales` | `empid_000152` | a source: `Name`, `Email` |
//!
//! # Guarantees
//! - A source and the targets that copy it change in one transaction: no reader finds a copy that
//!   its source does not say.
//! - Pointing a target at another source takes that source's fields as they are at that moment.
//! - Counts change in the same transaction as what they count.
//! - Everything is written on the condition that it is as it was read, and read again where somebody
//!   was faster, a bounded number of times.
//! - A source with more targets than one transaction holds (99 of a type without indexes) is written
//!   with the first of them; the others follow in transactions of up to 100. To add or delete such a
//!   source is refused with the count, since half of it cannot be taken back.
//!
//! # After a crash
//! Up to 99 targets there is one write, so it happened or it did not. With more, a crash between two
//! transactions leaves some targets with old copies; repeating the update, or
//! [`refresh`](Denormalized::refresh), writes exactly those.
//!
//! # When not to use it
//! - When the copied fields change often and are read seldom.
//! - Across partitions, where no transaction keeps the two in step.
//! - When one target counts what very many writers insert: all of them meet in its row.

mod write;

use std::fmt;
use std::marker::PhantomData;

use table_core::{Entity, Key, Query, Result, Table, Versioned};

use crate::attempts::UpdateOptions;

/// An entity that keeps copies of another's fields, in the same table and partition.
///
/// See [`Denormalized`] for an example.
pub trait KeepsCopies: Entity {
    /// What is copied from.
    type Source: Entity;

    /// Whether a source can be written only where it has a target, as when a target counts its
    /// sources.
    const NEEDS_TARGET: bool = false;

    /// The targets that may copy this source, or count it: one key, or a range of them.
    fn targets(source: &Self::Source) -> Query<Self>;

    /// The source that this target copies, if any.
    fn source(&self) -> Option<Key<Self::Source>>;

    /// Takes the fields of its source; of none, where the source is deleted or there is none.
    fn take(&mut self, source: Option<&Self::Source>);

    /// Takes note that it has one source more (1) or less (-1).
    fn count(&mut self, _change: i64) {}
}

/// Sources, and the targets of type `T` that keep copies of them.
///
/// ```
/// use std::sync::Arc;
/// use table_core::{Entity, Key, MemoryStore, Query, Table};
/// use table_patterns::denormalization::{Denormalized, KeepsCopies};
///
/// #[derive(Entity, Clone)]
/// #[entity(partition = "{department}", row = "empid_{id:06}")]
/// struct Employee {
///     department: String,
///     id: u32,
///     name: String,
/// }
///
/// #[derive(Entity, Clone)]
/// #[entity(partition = "{name}", row = "department")]
/// struct Department {
///     name: String,
///     manager: Option<u32>,
///     manager_name: Option<String>,
///     employee_count: i64,
/// }
///
/// impl KeepsCopies for Department {
///     type Source = Employee;
///     const NEEDS_TARGET: bool = true;
///
///     fn targets(employee: &Employee) -> Query<Self> {
///         Self::range(&employee.department).query()
///     }
///
///     fn source(&self) -> Option<Key<Employee>> {
///         self.manager.map(|id| Employee::key(&self.name, id))
///     }
///
///     fn take(&mut self, manager: Option<&Employee>) {
///         self.manager_name = manager.map(|manager| manager.name.clone());
///     }
///
///     fn count(&mut self, change: i64) {
///         self.employee_count += change;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let table = Table::new(Arc::new(MemoryStore::new()), "Staff")?;
/// table.create().await?;
/// let staff = Denormalized::<Department>::new(table.clone());
/// let sales = Department { name: "Sales".into(), manager: None, manager_name: None, employee_count: 0 };
/// staff.insert_target(&sales).await?;
///
/// let jo = Employee { department: "Sales".into(), id: 7, name: "Jo".into() };
/// staff.insert(&jo).await?;
/// staff.update_target(Department::key("Sales"), |sales| sales.manager = Some(7)).await?;
/// staff.update(Employee::key("Sales", 7), |jo| jo.name = "Joanna".into()).await?;
///
/// let sales = table.require(Department::key("Sales")).await?;
/// assert_eq!((sales.manager_name.as_deref(), sales.employee_count), (Some("Joanna"), 1));
/// # Ok(())
/// # }
/// ```
pub struct Denormalized<T> {
    table: Table,
    options: UpdateOptions,
    target: PhantomData<fn() -> T>,
}

impl<T: KeepsCopies> Denormalized<T> {
    /// The sources and targets of a table.
    #[must_use]
    pub fn new(table: Table) -> Self {
        Self { table, options: UpdateOptions::default(), target: PhantomData }
    }

    /// Sets how often a write tries again under contention.
    #[must_use]
    pub fn with_options(mut self, options: UpdateOptions) -> Self {
        self.options = options;
        self
    }

    /// The table, for reads.
    #[must_use]
    pub const fn table(&self) -> &Table {
        &self.table
    }

    async fn targets_of(&self, source: &T::Source) -> Result<Vec<Versioned<T>>> {
        self.table.all(T::targets(source)).await
    }
}

impl<T> Clone for Denormalized<T> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), options: self.options.clone(), target: PhantomData }
    }
}

impl<T> fmt::Debug for Denormalized<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Denormalized").field("table", &self.table).field("options", &self.options).finish()
    }
}
