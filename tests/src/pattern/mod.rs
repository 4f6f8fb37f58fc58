//! What every pattern is held to: the same behaviour on all stores, old or new state after a fault
//! at any store call, no lost update under contention, and a known number of storage transactions.
//!
//! A helper panics where a promise is broken, since it serves tests alone.
#![expect(clippy::panic, clippy::expect_used, reason = "helpers of tests")]

mod altered;
mod contention;
mod faults;
mod store;

pub use altered::Altered;
pub use contention::{TASKS, contend};
pub use faults::{Faults, FaultsReport};
pub use store::{TestStore, cost, memory, rows, stores};
