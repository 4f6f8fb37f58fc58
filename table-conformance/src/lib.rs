//! The store contract of table-patterns as a suite that any store can run.
//!
//! `docs/store-contract.md` numbers what a store guarantees; each [`Case`] cites the guarantee
//! that it checks. A store runs them all with a few lines, as a report:
//!
//! ```
//! use std::sync::Arc;
//! use table_conformance::{Harness, Suite};
//! use table_core::{ManualClock, MemoryStore, Timestamp};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let clock = Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH));
//! let store = MemoryStore::with_clock(clock.clone());
//! let harness = Harness::new("memory").with_tables(store.clone()).with_queues(store).with_clock(clock);
//!
//! let report = Suite::all().run(harness).await;
//! assert!(report.is_success(), "{report:#}");
//! # }
//! ```
//!
//! or as one test a case, with [`conformance_tests!`]. A store without queues leaves
//! `with_queues` out and runs [`Suite::tables`]. What a store does not do is told by its
//! [`Capabilities`](table_core::store::Capabilities), and the cases that need it are counted as
//! not applicable. What it does otherwise than the contract is named as a
//! [deviation](Harness::with_deviation), with the reason; a deviation that is gone fails the run.
//!
//! The invariant: a case makes its own tables and queues under fresh names, so that all cases can
//! run side by side on one shared store, a remote one too.

mod cases;
mod context;
mod failure;
mod harness;
mod list;
mod report;
mod suite;
mod test_queue;
mod test_table;

pub use failure::Failure;
pub use harness::{Deviation, Harness};
pub use report::{Report, Verdict};
pub use suite::{Case, Needs, Suite, run_case};
