//! Building, checking and repairing what is copied from one row to others.
//!
//! # Problem
//! A type gets a new index, and its million rows have no copies yet. Somebody restores one table from a backup
//! and not the other. A program that does not know of the indexes writes to the table. Then copies are missing,
//! stale, or left behind by entities that are gone.
//!
//! # What can be done
//! Everything that keeps copies is [`Maintained`]: [`Indexed`](crate::Indexed) its index rows,
//! [`IndexEntities`](crate::IndexEntities) its lists of keys, wherever they stand, and
//! [`Denormalized`](crate::Denormalized) the fields that targets have of their sources, and their counts.
//!
//! | | reads | writes |
//! | --- | --- | --- |
//! | [`build`](Maintained::build) | all sources, and each of their copies | the copies that are missing or stale |
//! | [`verify`](Maintained::verify) | all sources and all copies, and of each the other | nothing |
//! | [`repair`](Maintained::repair) | what a report names | what is still wrong |
//!
//! All of them go a page at a time, at most as fast as told, and say how far they have come with a cursor that
//! serde can store: whoever begins from it again goes on there.
//!
//! # Guarantees
//! - They run beside writers. Each write reads the copy, then the source, and is conditional on the copy as it was read; in one
//!   partition on the source too.
//! - A report names exactly the copies that are wrong: each was seen wrong while its source did not change and
//!   no change was on its way. What was on its way is counted as in flight.
//! - What only a person can decide is reported and left: two entities with one unique value, a row that is not
//!   what its type says.
//!
//! # After a crash
//! Every copy that was written is right, and the rest is as it was. Begin from the last cursor, or anew.
//!
//! # When not to use it
//! As a part of every day: patterns keep their copies themselves. A check now and then, and after a restore, is
//! what this is for.
//!
//! ```
//! use std::sync::Arc;
//! use table_core::{Action, Entity, MemoryStore, Operation, Table};
//! use table_patterns::Indexed;
//! use table_patterns::maintenance::{Maintained, MaintenanceOptions, Wrong};
//!
//! #[derive(Entity, Clone)]
//! #[entity(partition = "{department}", row = "empid_{id:06}")]
//! #[index(email, row = "email_{email}", include())]
//! struct Employee {
//!     department: String,
//!     id: u32,
//!     email: String,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> table_core::Result<()> {
//! let table = Table::new(Arc::new(MemoryStore::new()), "Employees")?;
//! table.create().await?;
//! // A row from before there was an index.
//! let jo = Employee { department: "Sales".into(), id: 223, email: "jo@contoso.com".into() };
//! table.store().write(table.name(), Operation::new(Action::Insert(jo.to_row()?))?).await?;
//!
//! let employees = Indexed::<Employee>::new(table)?;
//! let report = employees.verify(MaintenanceOptions::default()).await?;
//! assert_eq!(report.count(Wrong::Missing), 1);
//! let built = employees.build(MaintenanceOptions::default().with_rows_per_second(500)).await?;
//! assert_eq!(built.written, 1);
//! assert!(employees.verify(MaintenanceOptions::default()).await?.is_clean());
//! # Ok(())
//! # }
//! ```

mod copies;
mod indexes;
pub(crate) mod look;
pub(crate) mod marks;
mod options;
mod report;
mod run;

use table_core::{DynamicEntity, Result, Table, Timestamp};

pub use options::{Cursor, MaintenanceOptions, Progress};
pub use report::{Finding, Repaired, Report, Wrong};

/// What keeps copies of sources in other rows.
///
/// A pattern says which tables are concerned, what is wrong with one row, and how that is mended; going over
/// all rows comes with it.
pub trait Maintained: Sync + Sized {
    /// The tables whose rows say which copies there are to be, and then the others.
    ///
    /// # Errors
    /// [`InvalidName`](table_core::ErrorKind::InvalidName).
    fn tables(&self) -> Result<Tables>;

    /// Says what is wrong about a row: with the copies of an entity that has indexes, with itself where it is a copy.
    ///
    /// # Errors
    /// Those of reading.
    fn check(&self, table: &Table, row: DynamicEntity, now: Timestamp) -> impl Future<Output = Result<Checked>> + Send;

    /// Writes the copies that a row says are to be, where they are missing or stale.
    ///
    /// # Errors
    /// Those of reading and writing.
    fn fill(&self, table: &Table, row: DynamicEntity) -> impl Future<Output = Result<Checked>> + Send;

    /// Mends what was found, if it is still so, and says whether it is mended.
    ///
    /// # Errors
    /// Those of reading and writing.
    fn mend(&self, finding: &Finding, now: Timestamp) -> impl Future<Output = Result<bool>> + Send;

    /// Writes all copies that are missing or stale. The report says how many, and what could not be written.
    ///
    /// # Errors
    /// Those of reading and writing; the progress tells how far it came.
    fn build(&self, options: MaintenanceOptions) -> impl Future<Output = Result<Report>> + Send {
        run::build(self, options)
    }

    /// Finds all copies that are missing, stale or left behind.
    ///
    /// # Errors
    /// Those of reading; the progress tells how far it came.
    fn verify(&self, options: MaintenanceOptions) -> impl Future<Output = Result<Report>> + Send {
        run::verify(self, options)
    }

    /// Mends what a report names and is still so.
    ///
    /// # Errors
    /// Those of reading and writing.
    fn repair(&self, report: &Report) -> impl Future<Output = Result<Repaired>> + Send {
        run::repair(self, report, MaintenanceOptions::default())
    }

    /// As [`repair`](Maintained::repair), no faster than told.
    ///
    /// # Errors
    /// As [`repair`](Maintained::repair).
    fn repair_with(
        &self,
        report: &Report,
        options: MaintenanceOptions,
    ) -> impl Future<Output = Result<Repaired>> + Send {
        run::repair(self, report, options)
    }
}

/// The tables that maintenance goes over.
#[derive(Debug, Clone)]
pub struct Tables {
    /// Those whose rows say which copies there are to be: the sources of an index, and targets that name their source. A
    /// build goes over these.
    pub sources: Vec<Table>,
    /// The others, which only a check goes over.
    pub copies: Vec<Table>,
}

/// What was found out about one row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checked {
    /// Whether it is a source.
    pub is_source: bool,
    /// Whether it is a copy.
    pub is_copy: bool,
    /// Copies that were written.
    pub written: u64,
    /// Copies that do not match, since a change is on its way to them.
    pub in_flight: u64,
    /// What is wrong.
    pub findings: Vec<Finding>,
}
