//! A table of calls: what was called, what it found, what it cost.

use std::fmt::Display;
use std::time::Instant;

use table_core::layer::Meter;
use table_embedded::EmbeddedStore;

/// Prints a line for each call.
pub(crate) struct Report<'m> {
    meter: &'m Meter<EmbeddedStore>,
}

impl<'m> Report<'m> {
    pub(crate) const fn new(meter: &'m Meter<EmbeddedStore>) -> Self {
        Self { meter }
    }

    pub(crate) fn header() {
        println!("{:<14} {:<36} {:<44} {:>5} {:>9}", "cost", "call", "found", "calls", "time");
        Self::footer();
    }

    pub(crate) fn footer() {
        println!("{}", "─".repeat(112));
    }

    /// Waits for a call and prints what came of it.
    pub(crate) async fn call<T>(
        &self,
        cost: impl Display,
        call: &str,
        work: impl Future<Output = table_core::Result<T>>,
        found: impl Fn(&T) -> String,
    ) -> table_core::Result<T> {
        let (before, began) = (self.meter.report(), Instant::now());
        let result = work.await?;
        let (time, calls) = (began.elapsed(), (self.meter.report() - before).total().transactions);
        println!("{:<14} {call:<36} {:<44} {calls:>5} {:>6} µs", cost.to_string(), found(&result), time.as_micros());
        Ok(result)
    }

    /// Prints what made no call.
    pub(crate) fn line(cost: &str, call: &str, found: &str) {
        println!("{cost:<14} {call:<36} {found:<44} {:>5}", 0);
    }
}
