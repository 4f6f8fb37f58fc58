//! The plan that decides on each call, and remembers it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::options::{FaultMoment, FaultOptions};
use crate::error::{Error, ErrorKind};

/// The last calls that a plan remembers.
const MOST_RECORDS: usize = 1000;

/// Which calls fail and how, shared by all stores that are wrapped with it.
///
/// A clone is the same plan: table and queue stores of one process share one count of calls, and
/// die together.
#[derive(Clone)]
pub struct FaultPlan {
    state: Arc<Mutex<State>>,
}

struct State {
    options: FaultOptions,
    random: fastrand::Rng,
    calls: u64,
    dead: bool,
    records: VecDeque<CallRecord>,
}

/// One call that a plan has decided on; prints as `3 insert: answer lost`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRecord {
    /// Which call it was, from 1.
    pub call: u64,
    /// What it was, such as `insert`.
    pub operation: &'static str,
    verdict: Verdict,
}

/// What becomes of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Pass,
    Throttle,
    Fail(FaultMoment),
    /// The process dies at this call.
    Die(FaultMoment),
    /// The process has died before.
    Dead,
}

/// A verdict, and how long the call takes.
pub(super) struct Ruling {
    pub(super) verdict: Verdict,
    pub(super) latency: Duration,
}

impl FaultPlan {
    /// A plan with these faults.
    #[must_use]
    pub fn new(options: FaultOptions) -> Self {
        let random = fastrand::Rng::with_seed(options.seed);
        let state = State { options, random, calls: 0, dead: false, records: VecDeque::new() };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// A plan without faults, which only counts.
    #[must_use]
    pub fn quiet() -> Self {
        Self::new(FaultOptions::default())
    }

    /// How many calls were made so far.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.lock().calls
    }

    /// Whether the process has died.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.lock().dead
    }

    /// The last thousand calls, for the message of a failing test.
    #[must_use]
    pub fn records(&self) -> Vec<CallRecord> {
        self.lock().records.iter().cloned().collect()
    }

    /// Ends all faults, death included; the count goes on.
    pub fn heal(&self) {
        let mut state = self.lock();
        state.options = FaultOptions::default();
        state.dead = false;
    }

    /// The state is whole between any two statements, so a panic elsewhere does not spoil it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides on the next call.
    pub(super) fn rule(&self, operation: &'static str) -> Ruling {
        let mut state = self.lock();
        state.calls += 1;
        let ruling = Ruling { verdict: state.verdict(), latency: state.latency() };
        if state.records.len() == MOST_RECORDS {
            state.records.pop_front();
        }
        let record = CallRecord { call: state.calls, operation, verdict: ruling.verdict };
        state.records.push_back(record);
        ruling
    }

    pub(super) fn throttled(&self) -> Error {
        let error = Error::new(ErrorKind::Throttled, "the store asks to slow down, as the fault plan says");
        match self.lock().options.retry_after {
            Some(wait) => error.with_retry_after(wait),
            None => error,
        }
    }
}

impl State {
    fn verdict(&mut self) -> Verdict {
        // Chance is asked at every call, so that one planned failure more does not shift all later chances.
        let throttled_by_chance = self.random.f64() < self.options.throttle_probability;
        let lost_by_chance = self.random.f64() < self.options.loss_probability;
        let lost_moment = if self.random.bool() { FaultMoment::RequestLost } else { FaultMoment::After };
        if self.dead {
            return Verdict::Dead;
        }
        if let Some((call, moment)) = self.options.death
            && call <= self.calls
        {
            self.dead = true;
            return Verdict::Die(moment);
        }
        if let Some(moment) = self.options.failures.get(&self.calls) {
            return Verdict::Fail(*moment);
        }
        let throttled_by_count = self.options.throttle_every.is_some_and(|every| self.calls.is_multiple_of(every));
        if throttled_by_count || throttled_by_chance {
            Verdict::Throttle
        } else if lost_by_chance {
            Verdict::Fail(lost_moment)
        } else {
            Verdict::Pass
        }
    }

    fn latency(&mut self) -> Duration {
        let (least, most) = (*self.options.latency.start(), *self.options.latency.end());
        least + most.saturating_sub(least).mul_f64(self.random.f64())
    }
}

impl fmt::Display for CallRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { call, operation, verdict } = self;
        let fate = match verdict {
            Verdict::Pass => "passed",
            Verdict::Throttle => "throttled",
            Verdict::Fail(FaultMoment::Before) => "could not be sent",
            Verdict::Fail(FaultMoment::RequestLost) => "request lost",
            Verdict::Fail(FaultMoment::After) => "answer lost",
            Verdict::Die(FaultMoment::After) => "died after its effect",
            Verdict::Die(FaultMoment::Before | FaultMoment::RequestLost) => "died before its effect",
            Verdict::Dead => "dead",
        };
        write!(f, "{call} {operation}: {fate}")
    }
}

impl fmt::Debug for FaultPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("FaultPlan")
            .field("options", &state.options)
            .field("calls", &state.calls)
            .field("dead", &state.dead)
            .finish_non_exhaustive()
    }
}
