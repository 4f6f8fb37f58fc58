//! A table of calls: what was called, what it found, what it cost.

use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, Instant};

use table_core::layer::Meter;
use table_core::{Result, TableStore};

/// Prints a line for each call.
pub(crate) struct Report<'m> {
    meter: &'m Meter<Arc<dyn TableStore>>,
}

impl<'m> Report<'m> {
    pub(crate) const fn new(meter: &'m Meter<Arc<dyn TableStore>>) -> Self {
        Self { meter }
    }

    pub(crate) fn header() {
        println!("{:<13} {:<45} {:<43} {:>12} {:>9}", "cost", "call", "found", "transactions", "time");
        Self::rule();
    }

    pub(crate) fn rule() {
        println!("{}", "─".repeat(126));
    }

    /// Says what the next calls have in common.
    pub(crate) fn heading(text: &str) {
        println!("\n{text}");
    }

    /// Waits for a call and prints what came of it.
    pub(crate) async fn call<T>(
        &self,
        cost: impl Display,
        call: &str,
        work: impl Future<Output = Result<T>>,
        found: impl Fn(&T) -> String,
    ) -> Result<T> {
        let (before, began) = (self.meter.report(), Instant::now());
        let result = work.await?;
        let (time, cost) = (shown(began.elapsed()), cost.to_string());
        let transactions = (self.meter.report() - before).total().transactions;
        println!("{cost:<13} {call:<45} {:<43} {transactions:>12} {time:>9}", found(&result));
        Ok(result)
    }

    /// Prints what made no call.
    pub(crate) fn line(cost: &str, call: &str, found: &str) {
        println!("{cost:<13} {call:<45} {found:<43} {:>12}", 0);
    }
}

fn shown(time: Duration) -> String {
    match time.as_micros() {
        short @ 0..10_000 => format!("{short} µs"),
        _ => format!("{} ms", time.as_millis()),
    }
}
