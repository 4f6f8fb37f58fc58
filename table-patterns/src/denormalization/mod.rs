//! Denormalization: copies of one entity's fields in another, and counts, kept in step.
//!
//! # Problem
//! A department names its manager by id. To show the manager's name and address beside the
//! department takes a second read, and to say how many employees it has takes a scan. The lines of
//! an order show the name of their product, which is kept in another table.
//!
//! # Rows
//! The target keeps what is always wanted with it. In one partition:
//!
//! | partition | row | properties |
//! | --- | --- | --- |
//! | `Sales` | `department` | the target: `ManagerId`, copies `ManagerName` and `ManagerEmail`, `EmployeeCount` |
//! | `Sales` | `empid_000152` | a source: `Name`, `Email` |
//!
//! Across partitions and tables:
//!
//! | table | partition | row | properties |
//! | --- | --- | --- | --- |
//! | `Products` | `tea` | `product` | a source: `Name` |
//! | `Products` | `tea` | `~intent_ID` | `RowKind` = `intent`: a change that not all targets show yet; or `fence`: no such change may come any more; `RowScope`: of which pair |
//! | `Orders` | `A7` | `line_0001` | a target: `Product`, the copy `ProductName` |
//! | `Orders` | `A7` | `~intent_ID` | the same of a target that a change of its source may have missed |
//!
//! # In one partition
//! [`Denormalized::new`] keeps a pair in one table whose targets stand in the partition of their source.
//!
//! - A source and the targets that copy it change in one transaction: no reader finds a copy that
//!   its source does not say.
//! - Pointing a target at another source takes that source's fields as they are at that moment.
//! - Counts change in the same transaction as what they count.
//! - Everything is written on the condition that it is as it was read, and read again where somebody
//!   was faster, a bounded number of times.
//! - A source with more targets than one transaction holds (99 of a type without indexes) is written
//!   with the first of them; the others follow, in transactions of as many. To add or delete such a
//!   source is refused with the count, since half of it cannot be taken back.
//!
//! **After a crash.** Up to 99 targets there is one write, so it happened or it did not. With more, a crash between
//! two transactions leaves some targets with old copies; repeating the update, or
//! [`refresh`](Denormalized::refresh), writes exactly those.
//!
//! # Across partitions and tables
//! [`Denormalized::kept_by`] keeps a pair whose targets stand anywhere, with the help of a
//! [`Mover`](crate::eventually_consistent_transactions::Mover). A change of a source, step by step:
//!
//! 1. Send a message that names the source and where its targets are found, hidden for half a minute.
//! 2. In one transaction of the source's partition: the change, and the intent.
//! 3. Read a page of the targets, **then** the source, and write each target that names the source, if it still is what
//!    was read, in transactions of up to 100 in each partition: also where it already looks right, since the new
//!    version is what stops whoever comes late. Where somebody else was faster, read those again, then the source.
//! 4. The writer leaves further pages to a worker, with the place in the message where to go on. A worker puts the same
//!    there after each ten pages, so whoever takes the message after a crash goes on and does not begin anew.
//! 5. Delete the intent, and 6. the message.
//!
//! A worker that gets the message does 3 to 6 where there is an intent. Where there is none it puts a fence in its place,
//! and the writer, should it still be on its way, begins again.
//!
//! **A target that is new, pointed at another source, or moved in the index by which it is found,** can be missed by a change of
//! that source that is on its way: the source was read before the change, and its targets before this one was there. So
//! such a write has a message and an intent of its own, in the target's partition. Once the target is written and its
//! index rows lead to it, the source is read once more: is it unchanged, then any later change finds the target; else the
//! target is read, then the source, and the target is written. The same holds for whoever writes a copy that is itself part of that
//! index's key. A change of a target that stays where it is found, and names the same source as before, needs none of
//! this: changes of the source know it.
//!
//! - Once the queue is empty, every target shows what its source says.
//! - In between a copy may lag behind. A write that was answered with success is in the source, whatever the
//!   targets show yet.
//! - Source and target may have indexes, also elsewhere: those are kept as by [`Indexed`](crate::Indexed). A lookup of
//!   the targets by an index, here or elsewhere, is as good as one by their keys: a target is settled only when its index rows
//!   lead to it, whatever field of the index's key has changed.
//! - Counts are refused. A merge that adds one cannot be told from one that was made already, and a worker may
//!   come twice; count what is in one partition, or ask [`data_series`](crate::data_series).
//!
//! **After a crash.**
//!
//! | the writer dies after | what is left | who mends it |
//! | --- | --- | --- |
//! | 1 | a message | a worker: it puts a fence, and removes it in a day |
//! | 2 | a source that its targets do not show yet | a worker writes the targets |
//! | 3, 4 | some targets are old | a worker writes the rest, from the last place that the message names |
//! | 5 | the message | a worker puts a fence, and removes it in a day |
//! | 6 | nothing | |
//!
//! # When not to use it
//! - When the copied fields change often and are read seldom.
//! - Across partitions, where a reader must never see an old copy.
//! - When one target counts what very many writers insert: all of them meet in its row.
//! - With copies in the key of the index by which the targets are found: it works, but each of them moves alone, with a
//!   message of its own. Where the source takes a value that this key cannot hold, such as a name of 600 characters,
//!   `update` succeeds, the targets stay old, and the item is put aside: check such a field before you write it.

mod across;
mod keep;
mod local;
mod message;
mod one;
mod point;
mod settle;
mod targets;
mod worker;
mod write;

use std::fmt;

use table_core::{Entity, Key, Result, Table, Versioned};

use crate::attempts::UpdateOptions;
use across::Across;

pub use targets::Targets;

pub(crate) use local::{is_conflict, pointing, touch};
pub(crate) use message::is_of_copies;
pub(crate) use settle::differs;

/// An entity that keeps copies of another's fields.
///
/// See [`Denormalized`] for an example in one partition, and [`Denormalized::kept_by`] for one across tables.
pub trait KeepsCopies: Entity {
    /// What is copied from.
    type Source: Entity;

    /// Whether a source can be written only where it has a target, as when a target counts its
    /// sources. Not across partitions.
    const NEEDS_TARGET: bool = false;

    /// Where the targets are found that may copy this source, or count it.
    ///
    /// A target that names a source and is not found by this never hears of its changes.
    fn targets(source: &Self::Source) -> Targets<Self>;

    /// The source that this target copies, if any.
    fn source(&self) -> Option<Key<Self::Source>>;

    /// Takes the fields of its source; of none, where the source is deleted or there is none.
    fn take(&mut self, source: Option<&Self::Source>);

    /// Whether a change of a source shows in any target. A change that does not is written without a look at
    /// the targets, where those are in other partitions.
    #[must_use]
    fn shows(_before: &Self::Source, _after: &Self::Source) -> bool {
        true
    }

    /// Takes note that it has one source more (1) or less (-1). In one partition only.
    fn count(&mut self, _change: i64) {}

    /// How many sources it says it has, by which maintenance checks the count; none where it does not count.
    #[must_use]
    fn counted(&self) -> Option<i64> {
        None
    }
}

/// Sources, and the targets of type `T` that keep copies of them.
///
/// ```
/// use std::sync::Arc;
/// use table_core::{Entity, Key, MemoryStore, Table};
/// use table_patterns::denormalization::{Denormalized, KeepsCopies, Targets};
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
///     fn targets(employee: &Employee) -> Targets<Self> {
///         Self::key(&employee.department).into()
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
pub struct Denormalized<T: KeepsCopies> {
    sources: Table,
    targets: Table,
    options: UpdateOptions,
    /// Who keeps the copies, where one transaction cannot.
    across: Option<Across<T>>,
}

impl<T: KeepsCopies> Denormalized<T> {
    /// The sources and targets of a table, each target in the partition of its source.
    #[must_use]
    pub fn new(table: Table) -> Self {
        Self { sources: table.clone(), targets: table, options: UpdateOptions::default(), across: None }
    }

    /// Sets how often a write tries again under contention.
    #[must_use]
    pub fn with_options(mut self, options: UpdateOptions) -> Self {
        self.across = self.across.map(|across| across.with_options(&options));
        self.options = options;
        self
    }

    /// The table of the targets, for reads.
    #[must_use]
    pub const fn table(&self) -> &Table {
        &self.targets
    }

    /// The table of the sources, for reads: the same, or another.
    #[must_use]
    pub const fn sources(&self) -> &Table {
        &self.sources
    }

    pub(crate) const fn across(&self) -> Option<&Across<T>> {
        self.across.as_ref()
    }

    pub(crate) const fn options(&self) -> &UpdateOptions {
        &self.options
    }

    pub(crate) async fn targets_of(&self, source: &T::Source) -> Result<Vec<Versioned<T>>> {
        match T::targets(source).lookup()? {
            Some(lookup) => lookup.all(&self.targets).await,
            None => Ok(Vec::new()),
        }
    }
}

impl<T: KeepsCopies> Clone for Denormalized<T> {
    fn clone(&self) -> Self {
        Self {
            sources: self.sources.clone(),
            targets: self.targets.clone(),
            options: self.options.clone(),
            across: self.across.clone(),
        }
    }
}

impl<T: KeepsCopies> fmt::Debug for Denormalized<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Denormalized")
            .field("sources", &self.sources)
            .field("targets", &self.targets)
            .field("options", &self.options)
            .field("across", &self.across)
            .finish()
    }
}
