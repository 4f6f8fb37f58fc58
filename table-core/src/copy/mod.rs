//! Every table of one store, copied to another.
//!
//! The same program runs in memory, on one machine and on a service; this takes its data along.
//!
//! ```
//! use std::sync::Arc;
//! use table_core::{Entity, MemoryStore, Table, TableStore, copy};
//!
//! # #[derive(Entity)]
//! # #[entity(partition = "{department}", row = "empid_{id:06}")]
//! # struct Employee { department: String, id: u32, name: String }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> table_core::Result<()> {
//! # let here: Arc<dyn TableStore> = Arc::new(MemoryStore::new());
//! # let there: Arc<dyn TableStore> = Arc::new(MemoryStore::new());
//! # let employees = Table::new(here.clone(), "Employees")?;
//! # employees.create().await?;
//! # employees.insert(&Employee { department: "Sales".into(), id: 223, name: "Jo".into() }).await?;
//! let done = copy::tables_from(here)
//!     .to(there)
//!     .with_progress(|so_far| println!("{} entities, now in {}", so_far.entities, so_far.table))
//!     .run()
//!     .await?;
//! assert_eq!((done.tables, done.entities), (1, 1));
//! # Ok(())
//! # }
//! ```
//!
//! **What is copied.** Tables that are there, empty ones too, with every row as it is: keys, properties and
//! their types. So what patterns keep in rows (index copies, lists, parts) comes along and fits. Versions do
//! not: the target gives every row an ETag and a Timestamp of its own. Queues do not either, since a hidden
//! message cannot be read: let the workers finish first.
//!
//! **The source must be still.** Each page is read once, so a row that is changed after it was copied stays
//! as it was in the target. Stop the writers, drain the queues, copy, and start the writers on the target.
//!
//! **Guarantees.** Nothing in the target is written over: a row that is there with the same properties is left
//! alone, and another one stops the copy with [`AlreadyExists`](crate::ErrorKind::AlreadyExists), unless the
//! caller allowed [`overwriting`](TableCopy::overwriting). Hence a copy can be repeated, whole or in part.
//!
//! **After a crash** run it again. With [a state file](TableCopy::with_state_file) or [a cursor](TableCopy::with_cursor)
//! it goes on after the last page that was stored whole; without them it starts over, and finds most rows there.

mod cursor;
mod run;

pub use cursor::CopyCursor;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::Result;
use crate::limits;
use crate::names::TableName;
use crate::store::TableStore;
use crate::table::LoadMode;

/// The store to copy from; [`to`](CopyFrom::to) says where.
#[must_use = "a copy needs a target"]
pub fn tables_from(source: Arc<dyn TableStore>) -> CopyFrom {
    CopyFrom { source }
}

/// Half a copy: what to copy from.
#[derive(Debug)]
pub struct CopyFrom {
    source: Arc<dyn TableStore>,
}

impl CopyFrom {
    /// The store to copy to.
    #[must_use = "a copy does nothing until it is run"]
    pub fn to(self, target: Arc<dyn TableStore>) -> TableCopy {
        TableCopy {
            source: self.source,
            target,
            tables: None,
            mode: LoadMode::InsertMissing,
            concurrency: 8,
            page_entities: limits::PAGE_ENTITIES,
            progress: Arc::new(|_| ()),
            cursor: None,
            state_file: None,
        }
    }
}

/// A copy that is yet to run. See the [module](self).
#[derive(Clone)]
#[must_use = "a copy does nothing until it is run"]
pub struct TableCopy {
    source: Arc<dyn TableStore>,
    target: Arc<dyn TableStore>,
    /// None for all.
    tables: Option<Vec<TableName>>,
    mode: LoadMode,
    concurrency: usize,
    page_entities: usize,
    progress: Arc<dyn Fn(&CopyProgress) + Send + Sync>,
    cursor: Option<CopyCursor>,
    state_file: Option<PathBuf>,
}

impl TableCopy {
    /// Copies these tables alone.
    pub fn with_tables(mut self, tables: impl IntoIterator<Item = TableName>) -> Self {
        self.tables = Some(tables.into_iter().collect());
        self
    }

    /// Writes over rows of the target that differ from those of the source.
    pub const fn overwriting(mut self) -> Self {
        self.mode = LoadMode::InsertOrReplace;
        self
    }

    /// Writes with at most so many requests at once; eight where nothing is said.
    pub fn with_concurrency(mut self, requests: usize) -> Self {
        self.concurrency = requests.max(1);
        self
    }

    /// Reads so many entities at a time, at most 1,000. Two pages are in memory at once.
    pub fn with_page_entities(mut self, entities: usize) -> Self {
        self.page_entities = entities.clamp(1, limits::PAGE_ENTITIES);
        self
    }

    /// Calls back after each page that is stored, and after each table.
    pub fn with_progress(mut self, progress: impl Fn(&CopyProgress) + Send + Sync + 'static) -> Self {
        self.progress = Arc::new(progress);
        self
    }

    /// Goes on where an earlier copy was, as its [progress](CopyProgress::cursor) said.
    pub fn with_cursor(mut self, cursor: CopyCursor) -> Self {
        self.cursor = Some(cursor);
        self
    }

    /// Keeps its place in a file: goes on from there where the file exists, writes it after each page,
    /// and deletes it in the end. One file is for one copy.
    pub fn with_state_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.state_file = Some(path.into());
        self
    }

    /// Copies.
    ///
    /// # Errors
    /// [`AlreadyExists`](crate::ErrorKind::AlreadyExists) for a row of the target with other properties,
    /// [`TableNotFound`](crate::ErrorKind::TableNotFound) for a chosen table that the source has not,
    /// [`InvalidQuery`](crate::ErrorKind::InvalidQuery) for a cursor of another copy,
    /// [`Corrupted`](crate::ErrorKind::Corrupted) for a damaged state file, and those of both stores. What was
    /// stored stays, and another run goes on from there.
    pub async fn run(self) -> Result<CopyReport> {
        run::run(self).await
    }
}

impl fmt::Debug for TableCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableCopy")
            .field("source", &self.source)
            .field("target", &self.target)
            .field("tables", &self.tables)
            .field("mode", &self.mode)
            .field("concurrency", &self.concurrency)
            .field("page_entities", &self.page_entities)
            .field("cursor", &self.cursor)
            .field("state_file", &self.state_file)
            .finish_non_exhaustive()
    }
}

/// How far a copy has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyProgress {
    /// The table that is being copied, or was copied last.
    pub table: TableName,
    /// Tables that are copied whole.
    pub tables: usize,
    /// Tables that there are to copy.
    pub tables_in_all: usize,
    /// Entities that the target has, also from before this copy went on.
    pub entities: u64,
    /// Where another run would go on; it serialises.
    pub cursor: CopyCursor,
}

/// What a copy did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyReport {
    /// Tables that are copied.
    pub tables: usize,
    /// Their entities, also from before this copy went on.
    pub entities: u64,
}
