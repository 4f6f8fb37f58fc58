//! The retry layer over faults on a memory store, on a clock that jumps ahead when all wait.

mod bounds;
mod lost_calls;
mod lost_transactions;
mod lost_writes;
mod random;

use std::time::Duration;

use super::*;
use crate::layer::testing::{employees, key};
use crate::layer::{Fault, FaultMoment, FaultOptions, FaultPlan};
use crate::store::{Selection, TableStore};
use crate::{Action, DynamicEntity, ETag, Error, ErrorKind, MemoryStore, Operation, Transaction, Written};

/// A store whose calls fail as planned, with a way around the faults.
struct Setup {
    /// What is stored, and how others change it.
    memory: MemoryStore,
    plan: FaultPlan,
    store: Retry<Fault<MemoryStore>>,
}

/// Waits long enough that what is joined to a call happens before its second attempt.
fn slow() -> RetryOptions {
    RetryOptions::default()
        .with_first_wait(Duration::from_secs(3600))
        .with_longest_wait(Duration::from_secs(3600))
        .with_total(Duration::from_secs(100 * 3600))
}

async fn setup(options: FaultOptions) -> Setup {
    setup_with(options, slow()).await
}

async fn setup_with(faults: FaultOptions, retries: RetryOptions) -> Setup {
    let memory = MemoryStore::new();
    memory.create_table(&employees()).await.unwrap();
    let plan = FaultPlan::new(faults);
    Setup { memory: memory.clone(), plan: plan.clone(), store: Retry::with_options(Fault::new(memory, plan), retries) }
}

/// Fails the first call at this moment.
fn first(moment: FaultMoment) -> FaultOptions {
    FaultOptions::default().with_failure(1, moment)
}

impl Setup {
    /// Writes through the retries and the faults.
    async fn write(&self, operation: Operation) -> Result<Written> {
        self.store.write(&employees(), operation).await
    }

    /// Writes through the retries and the faults.
    async fn transact(&self, operations: impl Into<Vec<Operation>>) -> Result<Vec<Written>> {
        self.store.transact(&employees(), Transaction::new(operations.into()).unwrap()).await
    }

    /// Writes as somebody else, without faults.
    async fn somebody(&self, action: Action) -> Written {
        self.memory.write(&employees(), Operation::new(action).unwrap()).await.unwrap()
    }

    /// Puts a row in place as somebody else.
    async fn put(&self, row: DynamicEntity) -> ETag {
        self.somebody(Action::InsertOrReplace(row)).await.etag.unwrap()
    }

    async fn stored(&self, name: &str) -> Option<DynamicEntity> {
        self.memory.get(&employees(), &key(name), &Selection::All).await.unwrap()
    }
}

/// The error of a write of which nobody knows whether it happened.
fn assert_undecided(error: &Error) {
    assert!(error.outcome_unknown(), "{error}");
    assert!(!error.is_retryable(), "{error}");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
}
