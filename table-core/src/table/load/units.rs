//! The engine of every load: units on their way into full transactions.
//!
//! A unit is an entity with everything that is stored with it, such as the copies of its indexes.
//! The invariants: a unit is never torn apart, and two units that write one row go one after the
//! other, in the order of the stream.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;

use futures_util::stream::FuturesUnordered;
use futures_util::{Stream, StreamExt};

use super::{LoadOptions, LoadProgress, Table};
use crate::error::Result;
use crate::keys::{PartitionKey, RowKey};
use crate::limits;
use crate::operation::Operation;

/// What a load stores as a whole, in one transaction of one partition.
pub trait LoadUnit: Send {
    /// Its partition.
    fn partition(&self) -> &PartitionKey;

    /// The rows that it writes, each once.
    fn rows(&self) -> impl Iterator<Item = &RowKey>;

    /// The bytes that the service counts for it.
    fn counted_bytes(&self) -> usize;
}

impl LoadUnit for Operation {
    fn partition(&self) -> &PartitionKey {
        &self.key().partition
    }

    fn rows(&self) -> impl Iterator<Item = &RowKey> {
        std::iter::once(&self.key().row)
    }

    fn counted_bytes(&self) -> usize {
        self.counted_bytes()
    }
}

impl Table {
    /// Gathers units into chunks that fit one transaction each, and writes them, several at once.
    ///
    /// [`Table::load`] is made of it, and so is the load of any pattern.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use futures_util::stream;
    /// use table_core::{Action, DynamicEntity, EntityKey, LoadOptions, MemoryStore, Operation, Table};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> table_core::Result<()> {
    /// let table = Table::new(Arc::new(MemoryStore::new()), "Employees")?;
    /// let row = |row: &str| Operation::new(Action::Insert(DynamicEntity::new(EntityKey::parse("Sales", row)?)));
    /// // The same row again waits for the first, so it comes in a chunk of its own.
    /// let units = stream::iter([row("1"), row("2"), row("2")]);
    /// let done = table.load_units(units, LoadOptions::default(), async |chunk| {
    ///     assert!(chunk.len() <= 2);
    ///     Ok(())
    /// });
    /// assert_eq!(done.await?.transactions, 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The first error of the stream or of `write`; what was stored before stays.
    pub async fn load_units<U, F>(
        &self,
        units: impl Stream<Item = Result<U>> + Send,
        options: LoadOptions,
        write: impl Fn(Vec<U>) -> F + Send,
    ) -> Result<LoadProgress>
    where
        U: LoadUnit,
        F: Future<Output = Result<()>> + Send,
    {
        let most_bytes = self.store.capabilities().transaction_bytes.min(limits::TRANSACTION_BYTES);
        let mut loader = Loader::new(options, most_bytes, write);
        let result = loader.run(units).await;
        // A request that was sent is seen to its end, also after an error.
        while loader.requests.next().await.is_some() {}
        result
    }
}

/// Rows of a partition by the hash of their keys. Two rows that share one are taken for the same row, and then go one
/// after the other.
type Rows = HashSet<u64>;

/// Units of one partition on their way into a transaction.
struct Chunk<U> {
    units: Vec<U>,
    rows: Rows,
    bytes: usize,
}

impl<U: LoadUnit> Chunk<U> {
    fn new() -> Self {
        Self { units: Vec::new(), rows: Rows::new(), bytes: 0 }
    }

    fn has_room_for(&self, rows: &[u64], bytes: usize, most_bytes: usize) -> bool {
        self.rows.len() + rows.len() <= limits::TRANSACTION_OPERATIONS
            && self.bytes + bytes <= most_bytes
            && !rows.iter().any(|row| self.rows.contains(row))
    }

    fn add(&mut self, unit: U, rows: &[u64], bytes: usize) {
        self.rows.extend(rows);
        self.bytes += bytes;
        self.units.push(unit);
    }
}

/// How a request ended.
struct Answer {
    partition: PartitionKey,
    rows: Rows,
    units: usize,
    result: Result<()>,
}

type Request<'w> = Pin<Box<dyn Future<Output = Answer> + Send + 'w>>;

struct Loader<'w, U, W> {
    options: LoadOptions,
    /// What the store takes in one transaction.
    most_bytes: usize,
    write: W,
    chunks: HashMap<PartitionKey, Chunk<U>>,
    /// Units in the chunks.
    waiting: usize,
    /// The rows of requests under way: a second version of one waits for the first, so no two have one in common.
    sent: HashMap<PartitionKey, Rows>,
    hasher: RandomState,
    requests: FuturesUnordered<Request<'w>>,
    progress: LoadProgress,
}

impl<'w, U, W, F> Loader<'w, U, W>
where
    U: LoadUnit,
    W: Fn(Vec<U>) -> F,
    F: Future<Output = Result<()>> + Send + 'w,
{
    fn new(options: LoadOptions, most_bytes: usize, write: W) -> Self {
        Self {
            options,
            most_bytes,
            write,
            chunks: HashMap::new(),
            waiting: 0,
            sent: HashMap::new(),
            hasher: RandomState::new(),
            requests: FuturesUnordered::new(),
            progress: LoadProgress::default(),
        }
    }

    async fn run(&mut self, units: impl Stream<Item = Result<U>>) -> Result<LoadProgress> {
        let mut units = std::pin::pin!(units);
        while let Some(unit) = units.next().await {
            self.take(unit?).await?;
        }
        let mut partitions: Vec<PartitionKey> = self.chunks.keys().cloned().collect();
        // In order, so that two loads of the same units make the same requests.
        partitions.sort_unstable();
        for partition in &partitions {
            self.send(partition).await?;
        }
        while !self.requests.is_empty() {
            self.settle_one().await?;
        }
        Ok(self.progress)
    }

    async fn take(&mut self, unit: U) -> Result<()> {
        let partition = unit.partition().clone();
        let rows: Vec<u64> = unit.rows().map(|row| self.hasher.hash_one(row)).collect();
        let bytes = unit.counted_bytes();
        if self.chunks.get(&partition).is_some_and(|chunk| !chunk.has_room_for(&rows, bytes, self.most_bytes)) {
            self.send(&partition).await?;
        }
        self.chunks.entry(partition).or_insert_with(Chunk::new).add(unit, &rows, bytes);
        self.waiting += 1;
        if self.waiting > self.options.buffered { self.make_room().await } else { Ok(()) }
    }

    /// Sends the fullest chunks until half of the room is free: looking for one alone each time
    /// would take longer than the load, where every entity has a partition of its own.
    async fn make_room(&mut self) -> Result<()> {
        let mut sizes: Vec<(usize, PartitionKey)> =
            self.chunks.iter().map(|(partition, chunk)| (chunk.units.len(), partition.clone())).collect();
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
        let Some(Chunk { units, rows, .. }) = self.chunks.remove(partition) else {
            return Ok(());
        };
        self.waiting -= units.len();
        while self.requests.len() >= self.options.concurrency || self.is_under_way(partition, &rows) {
            self.settle_one().await?;
        }
        let (count, partition) = (units.len(), partition.clone());
        self.sent.entry(partition.clone()).or_default().extend(&rows);
        let written = (self.write)(units);
        let answered = async move { Answer { partition, rows, units: count, result: written.await } };
        self.requests.push(Box::pin(answered));
        Ok(())
    }

    fn is_under_way(&self, partition: &PartitionKey, rows: &Rows) -> bool {
        self.sent.get(partition).is_some_and(|sent| !sent.is_disjoint(rows))
    }

    async fn settle_one(&mut self) -> Result<()> {
        let Some(Answer { partition, rows, units, result }) = self.requests.next().await else {
            return Ok(());
        };
        result?;
        if let Some(sent) = self.sent.get_mut(&partition) {
            for row in &rows {
                sent.remove(row);
            }
            if sent.is_empty() {
                self.sent.remove(&partition);
            }
        }
        self.progress.entities += units as u64;
        self.progress.transactions += 1;
        (self.options.progress)(self.progress);
        Ok(())
    }
}
