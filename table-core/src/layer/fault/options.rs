//! What a fault plan shall do.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

/// When a call fails, seen from its effect on the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultMoment {
    /// Nothing happened, and the caller knows it, as when no connection can be made.
    Before,
    /// Nothing happened, and the caller cannot know it: the request was lost on its way.
    RequestLost,
    /// It happened, and the caller cannot know it: the answer was lost on its way.
    After,
}

/// What a [`FaultPlan`](super::FaultPlan) does; nothing by default. Calls count from 1.
///
/// ```
/// use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan};
/// use table_core::{MemoryStore, TableName, TableStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// // The process dies at its second call, and what that call did is done.
/// let plan = FaultPlan::new(FaultOptions::default().with_death(2, FaultMoment::After));
/// let store = Fault::new(MemoryStore::new(), plan.clone());
/// store.create_table(&TableName::new("One")?).await?;
/// assert!(store.create_table(&TableName::new("Two")?).await.is_err());
/// assert!(store.list_tables(None).await.is_err() && plan.is_dead());
/// plan.heal();
/// assert_eq!(store.list_tables(None).await?.tables.len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FaultOptions {
    pub(super) failures: BTreeMap<u64, FaultMoment>,
    pub(super) death: Option<(u64, FaultMoment)>,
    pub(super) throttle_every: Option<u64>,
    pub(super) throttle_probability: f64,
    pub(super) loss_probability: f64,
    pub(super) retry_after: Option<Duration>,
    pub(super) latency: RangeInclusive<Duration>,
    pub(super) seed: u64,
}

impl Default for FaultOptions {
    fn default() -> Self {
        Self {
            failures: BTreeMap::new(),
            death: None,
            throttle_every: None,
            throttle_probability: 0.0,
            loss_probability: 0.0,
            retry_after: None,
            latency: Duration::ZERO..=Duration::ZERO,
            seed: 0,
        }
    }
}

impl FaultOptions {
    /// Fails one call; may be said for several.
    #[must_use]
    pub fn with_failure(mut self, call: u64, moment: FaultMoment) -> Self {
        self.failures.insert(call, moment);
        self
    }

    /// Lets the process die at one call: that call fails, and so does every later one, without any effect.
    #[must_use]
    pub fn with_death(mut self, call: u64, moment: FaultMoment) -> Self {
        self.death = Some((call, moment));
        self
    }

    /// Throttles every so-manyth call; zero throttles none.
    #[must_use]
    pub fn with_throttling_every(mut self, calls: u64) -> Self {
        self.throttle_every = (calls > 0).then_some(calls);
        self
    }

    /// Throttles calls at random, with a probability from 0 to 1.
    #[must_use]
    pub fn with_throttling(mut self, probability: f64) -> Self {
        self.throttle_probability = probability;
        self
    }

    /// Loses requests and answers at random, half and half, with a probability from 0 to 1 together.
    #[must_use]
    pub fn with_losses(mut self, probability: f64) -> Self {
        self.loss_probability = probability;
        self
    }

    /// How long a throttled caller is asked to wait.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Delays each call by a random time in this range.
    #[must_use]
    pub fn with_latency(mut self, latency: RangeInclusive<Duration>) -> Self {
        self.latency = latency;
        self
    }

    /// The seed of everything random.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
}
