//! How maintenance goes over all rows.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use table_core::store::PageToken;
use table_core::{Clock, SystemClock, TableName};

/// Where a pass over all rows has come to. Store it, and begin from it after a restart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    pub(super) table: TableName,
    /// None before the first row of the table.
    pub(super) after: Option<PageToken>,
}

/// How far a pass over all rows has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Rows that were looked at.
    pub rows: u64,
    /// Copies that were written.
    pub written: u64,
    /// What was found wrong.
    pub findings: u64,
    /// Where to go on; none at the end.
    pub cursor: Option<Cursor>,
}

/// How a pass over all rows is made.
///
/// ```
/// use table_patterns::maintenance::MaintenanceOptions;
///
/// let gentle = MaintenanceOptions::default()
///     .with_rows_per_second(200)
///     .with_concurrency(2)
///     .with_progress(|so_far| println!("{} rows", so_far.rows));
/// # drop(gentle);
/// ```
#[derive(Clone)]
pub struct MaintenanceOptions {
    pub(super) rows_per_second: Option<u32>,
    pub(super) concurrency: usize,
    pub(super) most_findings: usize,
    pub(super) from: Option<Cursor>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) progress: Arc<dyn Fn(Progress) + Send + Sync>,
}

impl Default for MaintenanceOptions {
    /// As fast as eight rows at once go, from the beginning, with up to 10,000 findings.
    fn default() -> Self {
        Self {
            rows_per_second: None,
            concurrency: 8,
            most_findings: 10_000,
            from: None,
            clock: Arc::new(SystemClock),
            progress: Arc::new(|_| ()),
        }
    }
}

impl MaintenanceOptions {
    /// Looks at no more than so many rows in a second, at least one.
    #[must_use]
    pub fn with_rows_per_second(mut self, rows: u32) -> Self {
        self.rows_per_second = Some(rows.max(1));
        self
    }

    /// Works on so many rows at once.
    #[must_use]
    pub fn with_concurrency(mut self, rows: usize) -> Self {
        self.concurrency = rows.clamp(1, 64);
        self
    }

    /// Keeps at most so many findings in the report, and counts the rest.
    #[must_use]
    pub const fn with_most_findings(mut self, findings: usize) -> Self {
        self.most_findings = findings;
        self
    }

    /// Goes on where another pass came to.
    #[must_use]
    pub fn from(mut self, cursor: Option<Cursor>) -> Self {
        self.from = cursor;
        self
    }

    /// Tells by this clock what is long overdue; it should agree with that of the store.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Calls back after each page.
    #[must_use]
    pub fn with_progress(mut self, progress: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Arc::new(progress);
        self
    }
}

impl fmt::Debug for MaintenanceOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaintenanceOptions")
            .field("rows_per_second", &self.rows_per_second)
            .field("concurrency", &self.concurrency)
            .field("most_findings", &self.most_findings)
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}
