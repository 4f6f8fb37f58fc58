//! Exploring what can happen to code on stores: every order of its store calls, and every crash.
//!
//! A [`Scenario`] puts *actors* on a [`Stage`]: ordinary async code, each with a store of its own that
//! waits before every call. The explorer polls them by hand on one thread, and decides at every call
//!
//! - who goes on: the one who was at work, or another (a *preemption*, if the first could have gone on);
//! - what becomes of the call: it is made, its request or its answer is lost, or its actor dies there;
//! - before a receive, whether all leases have run out: then two workers hold one message, and the first
//!   goes on late.
//!
//! When all actors have ended or died, a judge lets the queues run empty and counts what is lost, stale, orphaned or
//! doubled. An execution is nothing but its choices, so each can be [replayed](Explorer::replay) by its [name](ExecutionName);
//! one that fails is made as simple as it gets before it is reported.
//!
//! [`Search::Exhaustive`] goes through all executions with a number of preemptions and one fault;
//! [`Search::Random`] through many with more of both. [`Sabotage`] breaks the protocol on purpose, to see that it is noticed.

mod choices;
mod execution;
mod judgement;
mod sabotage;
pub mod scenarios;
mod search;
mod stage;
mod turns;

pub use choices::Schedule;
pub use judgement::{Counts, Judgement, Wrong};
pub use sabotage::{SABOTAGES, Sabotage};
pub use search::{ExecutionName, Explorer, Failure, Report, Search, run_all};
pub use stage::{Answer, AnyStore, Scenario, Stage, StoreHandle, Stores, Told};
