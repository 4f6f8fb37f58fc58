//! How long things take and stay.

use std::time::Duration;

use table_core::{Error, Result, Timestamp, limits};
use tokio::time::Instant;

/// In which times what stands in other partitions, tables and blobs follows its entities: indexes, lists, copies and
/// large fields, each with its `with_intents`.
///
/// ```
/// use std::time::Duration;
/// use table_patterns::IntentOptions;
///
/// let patient = IntentOptions::default().with_hidden(Duration::from_secs(120));
/// assert_eq!(patient.grace, Duration::from_secs(24 * 60 * 60));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntentOptions {
    /// How long a writer has to itself before a worker looks after its intent. A writer that takes longer
    /// begins again.
    pub hidden: Duration,
    /// How long tombstones and fences stay: much longer than any process can be late. A writer that has not
    /// written its entity within a quarter of it gives up. All writers of a type use the same.
    pub grace: Duration,
}

impl Default for IntentOptions {
    /// Half a minute, and a day.
    fn default() -> Self {
        Self { hidden: Duration::from_secs(30), grace: Duration::from_secs(24 * 60 * 60) }
    }
}

impl IntentOptions {
    /// Leaves an intent to its writer for another time.
    #[must_use]
    pub const fn with_hidden(mut self, hidden: Duration) -> Self {
        self.hidden = hidden;
        self
    }

    /// Keeps tombstones and fences for another time.
    #[must_use]
    pub const fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Refuses times that do not fit each other or the service.
    pub(crate) fn check(&self) -> Result<()> {
        if self.grace > Duration::from_secs(limits::VISIBILITY_SECONDS) {
            return Err(Error::limit_exceeded("a grace period is at most seven days, as long as a message can wait"));
        }
        if self.hidden.saturating_mul(4) > self.grace {
            return Err(Error::limit_exceeded(
                "an intent is hidden for at most a quarter of the grace period; use a longer grace period",
            ));
        }
        Ok(())
    }
}

/// How old what was read is, by two clocks: one that nobody turns back, and one that goes on while the
/// machine sleeps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Age {
    began: Instant,
    at: Timestamp,
}

impl Age {
    pub(crate) fn begin() -> Self {
        Self { began: Instant::now(), at: Timestamp::now() }
    }

    /// Whether it is so old that a tombstone may have been collected since, which nobody could tell.
    pub(crate) fn is_too_old(&self, grace: Duration) -> bool {
        self.began.elapsed().max(Timestamp::now().saturating_since(self.at)) > grace / 4
    }
}
