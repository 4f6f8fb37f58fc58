//! Trying again: the only place in the toolkit that does.
//!
//! The invariant: a write that may have happened is never reported as refused. When an attempt's
//! answer was lost and a later attempt is refused, the refusal may be the write's own doing (an
//! insert meets the row that it inserted), so it is settled by reading back; what cannot be settled
//! is an error with [`outcome_unknown`](crate::Error::outcome_unknown).
//!
//! There must be no second layer of retries beneath this one, in a client library for example: a
//! hidden retry makes a refusal undecidable.

mod attempts;
mod options;
mod queue;
mod settle;
mod table;

pub use options::RetryOptions;

use attempts::Attempts;

use crate::error::{ErrorKind, Result};

/// A layer that repeats calls whose error says that trying again can help.
///
/// Waits grow with full jitter and respect what the service asked for; attempts and total time are
/// bounded for each call. Each attempt runs in a `tracing` span `attempt` that has its number. It needs a tokio runtime with
/// time enabled.
///
/// After a lost answer:
///
/// | the repeated call | meets | so it is |
/// | --- | --- | --- |
/// | insert, conditional write or transaction | a refusal, and a stored row has this write's token and content | success |
/// | conditional write or transaction | a refusal, and a row still has the ETag of the condition | repeated |
/// | unconditional delete | not found | success |
/// | creating a table | already exists | success: an empty table is the same, whoever made it |
/// | deleting a table or queue | not found | success |
/// | any other write, updating or deleting a message | a refusal | outcome unknown |
///
/// The token is the property [`ROW_TOKEN`](crate::reserved::ROW_TOKEN), fresh for each logical write.
/// Sending a message is simply repeated, since delivery is at least once anyway, and so are
/// unconditional writes, which the last writer wins. What others do between two attempts is not
/// seen by a repeated call that is not refused: an insert whose row somebody has deleted since
/// inserts it again, and deleting a table deletes one that somebody has created anew.
///
/// ```
/// use table_core::layer::{Fault, FaultOptions, FaultPlan, Retry};
/// use table_core::{MemoryStore, TableName, TableStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let busy = FaultPlan::new(FaultOptions::default().with_throttling_every(2));
/// let store = Retry::new(Fault::new(MemoryStore::new(), busy));
/// store.create_table(&TableName::new("Employees")?).await?;
/// assert_eq!(store.list_tables(None).await?.tables.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Retry<S> {
    inner: S,
    options: RetryOptions,
}

impl<S> Retry<S> {
    /// Repeats the calls to a store with the default options.
    #[must_use]
    pub fn new(inner: S) -> Self {
        Self::with_options(inner, RetryOptions::default())
    }

    /// Repeats the calls to a store.
    #[must_use]
    pub const fn with_options(inner: S, options: RetryOptions) -> Self {
        Self { inner, options }
    }

    /// The wrapped store.
    #[must_use]
    pub const fn inner(&self) -> &S {
        &self.inner
    }

    /// The wrapped store, to keep.
    #[must_use]
    pub fn into_inner(self) -> S {
        self.inner
    }

    fn attempts(&self) -> Attempts<'_> {
        Attempts::begin(&self.options)
    }

    /// Repeats a call that leaves something there or gone, and takes "it is" for success after a lost answer.
    async fn repeat_until_done<F>(&self, done: ErrorKind, mut call: impl FnMut() -> F + Send) -> Result<()>
    where
        F: Future<Output = Result<()>> + Send,
    {
        let mut attempts = self.attempts();
        loop {
            match attempts.make(call()).await {
                Ok(()) => return Ok(()),
                Err(error) if attempts.answer_lost && error.kind() == done => return Ok(()),
                Err(error) => attempts.wait_after(error).await?,
            }
        }
    }
}

#[cfg(test)]
mod tests;
