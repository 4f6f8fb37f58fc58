//! The log tail: the latest entities of a partition first.
//!
//! # Problem
//! A store gives the first rows of a partition, never the last. The ten latest expense claims of an
//! employee would take all of them.
//!
//! # Rows
//! The row key begins with inverted ticks (`{at:desc}`), so the latest comes first, and goes on with a
//! tie-breaker:
//!
//! | partition | row | what |
//! | --- | --- | --- |
//! | `000123` | `2519954711999999999_67e55044-10b1-426f-9247-bb680e5fe0c8` | the later claim |
//! | `000123` | `2519954712000000000_a3bb189e-8bf9-3888-9912-ace4e6543002` | the earlier one |
//!
//! # Guarantees
//! - [`latest`](LogTail::latest) reads the first rows and no others, however long the log is.
//! - Two events of one tick both stay: the tie-breaker tells them apart, and an event whose key is
//!   taken is refused and never overwritten.
//! - Pages lead on into the past, and events that come in meanwhile do not shift them.
//!
//! # After a crash
//! An append is one insert: it happened or it did not. A lost answer is settled by the token in the
//! row, so that a repeated append never doubles an event.
//!
//! # When not to use it
//! - For a log that everybody writes to: one partition takes all writes. Spread it, or keep it in blobs.
//! - To delete old events: rolling tables drop them in one operation.

use std::fmt;
use std::ops::{Bound, RangeBounds};

use table_core::keys::{KeyPrefix, KeyRange, KeyValue, PartFormat, Span};
use table_core::query::{Continuation, CostClass, Filter, ResultPage};
use table_core::{
    Action, ETag, Entity, Error, Operation, PartitionKey, Query, Result, Table, Timestamp, Unindexed, Versioned,
};

use crate::rows::{marked, version};

/// The events of one partition, latest first.
///
/// ```
/// use std::sync::Arc;
/// use table_core::{Entity, MemoryStore, Table, Timestamp};
/// use table_patterns::LogTail;
/// use uuid::Uuid;
///
/// #[derive(Entity)]
/// #[entity(partition = "{employee:06}", row = "{at:desc}_{id}")]
/// struct Claim {
///     employee: u32,
///     at: Timestamp,
///     id: Uuid,
///     cents: i64,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let table = Table::new(Arc::new(MemoryStore::new()), "Claims")?;
/// table.create().await?;
/// let claims = LogTail::<Claim>::new(table, Claim::range(123))?;
/// for (day, cents) in [(1, 100), (2, 200), (2, 250), (3, 300)] {
///     let at = format!("2014-08-{day:02}T00:00:00Z").parse()?;
///     claims.append(&Claim { employee: 123, at, id: Uuid::new_v4(), cents }).await?;
/// }
///
/// assert_eq!(claims.latest(1).await?[0].cents, 300);
/// assert_eq!(claims.since("2014-08-02T00:00:00Z".parse()?).await?.len(), 3);
/// # Ok(())
/// # }
/// ```
pub struct LogTail<E> {
    table: Table,
    log: Query<E>,
}

impl<E: Unindexed> LogTail<E> {
    /// The log in a partition, as the range of the entity's type names it: `Claim::range(123)`.
    ///
    /// # Errors
    /// [`InvalidKey`](table_core::ErrorKind::InvalidKey) where the type's row key does not begin with
    /// a time in the form `{at:desc}` that a tie-breaker follows;
    /// [`InvalidQuery`](table_core::ErrorKind::InvalidQuery) for more than one partition;
    /// [`Unsupported`](table_core::ErrorKind::Unsupported) on a store without order.
    pub fn new(table: Table, log: impl Into<Query<E>>) -> Result<Self> {
        table.store().capabilities().require_order("a log tail")?;
        let mut fields = E::SCHEMA.row.fields();
        let latest_first = matches!(fields.next(), Some((_, PartFormat::InvertedTicks)));
        if !latest_first || fields.next().is_none() {
            return Err(Error::invalid_key(format!(
                "the row key of {} must begin with a time in the form `{{at:desc}}`, and a field that tells two events of one tick apart must follow, as in `{{at:desc}}_{{id}}`",
                E::SCHEMA.name
            )));
        }
        let log = log.into();
        if log.explain()?.class() == CostClass::TableScan {
            return Err(Error::invalid_query("a log stands in one partition; name it, as in `Claim::range(123)`"));
        }
        // What is read is bounded by a count, a page or a span of time, and not by the partition.
        Ok(Self { table, log: log.allow_scan() })
    }

    /// Adds an event. One storage transaction.
    ///
    /// # Errors
    /// [`AlreadyExists`](table_core::ErrorKind::AlreadyExists) for the same time and tie-breaker, and
    /// the limits of the service.
    pub async fn append(&self, event: &E) -> Result<ETag> {
        let insert = Operation::new(Action::Insert(marked(event.to_row()?)))?;
        version(Some(self.table.store().write(self.table.name(), insert).await?))
    }

    /// Reads the latest events, at most so many. One storage transaction for each 1,000.
    ///
    /// # Errors
    /// Those of reading.
    pub async fn latest(&self, count: usize) -> Result<Vec<Versioned<E>>> {
        self.table.all(self.log.clone().top(count)).await
    }

    /// Reads the events from a time on, latest first. One storage transaction for each 1,000.
    ///
    /// # Errors
    /// Those of reading.
    pub async fn since(&self, at: Timestamp) -> Result<Vec<Versioned<E>>> {
        self.between(at..).await
    }

    /// Reads the events of a span of time, latest first. One storage transaction for each 1,000.
    ///
    /// # Errors
    /// Those of reading.
    pub async fn between(&self, times: impl RangeBounds<Timestamp>) -> Result<Vec<Versioned<E>>> {
        self.table.all(self.log.clone().filter_raw(rows_of::<E>(&times)?)).await
    }

    /// Reads one page, from the latest event or from where another page ended. One storage transaction.
    ///
    /// # Errors
    /// Those of reading; [`InvalidQuery`](table_core::ErrorKind::InvalidQuery) for a continuation of
    /// another log or size.
    pub async fn page(&self, size: usize, after: Option<&Continuation>) -> Result<ResultPage<E>> {
        self.table.page(self.log.clone().page_size(size), after).await
    }
}

/// The rows of a span of time, in any partition.
fn rows_of<E: Entity>(times: &impl RangeBounds<Timestamp>) -> Result<Filter> {
    let bound = |bound: Bound<&Timestamp>| bound.map(|at| Ok(KeyValue::Time(*at)));
    let rows = KeyPrefix::new(PartitionKey::new(""), &E::SCHEMA.row)
        .between(bound(times.start_bound()), bound(times.end_bound()))?
        .row;
    Ok(Filter::from(&KeyRange { partition: Span::ALL, row: rows }))
}

impl<E> Clone for LogTail<E> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), log: self.log.clone() }
    }
}

impl<E> fmt::Debug for LogTail<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogTail").field("table", &self.table).field("log", &self.log).finish()
    }
}
