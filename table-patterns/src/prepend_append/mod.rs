//! The prepend/append anti-pattern, and the way out: rows spread over buckets, read back in order.
//!
//! # Problem
//! Keys that rise with time, such as a partition for the current hour, send all writes of a moment to
//! one partition, and one partition takes only so many.
//!
//! # Rows
//! A bucket of another field in the partition key spreads the writes; the row key keeps their order:
//!
//! | partition | row | what |
//! | --- | --- | --- |
//! | `2014073118_03` | `0635424264000000000_000223` | an event of employee 223, in bucket 3 |
//! | `2014073118_11` | `0635424264000000001_000007` | an event of employee 7, in bucket 11 |
//!
//! The template is `{at:%Y%m%d%H}_{bucket(employee, 16):02}`.
//!
//! # Guarantees
//! - The bucket follows from the field, so a row is found by its fields as ever: one read.
//! - [`Spread`] reads all buckets and merges them, so that rows come in the order of their row keys,
//!   each once, with a bound on the requests at once.
//! - [`hot_partitions`] finds in what a [`Meter`](table_core::layer::Meter) counted the partitions
//!   that take more than their share of the writes, and warns.
//!
//! # After a crash
//! Reading leaves nothing behind, and writes are those of the table.
//!
//! # When not to use it
//! - When writes are few: a merged read costs a request for each bucket.
//! - When the number of buckets is to change: it is part of the keys.

mod hot;
mod merge;

use std::fmt;
use std::marker::PhantomData;

use futures_util::stream::{BoxStream, StreamExt, TryStreamExt};
use table_core::keys::{Buckets, KeyValue, PartFormat};
use table_core::{Entity, Error, PartitionKey, Query, Result, Table, Versioned};

pub use hot::{HotPartition, HotPartitionOptions, hot_partitions};
use merge::merge;

/// How many buckets are asked for at once unless said otherwise.
const DEFAULT_CONCURRENCY: usize = 8;
/// How many buckets are asked for at once at most.
const MAX_CONCURRENCY: usize = 64;

/// Entities of a type whose partition key has a bucket, read across all buckets.
///
/// ```
/// use std::sync::Arc;
/// use table_core::keys::KeyPart;
/// use table_core::{Entity, MemoryStore, Table, Timestamp};
/// use table_patterns::Spread;
///
/// #[derive(Entity)]
/// #[entity(partition = "{at:%Y%m%d%H}_{bucket(employee, 16):02}", row = "{at}_{employee:06}")]
/// struct Event {
///     at: Timestamp,
///     employee: u32,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let table = Table::new(Arc::new(MemoryStore::new()), "Events")?;
/// table.create().await?;
/// let hour: Timestamp = "2014-07-31T18:00:00Z".parse()?;
/// let mut at = hour;
/// for employee in 0..100 {
///     at = at.next_tick();
///     table.insert(&Event { at, employee }).await?;
/// }
///
/// let events = Spread::<Event>::new(table)?;
/// let of_the_hour = events.all(&[hour.to_key()?], |bucket| bucket.allow_scan()).await?;
/// assert_eq!(of_the_hour.iter().map(|event| event.employee).collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
/// # Ok(())
/// # }
/// ```
pub struct Spread<E> {
    table: Table,
    buckets: Buckets,
    concurrency: usize,
    entity: PhantomData<fn() -> E>,
}

impl<E: Entity> Spread<E> {
    /// The entities of a table.
    ///
    /// # Errors
    /// [`InvalidKey`](table_core::ErrorKind::InvalidKey) where the type's partition key does not have
    /// one bucket; [`Unsupported`](table_core::ErrorKind::Unsupported) on a store without order.
    pub fn new(table: Table) -> Result<Self> {
        table.store().capabilities().require_order("a merge of buckets")?;
        let mut found = E::SCHEMA.partition.fields().filter_map(|(_, format)| bucket(format));
        match (found.next(), found.next()) {
            (Some(buckets), None) => Ok(Self { table, buckets, concurrency: DEFAULT_CONCURRENCY, entity: PhantomData }),
            _ => Err(Error::invalid_key(format!(
                "the partition key of {} needs one bucket, as in `{{bucket(id, 16):02}}`",
                E::SCHEMA.name
            ))),
        }
    }

    /// Asks for at most so many buckets at once, from 1 to 64. The default is 8.
    #[must_use]
    pub fn with_concurrency(mut self, requests: usize) -> Self {
        self.concurrency = requests.clamp(1, MAX_CONCURRENCY);
        self
    }

    /// The partitions of all buckets. The values are those of the other fields of the partition key, in
    /// its order.
    ///
    /// # Errors
    /// [`InvalidKey`](table_core::ErrorKind::InvalidKey) for values that do not fit.
    pub fn partitions(&self, others: &[KeyValue<'_>]) -> Result<Vec<PartitionKey>> {
        (0..self.buckets.count()).map(|bucket| partition::<E>(bucket, others)).collect()
    }

    /// Reads all buckets as they are wanted, in the order of the row keys. Each bucket is read by the
    /// query that `rows` makes of its partition. At least one storage transaction for each bucket.
    ///
    /// # Errors
    /// As [`Spread::partitions`]; those of reading come in the stream.
    pub fn stream(
        &self,
        others: &[KeyValue<'_>],
        rows: impl Fn(Query<E>) -> Query<E>,
    ) -> Result<BoxStream<'static, Result<Versioned<E>>>> {
        let queries = self.partitions(others)?.iter().map(|partition| rows(Query::partition(partition))).collect();
        Ok(merge(self.table.clone(), queries, self.concurrency))
    }

    /// Reads everything that [`stream`](Spread::stream) gives.
    ///
    /// # Errors
    /// As [`Spread::partitions`], and those of reading.
    pub async fn all(&self, others: &[KeyValue<'_>], rows: impl Fn(Query<E>) -> Query<E>) -> Result<Vec<Versioned<E>>> {
        self.stream(others, rows)?.try_collect().await
    }

    /// Reads the first entities of all buckets together, and no more than so many of each.
    ///
    /// # Errors
    /// As [`Spread::all`].
    pub async fn first(
        &self,
        count: usize,
        others: &[KeyValue<'_>],
        rows: impl Fn(Query<E>) -> Query<E>,
    ) -> Result<Vec<Versioned<E>>> {
        self.stream(others, |bucket| rows(bucket).top(count))?.take(count).try_collect().await
    }
}

const fn bucket(format: PartFormat) -> Option<Buckets> {
    match format {
        PartFormat::Bucket(buckets) => Some(buckets),
        _ => None,
    }
}

/// The partition of one bucket.
fn partition<E: Entity>(number: u16, others: &[KeyValue<'_>]) -> Result<PartitionKey> {
    let template = E::SCHEMA.partition;
    let mut others = others.iter();
    let values = template.fields().map(|(name, format)| match bucket(format) {
        Some(_) => Ok(KeyValue::Bucket(number)),
        None => others.next().cloned().ok_or_else(|| {
            Error::invalid_key(format!("the partition key {template} needs a value for {name}")).with_property(name)
        }),
    });
    let values = values.collect::<Result<Vec<_>>>()?;
    if others.next().is_some() {
        return Err(Error::invalid_key(format!("there are more values than the partition key {template} has fields")));
    }
    template.partition_key(&values)
}

impl<E> Clone for Spread<E> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), buckets: self.buckets, concurrency: self.concurrency, entity: PhantomData }
    }
}

impl<E> fmt::Debug for Spread<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spread").field("table", &self.table).field("buckets", &self.buckets).finish_non_exhaustive()
    }
}
