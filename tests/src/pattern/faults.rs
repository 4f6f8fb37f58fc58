//! A fault at every store call of one operation.
//!
//! The operation is run once to count its store calls and to see the state before and after it.
//! Then it is run again for each call, each moment of a fault and each sort of caller: one that
//! dies, one that does not repeat, and one behind [`Retry`]. What must hold each time:
//!
//! - the state is the old one or the new one, and never a third;
//! - success means the new state, and a refusal the old one; only an error that says that its
//!   outcome is unknown leaves it open;
//! - behind `Retry` the operation succeeds, or says that its outcome is unknown.

use std::fmt::Debug;
use std::time::Duration;

use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan, Retry, RetryOptions};
use table_core::{Result, Table};

use super::{TestStore, behind, stores};

/// What to do at every call, and how the state is seen.
#[derive(Debug)]
pub struct Faults<P, A, S> {
    /// Makes the old state, on a healthy store.
    pub prepare: P,
    /// The operation, on a store that fails.
    pub act: A,
    /// The state, on a healthy store.
    pub state: S,
}

/// How many runs there were on a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FaultsReport {
    /// Runs with a fault.
    pub runs: u32,
    /// Runs behind `Retry` that ended with an unknown outcome.
    pub undecided: u32,
}

/// How a caller meets a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Caller {
    /// It dies: no later call reaches the store.
    Dies,
    /// It takes the error as it comes.
    GivesUp,
    /// It stands behind `Retry`.
    Repeats,
}

const CALLERS: [Caller; 3] = [Caller::Dies, Caller::GivesUp, Caller::Repeats];
const MOMENTS: [FaultMoment; 3] = [FaultMoment::Before, FaultMoment::RequestLost, FaultMoment::After];

impl<P, A, S, T> Faults<P, A, S>
where
    P: AsyncFn(Table),
    A: AsyncFn(Table) -> Result<()>,
    S: AsyncFn(Table) -> T,
    T: PartialEq + Debug,
{
    /// Runs the operation with every fault on every store, and says what happened on each: the same.
    ///
    /// # Panics
    /// Where one of the promises is broken, or two stores do not agree.
    pub async fn everywhere(&self) -> FaultsReport {
        self.on_each(&stores()).await
    }

    /// As [`everywhere`](Faults::everywhere), on these stores: for what one of the others does otherwise.
    ///
    /// # Panics
    /// As [`everywhere`](Faults::everywhere).
    pub async fn on_each(&self, stores: &[TestStore]) -> FaultsReport {
        let mut agreed: Option<FaultsReport> = None;
        for store in stores {
            let report = self.on(store).await;
            assert_eq!(*agreed.get_or_insert(report), report, "{} differs from the stores before it", store.name);
        }
        agreed.expect("there is a store")
    }

    async fn on(&self, store: &TestStore) -> FaultsReport {
        let mut report = FaultsReport::default();
        let plan = FaultPlan::quiet();
        let (table, old) = self.prepared(store).await;
        (self.act)(behind(&table, Fault::new(table.store().clone(), plan.clone()))).await.expect("it works");
        let new = (self.state)(table).await;
        assert_ne!(old, new, "the operation must change what is looked at");
        for call in 1..=plan.calls() {
            for moment in MOMENTS {
                for caller in CALLERS {
                    let undecided = self.once(store, call, moment, caller, (&old, &new)).await;
                    report.runs += 1;
                    report.undecided += u32::from(undecided);
                }
            }
        }
        report
    }

    async fn prepared(&self, store: &TestStore) -> (Table, T) {
        let table = store.table().await;
        (self.prepare)(table.clone()).await;
        let state = (self.state)(table.clone()).await;
        (table, state)
    }

    /// One run; says whether a caller that repeats was left in doubt.
    async fn once(
        &self,
        store: &TestStore,
        call: u64,
        moment: FaultMoment,
        caller: Caller,
        (old, new): (&T, &T),
    ) -> bool {
        let options = FaultOptions::default();
        let plan = FaultPlan::new(match caller {
            Caller::Dies => options.with_death(call, moment),
            Caller::GivesUp | Caller::Repeats => options.with_failure(call, moment),
        });
        let (table, begun) = self.prepared(store).await;
        assert_eq!(begun, *old, "the preparation must give the same state each time");
        let faulty = Fault::new(table.store().clone(), plan.clone());
        let seen = match caller {
            Caller::Repeats => behind(&table, Retry::with_options(faulty, at_once())),
            Caller::Dies | Caller::GivesUp => behind(&table, faulty),
        };
        let result = (self.act)(seen).await;
        let state = (self.state)(table).await;
        let at = format!("{} {caller:?} {moment:?} at call {call} gave {result:?}, {:?}", store.name, plan.records());
        match &result {
            Ok(()) => assert_eq!(state, *new, "success without the new state: {at}"),
            Err(error) if error.outcome_unknown() => {
                assert!(state == *old || state == *new, "neither old nor new: {at}: {state:#?}");
            }
            Err(_) => assert_eq!(state, *old, "a refusal without the old state: {at}"),
        }
        if caller == Caller::Repeats && !matches!(&result, Err(error) if error.outcome_unknown()) {
            assert!(result.is_ok(), "one fault is too much for a caller that repeats: {at}");
        }
        caller == Caller::Repeats && result.is_err()
    }
}

fn at_once() -> RetryOptions {
    RetryOptions::default().with_first_wait(Duration::ZERO)
}
