//! How often and how long a call is repeated.

use std::time::Duration;

use super::attempts::Attempts;
use crate::error::Result;

/// How a [`Retry`](super::Retry) layer repeats a call.
///
/// The wait before each repetition is random between zero and a ceiling that doubles each time
/// (full jitter), so that callers who failed together do not come back together.
///
/// ```
/// use std::time::Duration;
/// use table_core::layer::RetryOptions;
///
/// let patient = RetryOptions::default().with_attempts(10).with_total(Duration::from_secs(120));
/// assert_eq!(patient.attempts, 10);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryOptions {
    /// At most so many attempts, the first included.
    pub attempts: u32,
    /// The ceiling of the first wait.
    pub first_wait: Duration,
    /// The ceiling of any wait; a service that asks for a longer one gets it.
    pub longest_wait: Duration,
    /// No attempt begins later than this after the first one.
    pub total: Duration,
}

impl Default for RetryOptions {
    /// Six attempts within a minute, the waits below 200 ms at first and 10 s at last.
    fn default() -> Self {
        Self {
            attempts: 6,
            first_wait: Duration::from_millis(200),
            longest_wait: Duration::from_secs(10),
            total: Duration::from_secs(60),
        }
    }
}

impl RetryOptions {
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

    /// Sets how long after the first attempt the last may begin.
    #[must_use]
    pub const fn with_total(mut self, total: Duration) -> Self {
        self.total = total;
        self
    }

    /// Repeats a call of any kind that may happen twice without harm, such as creating what may be there.
    ///
    /// ```
    /// use table_core::layer::RetryOptions;
    /// use table_core::{Error, ErrorKind};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> table_core::Result<()> {
    /// let mut attempts = 0;
    /// let retries = RetryOptions::default();
    /// let number = retries.repeat(|| {
    ///     attempts += 1;
    ///     let number = attempts;
    ///     async move { if number < 2 { Err(Error::new(ErrorKind::Throttled, "not yet")) } else { Ok(number) } }
    /// });
    /// assert_eq!(number.await?, 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The last one of the call, once it is not worth repeating or the bounds are reached.
    pub async fn repeat<T, F>(&self, call: impl FnMut() -> F + Send) -> Result<T>
    where
        F: Future<Output = Result<T>> + Send,
    {
        Attempts::begin(self).repeat(call).await
    }

    /// The ceiling of the wait after so many attempts.
    pub(super) fn ceiling(&self, attempts: u32) -> Duration {
        let doublings = attempts.saturating_sub(1);
        let factor = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
        self.first_wait.saturating_mul(factor).min(self.longest_wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ceiling_doubles_up_to_its_bound_and_never_overflows() {
        let options = RetryOptions::default();
        let ceilings: Vec<u128> = (1..=8).map(|attempts| options.ceiling(attempts).as_millis()).collect();
        assert_eq!(ceilings, [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
        assert_eq!(options.ceiling(u32::MAX), options.longest_wait);
    }
}
