//! Bulk load: a stream of entities, written in the fewest transactions.

mod missing;
mod units;

use std::fmt;
use std::sync::Arc;

use futures_util::{Stream, StreamExt};

pub use units::LoadUnit;

use super::Table;
use crate::dynamic::DynamicEntity;
use crate::entity::Unindexed;
use crate::error::Result;
use crate::names::TableName;
use crate::operation::{Action, Operation, Transaction};
use crate::store::TableStore;

/// What a load does with an entity that exists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LoadMode {
    /// Writes over it, so that a load can be repeated; of two entities with one key the later wins.
    #[default]
    InsertOrReplace,
    /// Stops with [`AlreadyExists`](crate::ErrorKind::AlreadyExists).
    Insert,
    /// Leaves it alone where it has the same properties, so that a load can be repeated and never
    /// writes over anything; otherwise stops with [`AlreadyExists`](crate::ErrorKind::AlreadyExists).
    InsertMissing,
}

/// How far a load has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LoadProgress {
    /// Entities that are stored.
    pub entities: u64,
    /// Transactions that stored them.
    pub transactions: u64,
}

/// How a load runs.
///
/// ```
/// use table_core::{LoadMode, LoadOptions};
///
/// let options = LoadOptions::default()
///     .with_mode(LoadMode::Insert)
///     .with_concurrency(4)
///     .with_progress(|so_far| assert!(so_far.transactions <= so_far.entities));
/// # drop(options);
/// ```
#[derive(Clone)]
pub struct LoadOptions {
    mode: LoadMode,
    concurrency: usize,
    buffered: usize,
    progress: Arc<dyn Fn(LoadProgress) + Send + Sync>,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self { mode: LoadMode::default(), concurrency: 8, buffered: 10_000, progress: Arc::new(|_| ()) }
    }
}

impl LoadOptions {
    /// What happens to entities that exist.
    #[must_use]
    pub const fn mode(&self) -> LoadMode {
        self.mode
    }

    /// At most so many requests run at once.
    #[must_use]
    pub const fn concurrency(&self) -> usize {
        self.concurrency
    }

    /// Says what happens to entities that exist.
    #[must_use]
    pub const fn with_mode(mut self, mode: LoadMode) -> Self {
        self.mode = mode;
        self
    }

    /// Runs at most so many requests at once.
    #[must_use]
    pub fn with_concurrency(mut self, requests: usize) -> Self {
        self.concurrency = requests.max(1);
        self
    }

    /// Holds at most so many entities back while it gathers full transactions.
    #[must_use]
    pub fn with_buffered(mut self, entities: usize) -> Self {
        self.buffered = entities.max(1);
        self
    }

    /// Calls back after each request.
    #[must_use]
    pub fn with_progress(mut self, progress: impl Fn(LoadProgress) + Send + Sync + 'static) -> Self {
        self.progress = Arc::new(progress);
        self
    }
}

impl fmt::Debug for LoadOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadOptions")
            .field("mode", &self.mode)
            .field("concurrency", &self.concurrency)
            .field("buffered", &self.buffered)
            .finish_non_exhaustive()
    }
}

impl Table {
    /// Writes a stream of entities, in transactions of up to 100 entities and 4 MiB a partition.
    ///
    /// Entities of one partition need not stand together in the stream, but a load is fastest when
    /// they do. A load that stopped half-way can be repeated in the default mode.
    ///
    /// # Errors
    /// The first error of an entity or a request; what was stored before stays.
    pub async fn load<E: Unindexed>(
        &self,
        entities: impl Stream<Item = E> + Send,
        options: LoadOptions,
    ) -> Result<LoadProgress> {
        self.load_rows(entities.map(|entity| entity.to_row()), options).await
    }

    /// Writes a stream of rows, as [`Table::load`] does.
    ///
    /// # Errors
    /// The first error of the stream or of a request; what was stored before stays.
    pub async fn load_rows(
        &self,
        rows: impl Stream<Item = Result<DynamicEntity>> + Send,
        options: LoadOptions,
    ) -> Result<LoadProgress> {
        let mode = options.mode;
        let operations = rows.map(|row| {
            Operation::new(match mode {
                LoadMode::Insert | LoadMode::InsertMissing => Action::Insert(row?),
                LoadMode::InsertOrReplace => Action::InsertOrReplace(row?),
            })
        });
        let (store, table) = (&*self.store, &self.name);
        self.load_units(operations, options, async |operations| match mode {
            LoadMode::InsertMissing => missing::insert(store, table, operations).await,
            LoadMode::Insert | LoadMode::InsertOrReplace => write(store, table, operations).await,
        })
        .await
    }
}

async fn write(store: &dyn TableStore, table: &TableName, mut operations: Vec<Operation>) -> Result<()> {
    if operations.len() == 1
        && let Some(operation) = operations.pop()
    {
        return store.write(table, operation).await.map(|_| ());
    }
    store.transact(table, Transaction::new(operations)?).await.map(|_| ())
}
