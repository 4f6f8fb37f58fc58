//! The attempts of one call: how many are left, and whether an answer was lost.

use std::time::Duration;

use tokio::time::Instant;
use tracing::{Instrument, debug_span};

use super::options::RetryOptions;
use crate::error::{Error, ErrorKind, Result};

/// The attempts of one call so far.
#[derive(Debug)]
pub(super) struct Attempts<'a> {
    options: &'a RetryOptions,
    made: u32,
    deadline: Instant,
    /// Whether an attempt may have happened without our knowing.
    pub(super) answer_lost: bool,
}

impl<'a> Attempts<'a> {
    /// The first attempt of a call begins.
    pub(super) fn begin(options: &'a RetryOptions) -> Self {
        // A total that no clock can hold is no bound: the attempts still are one.
        let now = Instant::now();
        let deadline = now.checked_add(options.total).unwrap_or_else(|| now + Duration::from_secs(u32::MAX.into()));
        Self { options, made: 1, deadline, answer_lost: false }
    }

    /// The attempts of a read that helps to settle this call: as many again, and no later.
    pub(super) const fn of_reading_back(&self) -> Self {
        Self { options: self.options, made: 1, deadline: self.deadline, answer_lost: false }
    }

    /// Makes an attempt, in a span that says which of the call it is.
    pub(super) async fn make<T>(&self, attempt: impl Future<Output = Result<T>> + Send) -> Result<T> {
        attempt.instrument(debug_span!("attempt", attempt = self.made)).await
    }

    /// Repeats a call for which no refusal needs settling.
    pub(super) async fn repeat<T, F>(mut self, mut call: impl FnMut() -> F + Send) -> Result<T>
    where
        F: Future<Output = Result<T>> + Send,
    {
        loop {
            match self.make(call()).await {
                Ok(answer) => return Ok(answer),
                Err(error) => self.wait_after(error).await?,
            }
        }
    }

    /// Waits before the next attempt after a failure, or gives the failure back as final.
    pub(super) async fn wait_after(&mut self, error: Error) -> Result<()> {
        self.answer_lost |= error.outcome_unknown();
        if !error.is_retryable() {
            return Err(self.last(error));
        }
        self.wait(error).await
    }

    /// Waits before the next attempt whatever the failure was, or gives it back as final.
    pub(super) async fn wait(&mut self, error: Error) -> Result<()> {
        let ceiling = self.options.ceiling(self.made);
        let asked = error.retry_after().unwrap_or_default();
        let wait = asked.saturating_add(ceiling.mul_f64(fastrand::f64()));
        let left = self.deadline.saturating_duration_since(Instant::now());
        if self.made >= self.options.attempts || wait > left {
            return Err(self.last(error));
        }
        // Even a sleep of no time takes a millisecond.
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        self.made += 1;
        Ok(())
    }

    /// Whoever sees the final failure of a write must know that an earlier attempt may have happened.
    fn last(&self, error: Error) -> Error {
        if self.answer_lost { error.with_outcome_unknown(true) } else { error }
    }
}

/// The failure of a write after a lost answer, when nothing tells whether the write happened.
///
/// Its kind is that of the lost answer, not of the refusal that followed: the refusal may be the
/// write's own doing.
pub(super) fn undecided(refusal: Error) -> Error {
    let mut error = Error::new(
        ErrorKind::Unavailable,
        "an answer was lost, and what is stored now does not tell whether the write happened; read again before deciding",
    )
    .with_retryable(false)
    .with_outcome_unknown(true);
    if let Some(table) = refusal.table() {
        error = error.with_table(table);
    }
    if let Some(key) = refusal.key() {
        error = error.with_key(key.clone());
    }
    if let Some(index) = refusal.operation_index() {
        error = error.with_operation_index(index);
    }
    error.with_source(refusal)
}
