//! Failing on demand, so that what must survive failures can be tested.
//!
//! The invariant: for one [`FaultPlan`], one seed and one order of calls, the same calls fail in the
//! same way. A call fails either before its effect (it never reaches the store) or after it (the
//! store did it, and the answer is lost), never halfway.

mod options;
mod plan;

pub use options::{FaultMoment, FaultOptions};
pub use plan::{CallRecord, FaultPlan};

use super::around::around_every_call;
use super::call::{Answer, Call};
use crate::error::{Error, ErrorKind, Result};
use plan::Verdict;

/// A layer that fails calls as a shared [`FaultPlan`] says.
///
/// ```
/// use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan};
/// use table_core::{MemoryStore, TableName, TableStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let plan = FaultPlan::new(FaultOptions::default().with_failure(1, FaultMoment::After));
/// let memory = MemoryStore::new();
/// let store = Fault::new(memory.clone(), plan.clone());
///
/// let employees = TableName::new("Employees")?;
/// let error = store.create_table(&employees).await.unwrap_err();
/// assert!(error.outcome_unknown());
/// assert_eq!(memory.list_tables(None).await?.tables, [employees]);
/// assert_eq!(plan.calls(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Fault<S> {
    inner: S,
    plan: FaultPlan,
}

impl<S> Fault<S> {
    /// Fails the calls to a store as the plan says; stores that share a plan share its count.
    #[must_use]
    pub const fn new(inner: S, plan: FaultPlan) -> Self {
        Self { inner, plan }
    }

    /// The plan.
    #[must_use]
    pub const fn plan(&self) -> &FaultPlan {
        &self.plan
    }

    async fn around<T: Answer>(&self, call: Call, work: impl Future<Output = Result<T>> + Send) -> Result<T> {
        self.plan.around(call.operation, call.has_effect, work).await
    }
}

impl FaultPlan {
    /// Does the work of one call, or fails it as the plan says: for a store that is no table or queue store,
    /// such as one of blobs, and shall fail and die with them.
    ///
    /// # Errors
    /// Those of the plan and of the work.
    pub async fn around<T>(
        &self,
        operation: &'static str,
        has_effect: bool,
        work: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        let ruling = self.rule(operation);
        if !ruling.latency.is_zero() {
            tokio::time::sleep(ruling.latency).await;
        }
        let lost = |error: Error| error.with_outcome_unknown(has_effect);
        match ruling.verdict {
            Verdict::Pass => work.await,
            Verdict::Throttle => Err(self.throttled().with_operation(operation)),
            Verdict::Fail(moment) => {
                happens_at(moment, work).await;
                match moment {
                    FaultMoment::Before => Err(unavailable(operation, "the call could not be sent")),
                    FaultMoment::RequestLost | FaultMoment::After => {
                        Err(lost(unavailable(operation, "no answer came")))
                    }
                }
            }
            Verdict::Die(moment) => {
                happens_at(moment, work).await;
                Err(lost(dead(operation)))
            }
            Verdict::Dead => Err(dead(operation)),
        }
    }
}

/// Does the work where the fault comes after its effect. What the store answers gets lost, a refusal too.
async fn happens_at<T>(moment: FaultMoment, work: impl Future<Output = Result<T>> + Send) {
    if moment == FaultMoment::After {
        drop(work.await);
    }
}

fn unavailable(operation: &'static str, message: &str) -> Error {
    Error::new(ErrorKind::Unavailable, message).with_operation(operation)
}

/// A dead process does not try again.
fn dead(operation: &'static str) -> Error {
    unavailable(operation, "the process is dead, as the fault plan says").with_retryable(false)
}

around_every_call!(Fault);

#[cfg(test)]
mod tests;
