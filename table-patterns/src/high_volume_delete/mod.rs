//! High-volume deletion: a table for each hour, day or month, dropped as a whole.
//!
//! # Problem
//! Yesterday's login attempts are of no use, and there are millions. To delete them row by row takes a
//! scan to find them and a transaction for each hundred.
//!
//! # Rows
//! Each period has a table of its own, and the rows in it any keys that suit their reads:
//!
//! | table | what |
//! | --- | --- |
//! | `Logins20140730` | the attempts of 30 July |
//! | `Logins20140731` | the attempts of 31 July |
//!
//! # Guarantees
//! - A write goes to the table of its time, which is created by the first write that misses it.
//! - Dropping a period is one operation, however many rows it has.
//! - A name is never used again: a time whose table may have been dropped is refused, and a table is
//!   dropped a whole period after that. So clocks may differ by up to one period.
//! - A read over a span of time gives the tables in the order of their periods, and each in the order
//!   of its keys.
//!
//! # After a crash
//! Creating and dropping a table are single operations that can be repeated. A clean-up that was cut
//! off has dropped some tables, oldest first; the next one drops the rest.
//!
//! # When not to use it
//! - When rows of one age live for different times.
//! - When rows are looked up without knowing their time: each table would have to be asked.

mod period;

use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};
use table_core::{
    Action, Clock, ETag, Error, ErrorKind, FromRow, Operation, Query, Result, SystemClock, Table, TableName,
    TableStore, Timestamp, Unindexed, Versioned,
};

pub use period::Period;

use crate::rows::{marked, version};

/// How many pages of table names a clean-up reads at most; a page has up to 1,000.
const MOST_PAGES: usize = 1000;

/// Tables that follow each other in time.
///
/// ```
/// use std::sync::Arc;
/// use table_core::{Clock, Entity, ManualClock, MemoryStore, Timestamp};
/// use table_patterns::{Period, RollingTables};
///
/// #[derive(Entity)]
/// #[entity(partition = "{user}", row = "{at}")]
/// struct Login {
///     user: String,
///     at: Timestamp,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let clock = Arc::new(ManualClock::new("2014-07-31T12:00:00Z".parse()?));
/// let logins = RollingTables::new(Arc::new(MemoryStore::new()), "Logins", Period::Day, 7)?.with_clock(clock.clone());
/// for at in ["2014-07-30T23:00:00Z", "2014-07-31T01:00:00Z"] {
///     let at = at.parse()?;
///     logins.insert(at, &Login { user: "jo".into(), at }).await?;
/// }
/// let jo = Login::range("jo").query().allow_scan();
/// let since: Timestamp = "2014-07-30T00:00:00Z".parse()?;
/// assert_eq!(logins.all(since.., jo).await?.len(), 2);
///
/// clock.set("2014-08-08T00:00:00Z".parse()?);
/// assert_eq!(logins.drop_expired().await?[0].as_str(), "Logins20140730");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RollingTables {
    store: Arc<dyn TableStore>,
    prefix: String,
    period: Period,
    kept: u32,
    clock: Arc<dyn Clock>,
}

impl RollingTables {
    /// Tables whose names are a prefix and the digits of their period. So many periods are kept beside
    /// the current one.
    ///
    /// # Errors
    /// [`InvalidName`](ErrorKind::InvalidName) for a prefix that makes no table name, or that ends with
    /// a digit, so that its names could be those of another prefix.
    pub fn new(store: Arc<dyn TableStore>, prefix: &str, period: Period, kept: u32) -> Result<Self> {
        TableName::new(format!("{prefix}{}", period.digits(Timestamp::UNIX_EPOCH)))?;
        if prefix.ends_with(|last: char| last.is_ascii_digit()) {
            return Err(Error::invalid_name("the prefix of rolling tables must not end with a digit"));
        }
        Ok(Self { store, prefix: prefix.to_owned(), period, kept, clock: Arc::new(SystemClock) })
    }

    /// Takes the time from another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// The table of a time, which need not exist yet.
    ///
    /// # Errors
    /// [`InvalidValue`](ErrorKind::InvalidValue) for a time that is no longer kept, whose table may have
    /// been dropped and must not come back.
    pub fn table(&self, at: Timestamp) -> Result<Table> {
        let oldest = self.oldest(0)?;
        if at < oldest {
            return Err(Error::invalid_value(format!(
                "the time {at} is no longer kept, since its table goes back beyond {oldest}; keep more periods, or leave the row out"
            )));
        }
        self.named(at)
    }

    /// Creates the table of the next period, so that its first writers need not. One storage
    /// transaction.
    ///
    /// # Errors
    /// Those of reaching the store.
    pub async fn prepare_next(&self) -> Result<bool> {
        self.named(self.period.shift(self.clock.now(), 1)?)?.create_if_missing().await
    }

    /// Adds an entity to the table of a time. One storage transaction, and two more where the table is
    /// yet to be created.
    ///
    /// # Errors
    /// [`AlreadyExists`](ErrorKind::AlreadyExists), and as [`RollingTables::table`].
    pub async fn insert<E: Unindexed>(&self, at: Timestamp, entity: &E) -> Result<ETag> {
        let insert = Operation::new(Action::Insert(marked(entity.to_row()?)))?;
        let write = |table: Table| {
            let insert = insert.clone();
            async move { table.store().write(table.name(), insert).await }
        };
        version(Some(self.write(at, write).await?))
    }

    /// Does any work on the table of a time, and again once the table is created where it was missing.
    ///
    /// # Errors
    /// Those of the work, and as [`RollingTables::table`].
    pub async fn write<T, F>(&self, at: Timestamp, work: impl Fn(Table) -> F + Send) -> Result<T>
    where
        F: Future<Output = Result<T>> + Send,
    {
        let table = self.table(at)?;
        match work(table.clone()).await {
            // Also after a lost answer: a table that takes writes is never dropped, so one that is
            // missing now has taken none.
            Err(error) if error.kind() == ErrorKind::TableNotFound => {
                table.create_if_missing().await?;
                work(table).await
            }
            result => result,
        }
    }

    /// Reads what a query finds in the tables of a span of time, table after table. One storage
    /// transaction for each period of the span, and for each further page.
    ///
    /// An open end is the oldest period that can still be there, or the period after the current one.
    /// The span chooses tables; to choose rows by their time is up to the query.
    ///
    /// # Errors
    /// Those of the span; those of reading come in the stream.
    pub fn stream<E: FromRow, R: Send + 'static>(
        &self,
        times: impl RangeBounds<Timestamp>,
        query: impl Into<Query<E, R>>,
    ) -> Result<BoxStream<'static, Result<Versioned<R>>>> {
        let query = query.into();
        let tables = self.tables_of(&times)?;
        let rows = stream::iter(tables).flat_map(move |table| table.stream(query.clone()));
        // A period without any write has no table.
        let found = rows.filter_map(|row| async {
            match row {
                Err(error) if error.kind() == ErrorKind::TableNotFound => None,
                row => Some(row),
            }
        });
        Ok(found.boxed())
    }

    /// Reads everything that a query finds in the tables of a span of time, as
    /// [`stream`](RollingTables::stream) does.
    ///
    /// # Errors
    /// Those of the span and of reading.
    pub async fn all<E: FromRow, R: Send + 'static>(
        &self,
        times: impl RangeBounds<Timestamp>,
        query: impl Into<Query<E, R>>,
    ) -> Result<Vec<Versioned<R>>> {
        self.stream(times, query)?.try_collect().await
    }

    /// The tables that there are, oldest first. One storage transaction for each 1,000 tables of the
    /// store.
    ///
    /// # Errors
    /// Those of reading.
    pub async fn existing(&self) -> Result<Vec<Table>> {
        let mut found: Vec<(Timestamp, TableName)> = Vec::new();
        let mut after = None;
        for _ in 0..MOST_PAGES {
            let page = self.store.list_tables(after.as_ref()).await?;
            found.extend(page.tables.into_iter().filter_map(|name| Some((self.start_of(&name)?, name))));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        found.sort();
        found.into_iter().map(|(_, name)| Table::new(Arc::clone(&self.store), name.as_str())).collect()
    }

    /// Drops every table that is no longer kept, oldest first, and returns their names. One storage
    /// transaction for each, and those of [`existing`](RollingTables::existing).
    ///
    /// # Errors
    /// Those of reaching the store; what was dropped before stays so, and the next clean-up goes on.
    pub async fn drop_expired(&self) -> Result<Vec<TableName>> {
        // One period later than writes are refused, for writers whose clocks are behind.
        let oldest = self.oldest(1)?;
        let mut dropped = Vec::new();
        for table in self.existing().await? {
            if self.start_of(table.name()).is_none_or(|start| start >= oldest) {
                continue;
            }
            match self.store.delete_table(table.name()).await {
                Ok(()) => dropped.push(table.name().clone()),
                // Somebody else cleans up too.
                Err(error) if error.kind() == ErrorKind::TableNotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(dropped)
    }

    /// When the oldest period begins that is kept for so many periods more.
    fn oldest(&self, more: i64) -> Result<Timestamp> {
        self.period.shift(self.clock.now(), -(i64::from(self.kept) + more))
    }

    fn named(&self, at: Timestamp) -> Result<Table> {
        Table::new(Arc::clone(&self.store), &format!("{}{}", self.prefix, self.period.digits(at)))
    }

    /// When the period of a table begins; `None` for a table that is none of these.
    fn start_of(&self, name: &TableName) -> Option<Timestamp> {
        let (prefix, digits) = name.as_str().split_at_checked(self.prefix.len())?;
        prefix.eq_ignore_ascii_case(&self.prefix).then(|| self.period.parse(digits)).flatten()
    }

    /// The tables that a span of time can have rows in, oldest first.
    fn tables_of(&self, times: &impl RangeBounds<Timestamp>) -> Result<Vec<Table>> {
        let oldest = self.oldest(1)?;
        let first = match times.start_bound() {
            Bound::Included(at) | Bound::Excluded(at) => self.period.start(*at)?.max(oldest),
            Bound::Unbounded => oldest,
        };
        let next = self.period.shift(self.clock.now(), 1)?;
        let last = match times.end_bound() {
            Bound::Included(at) => (*at).min(next),
            Bound::Excluded(at) if *at <= next => Timestamp::from_ticks((at.ticks() - 1).max(Timestamp::MIN.ticks()))?,
            Bound::Excluded(_) | Bound::Unbounded => next,
        };
        let mut tables = Vec::new();
        let mut start = first;
        while start <= last {
            tables.push(self.named(start)?);
            let following = self.period.shift(start, 1)?;
            if following == start {
                break;
            }
            start = following;
        }
        Ok(tables)
    }
}

impl fmt::Debug for RollingTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RollingTables")
            .field("store", &self.store)
            .field("prefix", &self.prefix)
            .field("period", &self.period)
            .field("kept", &self.kept)
            .finish_non_exhaustive()
    }
}
