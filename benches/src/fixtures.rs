//! Files full of employees, made once and shared by the measures of a run.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use futures_util::stream;
use table_core::{Entity, LoadOptions, SortKey, Table};
use table_embedded::EmbeddedStore;
use table_patterns::Indexed;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use crate::Result;
use crate::peers::LOAD_BATCH;
use crate::peers::native::Native;
use crate::peers::redb::{RawRedb, RawRow};
use crate::peers::sqlite::Sqlite;
use crate::workload::{Listed, Order, Scale, employee, listed};

/// Requests that a load has under way at once, so that a commit holds as many rows as a peer's.
const LOAD_CONCURRENCY: usize = LOAD_BATCH / 100;
/// The same for entities with two copies each.
const INDEXED_LOAD_CONCURRENCY: usize = LOAD_BATCH / 33;
/// Employees from which new ones are taken in no order.
const RANDOM_NUMBERS: Range<usize> = 2_000_000..6_000_000;

/// The name of the table of employees.
pub(crate) const TABLE: &str = "Employees";

/// What the measures of a run share.
pub(crate) struct Fixtures {
    pub(crate) scale: Scale,
    pub(crate) runtime: Runtime,
    folder: TempDir,
    pairs: Shared<Pair>,
    postcard: Shared<RawRedb>,
    indexed: Shared<Indexed<Listed>>,
    sqlite: Shared<Sqlite>,
    native: Shared<Native>,
    fresh: Cell<usize>,
    fresh_random: Cell<usize>,
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
            postcard: Shared::default(),
            indexed: Shared::default(),
            sqlite: Shared::default(),
            native: Shared::default(),
            fresh,
            fresh_random: Cell::new(0),
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

    /// The same, in an order.
    pub(crate) fn fresh_in(&self, order: Order, count: usize) -> Vec<usize> {
        if order == Order::Sequential {
            return self.fresh(count).collect();
        }
        let start = self.fresh_random.get();
        self.fresh_random.set(start + count);
        let place = |number| RANDOM_NUMBERS.start + order.place(number, RANDOM_NUMBERS.len());
        (start..start + count).map(place).collect()
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

    /// Raw redb with so many employees in postcard.
    pub(crate) fn postcard(&self, rows: usize) -> Result<Rc<RawRedb>> {
        self.postcard.get(rows, || Self::load_postcard(&self.path(&format!("postcard-{rows}.redb")), rows))
    }

    /// An embedded file with so many employees, and their copies for two indexes.
    pub(crate) fn indexed(&self, rows: usize) -> Result<Rc<Indexed<Listed>>> {
        self.indexed
            .get(rows, || self.load_indexed(&self.path(&format!("indexed-{rows}.redb")), rows, Order::Sequential))
    }

    /// A sqlite file with so many rows, and two indexes.
    pub(crate) fn sqlite(&self, rows: usize) -> Result<Rc<Sqlite>> {
        self.sqlite.get(rows, || {
            let sqlite = Sqlite::create_indexed(&self.path(&format!("sqlite-{rows}.db")))?;
            sqlite.load(rows, Order::Sequential)?;
            Ok(sqlite)
        })
    }

    /// A native_db file with so many rows, and two secondary keys.
    pub(crate) fn native(&self, rows: usize) -> Result<Rc<Native>> {
        self.native.get(rows, || {
            let native = Native::create(&self.path(&format!("native-{rows}.db")))?;
            native.load(rows, Order::Sequential)?;
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

    /// Makes a raw redb file with so many employees in postcard.
    pub(crate) fn load_postcard(path: &Path, rows: usize) -> Result<RawRedb> {
        let raw = RawRedb::create(path)?;
        for start in (0..rows).step_by(LOAD_BATCH) {
            let row = |number| -> Result<RawRow> {
                let employee = employee(number);
                Ok((SortKey::of(&employee.entity_key()?).into_bytes(), postcard::to_stdvec(&employee)?))
            };
            let batch = start..rows.min(start + LOAD_BATCH);
            raw.transact(&batch.map(row).collect::<Result<Vec<_>>>()?)?;
        }
        Ok(raw)
    }

    /// Makes an embedded file with so many employees and their copies.
    pub(crate) fn load_indexed(&self, path: &Path, rows: usize, order: Order) -> Result<Indexed<Listed>> {
        let indexed = Indexed::new(Table::new(Arc::new(EmbeddedStore::open(path)?), TABLE)?)?;
        self.runtime.block_on(async {
            indexed.table().create().await?;
            let options = LoadOptions::default().with_concurrency(INDEXED_LOAD_CONCURRENCY);
            let employees = (0..rows).map(|number| listed(order.place(number, rows)));
            indexed.load(stream::iter(employees), options).await
        })?;
        Ok(indexed)
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
