//! `docs/patterns.md`: what the page says that an operation costs, held against what it costs.
//!
//! The last column of a pattern's row lists its operations: "`insert`: 1, `update`: 2", with queue calls
//! after a plus sign where there are any: "`insert`: 3 + 2", and blob calls after another: "`insert`: 2 + 2 + 1".
//! The test of a pattern counts exactly these, in this order, so that page and code cannot drift apart.

use std::fmt;

use table_core::Result;
use table_core::layer::{FaultPlan, Meter};

const PAGE: &str = include_str!("../../../docs/patterns.md");

/// What one operation takes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Cost {
    tables: u64,
    queues: u64,
    blobs: u64,
}

/// The operations of a pattern as they are counted, one after the other.
pub struct Costs<'m> {
    pattern: &'static str,
    tables: Box<dyn Fn() -> u64 + 'm>,
    queues: Box<dyn Fn() -> u64 + 'm>,
    blobs: Box<dyn Fn() -> u64 + 'm>,
    counted: Vec<(String, Cost)>,
}

impl<'m> Costs<'m> {
    /// Nothing counted yet of the pattern in this module.
    pub fn of<S>(pattern: &'static str, tables: &'m Meter<S>) -> Self {
        let none = || Box::new(|| 0);
        Self { pattern, tables: Box::new(requests(tables)), queues: none(), blobs: none(), counted: Vec::new() }
    }

    /// Counts queue calls too.
    #[must_use]
    pub fn with_queues<S>(mut self, queues: &'m Meter<S>) -> Self {
        self.queues = Box::new(requests(queues));
        self
    }

    /// Counts blob calls too, by the plan of a [`FaultyBlobs`](crate::blobs::FaultyBlobs).
    #[must_use]
    pub fn with_blobs(mut self, blobs: &'m FaultPlan) -> Self {
        self.blobs = Box::new(|| blobs.calls());
        self
    }

    /// Does one operation and counts what it takes.
    ///
    /// # Panics
    /// Where the operation fails.
    pub async fn count<T>(&mut self, operation: &str, work: impl Future<Output = Result<T>>) -> T {
        let before = self.now();
        let answer = work.await.expect("work that is counted succeeds");
        let after = self.now();
        let cost = Cost {
            tables: after.tables - before.tables,
            queues: after.queues - before.queues,
            blobs: after.blobs - before.blobs,
        };
        self.counted.push((operation.to_owned(), cost));
        answer
    }

    fn now(&self) -> Cost {
        Cost { tables: (self.tables)(), queues: (self.queues)(), blobs: (self.blobs)() }
    }

    /// Checks that the page says just this.
    ///
    /// # Panics
    /// Where it says anything else.
    pub fn are_documented(self) {
        let counted: Vec<String> = self.counted.iter().map(|(operation, cost)| printed(operation, *cost)).collect();
        assert_eq!(counted.join(", "), documented(self.pattern), "docs/patterns.md says otherwise of {}", self.pattern);
    }
}

impl fmt::Debug for Costs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Costs").field("pattern", &self.pattern).field("counted", &self.counted).finish_non_exhaustive()
    }
}

/// As the page writes it.
impl fmt::Debug for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.queues, self.blobs) {
            (0, 0) => write!(f, "{}", self.tables),
            (queues, 0) => write!(f, "{} + {queues}", self.tables),
            (queues, blobs) => write!(f, "{} + {queues} + {blobs}", self.tables),
        }
    }
}

/// The method in code, then of what, then what it takes.
fn printed(operation: &str, cost: Cost) -> String {
    match operation.split_once(' ') {
        Some((method, of)) => format!("`{method}` {of}: {cost:?}"),
        None => format!("`{operation}`: {cost:?}"),
    }
}

fn requests<S>(meter: &Meter<S>) -> impl Fn() -> u64 {
    || meter.report().total().transactions
}

/// The modules that the page has a row for, in its order.
#[must_use]
pub fn documented_patterns() -> Vec<&'static str> {
    PAGE.lines().filter_map(row).map(|(pattern, _)| pattern).collect()
}

fn documented(pattern: &str) -> &'static str {
    let mut rows = PAGE.lines().filter_map(row);
    rows.find(|(name, _)| *name == pattern).map_or("no row", |(_, costs)| costs)
}

/// The module in the first cell and the costs in the last, of a line that is a pattern's row.
fn row(line: &'static str) -> Option<(&'static str, &'static str)> {
    let cells = line.strip_prefix("| `")?.strip_suffix(" |")?;
    Some((cells.split_once('`')?.0, cells.rsplit_once(" | ")?.1))
}
