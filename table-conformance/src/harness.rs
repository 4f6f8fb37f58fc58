//! What the suite runs on: a store, its clock, and what is known to deviate.

use std::sync::Arc;
use std::time::Duration;

use table_core::{ManualClock, QueueStore, TableStore};

/// Waited beyond what a case asks for, where time really passes: two clocks never quite agree.
const REAL_TIME_MARGIN: Duration = Duration::from_millis(300);

/// A store under test, with a name for reports and a way to let time pass.
///
/// ```
/// use std::sync::Arc;
/// use table_conformance::Harness;
/// use table_core::{ManualClock, MemoryStore, Timestamp};
///
/// let clock = Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH));
/// let store = MemoryStore::with_clock(clock.clone());
/// let harness = Harness::new("memory").with_tables(store.clone()).with_queues(store).with_clock(clock);
/// assert_eq!(harness.name(), "memory");
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Harness {
    name: String,
    tables: Option<Arc<dyn TableStore>>,
    queues: Option<Arc<dyn QueueStore>>,
    clock: Option<Arc<ManualClock>>,
    deviations: Vec<Deviation>,
}

/// A case that a store is known to fail, and why that is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deviation {
    /// The case's full name, such as `values::a_guid_comes_back`.
    pub case: String,
    /// Why it fails and why that is accepted.
    pub reason: String,
}

impl Harness {
    /// A harness without a store yet.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), tables: None, queues: None, clock: None, deviations: Vec::new() }
    }

    /// Tests this table store.
    pub fn with_tables(mut self, store: impl TableStore) -> Self {
        self.tables = Some(Arc::new(store));
        self
    }

    /// Tests this queue store.
    pub fn with_queues(mut self, store: impl QueueStore) -> Self {
        self.queues = Some(Arc::new(store));
        self
    }

    /// Turns this clock, which the stores read, instead of waiting. Cases then run one by one,
    /// since they would turn each other's clock.
    pub fn with_clock(mut self, clock: Arc<ManualClock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Names a case that the store is known to fail. Once it passes, the run fails until the
    /// deviation is taken out.
    pub fn with_deviation(mut self, case: impl Into<String>, reason: impl Into<String>) -> Self {
        self.deviations.push(Deviation { case: case.into(), reason: reason.into() });
        self
    }

    /// The store's name in reports.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The cases that the store is known to fail.
    #[must_use]
    pub fn deviations(&self) -> &[Deviation] {
        &self.deviations
    }

    pub(crate) const fn tables(&self) -> Option<&Arc<dyn TableStore>> {
        self.tables.as_ref()
    }

    pub(crate) const fn queues(&self) -> Option<&Arc<dyn QueueStore>> {
        self.queues.as_ref()
    }

    pub(crate) const fn has_manual_clock(&self) -> bool {
        self.clock.is_some()
    }

    /// Lets time pass: by turning the clock, or by waiting.
    pub(crate) async fn advance(&self, by: Duration) {
        match &self.clock {
            Some(clock) => clock.advance(by),
            None => tokio::time::sleep(by + REAL_TIME_MARGIN).await,
        }
    }
}
