//! Read, change, write if unchanged, and begin again if not: the bounded loop of every pattern.
//!
//! The invariant: a change is applied once. A refusal means that somebody else was faster, and the
//! loop reads again; an answer that was lost ends the loop, since the change may have happened.

use std::time::Duration;

use table_core::{Error, ErrorKind, Result};

/// How often a change is tried again when somebody else was faster.
///
/// The wait before each repetition is random between zero and a ceiling that doubles each time, so
/// that writers who met once do not meet again.
///
/// ```
/// use table_patterns::UpdateOptions;
///
/// let impatient = UpdateOptions::default().with_attempts(3);
/// assert_eq!(impatient.attempts, 3);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateOptions {
    /// At most so many attempts, the first included.
    pub attempts: u32,
    /// The ceiling of the first wait.
    pub first_wait: Duration,
    /// The ceiling of any wait.
    pub longest_wait: Duration,
}

impl Default for UpdateOptions {
    /// Fifty attempts, the waits below 2 ms at first and 100 ms at last.
    fn default() -> Self {
        Self { attempts: 50, first_wait: Duration::from_millis(2), longest_wait: Duration::from_millis(100) }
    }
}

impl UpdateOptions {
    /// Sets the most attempts, the first included.
    #[must_use]
    pub const fn with_attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets the ceiling of the first wait.
    #[must_use]
    pub const fn with_first_wait(mut self, wait: Duration) -> Self {
        self.first_wait = wait;
        self
    }

    /// Sets the ceiling of any wait.
    #[must_use]
    pub const fn with_longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = wait;
        self
    }

    /// The first attempt of a change begins.
    pub(crate) const fn begin(&self) -> Attempts<'_> {
        Attempts { options: self, made: 1 }
    }
}

/// The attempts of one change so far.
#[derive(Debug)]
pub(crate) struct Attempts<'a> {
    options: &'a UpdateOptions,
    made: u32,
}

impl Attempts<'_> {
    /// Waits before the next attempt where the failure was a conflict, else gives the failure back.
    ///
    /// # Errors
    /// The failure itself where it was no conflict or its outcome is unknown;
    /// [`Contention`](ErrorKind::Contention) where the bound is reached.
    pub(crate) async fn after(&mut self, error: Error, conflict: bool) -> Result<()> {
        if !conflict || error.outcome_unknown() {
            return Err(error);
        }
        if self.made >= self.options.attempts {
            return Err(self.given_up(error));
        }
        let doublings = self.made.saturating_sub(1);
        let factor = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
        let ceiling = self.options.first_wait.saturating_mul(factor).min(self.options.longest_wait);
        let wait = ceiling.mul_f64(fastrand::f64());
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        self.made += 1;
        Ok(())
    }

    fn given_up(&self, error: Error) -> Error {
        let message = format!(
            "others changed the same rows before each of {} attempts; spread the writers over more rows, or allow more attempts",
            self.made
        );
        let mut given_up = Error::new(ErrorKind::Contention, message);
        if let Some(table) = error.table() {
            given_up = given_up.with_table(table);
        }
        if let Some(key) = error.key() {
            given_up = given_up.with_key(key.clone());
        }
        given_up.with_source(error)
    }
}

/// Whether a row has changed or gone since it was read, so that reading again helps.
pub(crate) fn is_outpaced(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::PreconditionFailed | ErrorKind::NotFound) && !error.outcome_unknown()
}

/// Whether somebody else was faster, so that reading again helps: as [`is_outpaced`], or a row has come since it was
/// found absent.
pub(crate) fn is_conflict(error: &Error) -> bool {
    is_outpaced(error) || (error.kind() == ErrorKind::AlreadyExists && !error.outcome_unknown())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_certainly_refused_is_a_conflict() {
        let both = |error: Error| (is_outpaced(&error), is_conflict(&error));
        for kind in [ErrorKind::PreconditionFailed, ErrorKind::NotFound] {
            assert_eq!(both(Error::new(kind, "x")), (true, true));
            assert_eq!(both(Error::new(kind, "x").with_outcome_unknown(true)), (false, false));
        }
        assert_eq!(both(Error::already_exists("x")), (false, true));
        assert_eq!(both(Error::already_exists("x").with_outcome_unknown(true)), (false, false));
        assert_eq!(both(Error::new(ErrorKind::TableNotFound, "x")), (false, false));
    }

    fn conflict() -> Error {
        Error::precondition_failed("somebody was faster")
    }

    #[tokio::test(start_paused = true)]
    async fn conflicts_are_repeated_up_to_the_bound() {
        let options = UpdateOptions::default().with_attempts(3);
        let mut attempts = options.begin();
        attempts.after(conflict(), true).await.unwrap();
        attempts.after(conflict(), true).await.unwrap();
        let error = attempts.after(conflict(), true).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Contention);
        assert!(error.message().contains("each of 3 attempts"));
    }

    #[tokio::test(start_paused = true)]
    async fn other_failures_and_lost_answers_end_the_loop_at_once() {
        let options = UpdateOptions::default();
        let error = options.begin().after(conflict(), false).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
        let lost = conflict().with_outcome_unknown(true);
        assert!(options.begin().after(lost, true).await.unwrap_err().outcome_unknown());
    }
}
