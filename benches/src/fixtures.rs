//! Files full of employees, made once and shared by the measures of a run.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use futures_util::stream;
use table_core::{LoadOptions, Table};
use table_embedded::EmbeddedStore;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use crate::Result;
use crate::peers::native::Native;
use crate::peers::redb::RawRedb;
use crate::peers::sqlite::Sqlite;
use crate::workload::{Scale, employee};

/// Requests that a load has under way at once.
const LOAD_CONCURRENCY: usize = 16;

/// The name of the table of employees.
pub(crate) const TABLE: &str = "Employees";

/// What the measures of a run share.
pub(crate) struct Fixtures {
    pub(crate) scale: Scale,
    pub(crate) runtime: Runtime,
    folder: TempDir,
    pairs: Shared<Pair>,
    sqlite: Shared<Sqlite>,
    native: Shared<Native>,
    fresh: Cell<usize>,
}

/// An embedded store, and raw redb with the same bytes.
pub(crate) struct Pair {
    pub(crate) table: Table,
    pub(crate) raw: Arc<RawRedb>,
}

impl Fixtures {
    /// An empty folder beside the program: the folder for temporary files may be in memory.
    pub(crate) fn new(scale: Scale) -> Result<Self> {
        let program = std::env::current_exe()?;
        let folder =
            tempfile::Builder::new().prefix("bench-").tempdir_in(program.parent().unwrap_or(Path::new(".")))?;
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        // Numbers that no loaded file has, for inserts.
        let fresh = Cell::new(scale.rows);
        Ok(Self {
            scale,
            runtime,
            folder,
            pairs: Shared::default(),
            sqlite: Shared::default(),
            native: Shared::default(),
            fresh,
        })
    }

    /// Where a file of this name stands.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Numbers of employees that are in no file yet.
    pub(crate) fn fresh(&self, count: usize) -> Range<usize> {
        let start = self.fresh.get();
        self.fresh.set(start + count);
        start..start + count
    }

    /// An embedded file with so many rows, and its raw twin.
    pub(crate) fn pair(&self, rows: usize) -> Result<Rc<Pair>> {
        self.pairs.get(rows, || {
            let path = self.path(&format!("embedded-{rows}.redb"));
            self.load(&path, rows)?;
            // redb opens a file once, so the bytes are copied while the store is closed.
            let raw = RawRedb::copy_of(&path, &self.path(&format!("raw-{rows}.redb")))?;
            let table = Table::new(Arc::new(EmbeddedStore::open(&path)?), TABLE)?;
            Ok(Pair { table, raw: Arc::new(raw) })
        })
    }

    /// A sqlite file with so many rows.
    pub(crate) fn sqlite(&self, rows: usize) -> Result<Rc<Sqlite>> {
        self.sqlite.get(rows, || {
            let sqlite = Sqlite::create(&self.path(&format!("sqlite-{rows}.db")))?;
            sqlite.load(0..rows)?;
            Ok(sqlite)
        })
    }

    /// A native_db file with so many rows.
    pub(crate) fn native(&self, rows: usize) -> Result<Rc<Native>> {
        self.native.get(rows, || {
            let native = Native::create(&self.path(&format!("native-{rows}.db")))?;
            native.load(0..rows)?;
            Ok(native)
        })
    }

    /// Makes an embedded file with so many rows, and closes it.
    pub(crate) fn load(&self, path: &Path, rows: usize) -> Result {
        let table = Table::new(Arc::new(EmbeddedStore::open(path)?), TABLE)?;
        self.runtime.block_on(async {
            table.create().await?;
            self.load_into(&table, 0..rows).await
        })
    }

    /// Loads employees into a table.
    pub(crate) async fn load_into(&self, table: &Table, numbers: Range<usize>) -> Result {
        let options = LoadOptions::default().with_concurrency(LOAD_CONCURRENCY);
        table.load(stream::iter(numbers.map(employee)), options).await?;
        Ok(())
    }
}

/// Things that are made once for each number of rows.
struct Shared<T>(RefCell<BTreeMap<usize, Rc<T>>>);

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<T> Shared<T> {
    fn get(&self, rows: usize, make: impl FnOnce() -> Result<T>) -> Result<Rc<T>> {
        if let Some(found) = self.0.borrow().get(&rows) {
            return Ok(Rc::clone(found));
        }
        let new = Rc::new(make()?);
        self.0.borrow_mut().insert(rows, Rc::clone(&new));
        Ok(new)
    }
}
