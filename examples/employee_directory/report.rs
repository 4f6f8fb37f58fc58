//! A table of calls: what was called, what it found, what it cost. It fits a terminal of 100 columns.

use std::fmt::Display;
use std::time::{Duration, Instant};

use table_core::Result;

use crate::directory::Directory;

/// The width of the table.
const WIDTH: usize = 100;

/// Prints a line for each call.
pub(crate) struct Report<'d> {
    directory: &'d Directory,
}

impl<'d> Report<'d> {
    pub(crate) const fn new(directory: &'d Directory) -> Self {
        Self { directory }
    }

    pub(crate) fn header() {
        println!("{:<13}  {:<38}  {:<29}  {:>5}  {:>7}", "cost class", "call", "found", "tx", "time");
        Self::rule();
    }

    pub(crate) fn rule() {
        println!("{}", "─".repeat(WIDTH));
    }

    /// Says what the figures mean.
    pub(crate) fn footer() {
        Self::rule();
        println!("tx: storage transactions, as a service bills them, and after a plus sign calls to a queue");
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
        let (before, began) = (self.counts(), Instant::now());
        let result = work.await?;
        let (time, after) = (shown(began.elapsed()), self.counts());
        let (transactions, calls) = (after.0 - before.0, after.1 - before.1);
        let spent = if calls == 0 { transactions.to_string() } else { format!("{transactions}+{calls}") };
        line(&cost.to_string(), call, &found(&result), &spent, &time);
        Ok(result)
    }

    /// Prints what made no call.
    pub(crate) fn line(cost: &str, call: &str, found: &str) {
        line(cost, call, found, "0", "");
    }

    /// Storage transactions and calls to queues so far.
    fn counts(&self) -> (u64, u64) {
        let Directory { tables, queues, .. } = self.directory;
        (tables.report().total().transactions, queues.report().total().transactions)
    }
}

fn line(cost: &str, call: &str, found: &str, spent: &str, time: &str) {
    let printed = format!("{cost:<13}  {call:<38}  {found:<29}  {spent:>5}  {time:>7}");
    println!("{}", printed.trim_end());
}

fn shown(time: Duration) -> String {
    match time.as_micros() {
        short @ 0..1_000 => format!("{short} µs"),
        short @ 1_000..10_000 => format!("{}.{} ms", short / 1_000, short / 100 % 10),
        _ => format!("{} ms", time.as_millis()),
    }
}
