//! How a mover works.

use std::time::Duration;

/// How a [`Mover`](super::Mover) works. Everything has a bound.
///
/// ```
/// use std::time::Duration;
/// use table_patterns::eventually_consistent_transactions::MoverOptions;
///
/// let options = MoverOptions::default().with_concurrency(16).with_lease(Duration::from_secs(60));
/// assert_eq!(options.concurrency, 16);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoverOptions {
    /// Items that one process runs at once.
    pub concurrency: usize,
    /// How long an item is hidden from other workers; it is renewed while the handler runs.
    pub lease: Duration,
    /// How long a handler may run before its lease is no longer renewed.
    pub longest_run: Duration,
    /// Failures of the item's own, which trying again cannot mend, after which it goes to the poison queue.
    pub most_failures: u32,
    /// Deliveries after which an item whose workers died each time goes to the poison queue.
    pub most_deliveries: u32,
    /// The wait after a failure; it doubles with each further one in a row.
    pub first_wait: Duration,
    /// The longest wait after failures, and the wait of an item that this process has no handler for.
    pub longest_wait: Duration,
    /// The longest time between two looks at an empty queue.
    pub idle_wait: Duration,
    /// How long a shutdown waits for running handlers before it releases their items.
    pub shutdown_wait: Duration,
}

impl Default for MoverOptions {
    fn default() -> Self {
        Self {
            concurrency: 4,
            lease: Duration::from_secs(30),
            longest_run: Duration::from_secs(3600),
            most_failures: 5,
            most_deliveries: 1000,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(300),
            idle_wait: Duration::from_secs(1),
            shutdown_wait: Duration::from_secs(30),
        }
    }
}

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $field:ident: $type:ty;)*) => {
        impl MoverOptions {
            $($(#[$doc])* #[must_use] pub const fn $name(mut self, $field: $type) -> Self {
                self.$field = $field;
                self
            })*

            /// The wait before the next delivery of an item that has failed so often in a row.
            pub(super) fn wait_after(&self, failures: u32) -> Duration {
                let doublings = failures.saturating_sub(1).min(31);
                self.first_wait.saturating_mul(1 << doublings).min(self.longest_wait)
            }
        }
    };
}

setters! {
    /// Runs so many items at once.
    with_concurrency: concurrency: usize;
    /// Hides an item from other workers for this long at a time.
    with_lease: lease: Duration;
    /// Lets a handler run at most this long.
    with_longest_run: longest_run: Duration;
    /// Poisons an item after so many failures.
    with_most_failures: most_failures: u32;
    /// Poisons an item after so many deliveries whose workers died.
    with_most_deliveries: most_deliveries: u32;
    /// Waits this long before the first repetition.
    with_first_wait: first_wait: Duration;
    /// Waits at most this long before a repetition.
    with_longest_wait: longest_wait: Duration;
    /// Looks at an empty queue at least this often.
    with_idle_wait: idle_wait: Duration;
    /// Waits this long for running handlers at shutdown.
    with_shutdown_wait: shutdown_wait: Duration;
}
