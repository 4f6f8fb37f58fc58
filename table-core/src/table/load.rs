//! Bulk load: a stream of entities, written in the fewest transactions.

mod missing;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use futures_util::stream::FuturesUnordered;
use futures_util::{Stream, StreamExt};

use super::Table;
use crate::dynamic::DynamicEntity;
use crate::entity::Unindexed;
use crate::error::Result;
use crate::keys::{EntityKey, PartitionKey, RowKey};
use crate::limits;
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
        let mut loader = Loader::new(self, options);
        let result = loader.run(rows).await;
        // A request that was sent is seen to its end, also after an error.
        while loader.requests.next().await.is_some() {}
        result
    }
}

/// Operations of one partition on their way into a transaction.
#[derive(Default)]
struct Chunk {
    operations: Vec<Operation>,
    rows: HashSet<RowKey>,
    bytes: usize,
}

type Request = std::pin::Pin<Box<dyn Future<Output = (Vec<EntityKey>, Result<()>)> + Send>>;

struct Loader {
    store: Arc<dyn TableStore>,
    table: TableName,
    options: LoadOptions,
    /// What the store takes in one transaction.
    transaction_bytes: usize,
    chunks: HashMap<PartitionKey, Chunk>,
    waiting: usize,
    /// Keys of requests under way: a second version of one waits for the first.
    in_flight: HashSet<EntityKey>,
    requests: FuturesUnordered<Request>,
    progress: LoadProgress,
}

impl Loader {
    fn new(table: &Table, options: LoadOptions) -> Self {
        Self {
            store: Arc::clone(&table.store),
            table: table.name.clone(),
            options,
            transaction_bytes: table.store.capabilities().transaction_bytes.min(limits::TRANSACTION_BYTES),
            chunks: HashMap::new(),
            waiting: 0,
            in_flight: HashSet::new(),
            requests: FuturesUnordered::new(),
            progress: LoadProgress::default(),
        }
    }

    async fn run(&mut self, rows: impl Stream<Item = Result<DynamicEntity>>) -> Result<LoadProgress> {
        let mut rows = std::pin::pin!(rows);
        while let Some(row) = rows.next().await {
            self.take(row?).await?;
        }
        let partitions: Vec<PartitionKey> = self.chunks.keys().cloned().collect();
        for partition in &partitions {
            self.send(partition).await?;
        }
        while !self.requests.is_empty() {
            self.settle_one().await?;
        }
        Ok(self.progress)
    }

    async fn take(&mut self, row: DynamicEntity) -> Result<()> {
        let operation = Operation::new(match self.options.mode {
            LoadMode::Insert | LoadMode::InsertMissing => Action::Insert(row),
            LoadMode::InsertOrReplace => Action::InsertOrReplace(row),
        })?;
        let partition = operation.key().partition.clone();
        let bytes = operation.counted_bytes();
        let full = self.chunks.get(&partition).is_some_and(|chunk| {
            chunk.operations.len() == limits::TRANSACTION_OPERATIONS
                || chunk.bytes + bytes > self.transaction_bytes
                || chunk.rows.contains(&operation.key().row)
        });
        if full {
            self.send(&partition).await?;
        }
        let chunk = self.chunks.entry(partition).or_default();
        chunk.rows.insert(operation.key().row.clone());
        chunk.operations.push(operation);
        chunk.bytes += bytes;
        self.waiting += 1;
        if self.waiting > self.options.buffered { self.make_room().await } else { Ok(()) }
    }

    /// Sends the fullest chunks until half of the room is free: looking for one alone each time
    /// would take longer than the load, where every entity has a partition of its own.
    async fn make_room(&mut self) -> Result<()> {
        let mut sizes: Vec<(usize, PartitionKey)> =
            self.chunks.iter().map(|(partition, chunk)| (chunk.operations.len(), partition.clone())).collect();
        sizes.sort_unstable_by(|(one, _), (other, _)| other.cmp(one));
        for (_, partition) in sizes {
            if self.waiting <= self.options.buffered / 2 {
                break;
            }
            self.send(&partition).await?;
        }
        Ok(())
    }

    /// Sends what has gathered for a partition, as soon as there is room and none of it is under way.
    async fn send(&mut self, partition: &PartitionKey) -> Result<()> {
        let Some(chunk) = self.chunks.remove(partition) else {
            return Ok(());
        };
        self.waiting -= chunk.operations.len();
        let keys: Vec<EntityKey> = chunk.operations.iter().map(|operation| operation.key().clone()).collect();
        while self.requests.len() >= self.options.concurrency || keys.iter().any(|key| self.in_flight.contains(key)) {
            self.settle_one().await?;
        }
        self.in_flight.extend(keys.iter().cloned());
        let (store, table, mode) = (Arc::clone(&self.store), self.table.clone(), self.options.mode);
        self.requests.push(Box::pin(async move {
            let written = match mode {
                LoadMode::InsertMissing => missing::insert(&*store, &table, chunk.operations).await,
                LoadMode::Insert | LoadMode::InsertOrReplace => write(&*store, &table, chunk.operations).await,
            };
            (keys, written)
        }));
        Ok(())
    }

    async fn settle_one(&mut self) -> Result<()> {
        let Some((keys, result)) = self.requests.next().await else {
            return Ok(());
        };
        result?;
        for key in &keys {
            self.in_flight.remove(key);
        }
        self.progress.entities += keys.len() as u64;
        self.progress.transactions += 1;
        (self.options.progress)(self.progress);
        Ok(())
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
