//! Layers that wrap any store: retry, meter, trace and fault.
//!
//! A layer around a [`TableStore`](crate::TableStore) is a `TableStore`, and one around a
//! [`QueueStore`](crate::QueueStore) a `QueueStore`, so layers stack in any order. Each keeps the
//! store contract: what passes on a store passes behind its layers.
//!
//! # Stacking
//!
//! ```
//! use table_core::MemoryStore;
//! use table_core::layer::{Meter, Retry, Trace};
//!
//! // Outermost first: repeat, trace each attempt, count each attempt, then reach the store.
//! let store = Retry::new(Trace::new(Meter::new(MemoryStore::new())));
//! # let _ = store;
//! ```
//!
//! What stands outside sees calls, what stands inside sees attempts:
//!
//! | order | what it means |
//! | --- | --- |
//! | `Retry<Meter<S>>` | the meter counts attempts, which is what a service bills |
//! | `Meter<Retry<S>>` | the meter counts calls, however often they were repeated; a bill is higher |
//! | `Retry<Trace<S>>` | a span for each attempt, throttled ones included |
//! | `Trace<Retry<S>>` | a span for each call, its waits included; wrap twice to have both |
//! | `Retry<Fault<S>>` | faults are met by retries, as those of a real service are |
//!
//! Wrong orders compile too, so know them:
//!
//! - `Fault<Retry<S>>` fails calls that no retry sees: fine to test a caller that does its own
//!   recovery, wrong to test the retries.
//! - `Retry<Retry<S>>` multiplies attempts, and hides lost answers from the outer layer; the same
//!   holds for a client library that repeats by itself beneath a `Retry`.
//! - A `Meter` or `Trace` around one clone of a store does not see what other clones do.

mod around;
mod call;
mod fault;
mod meter;
mod retry;
#[cfg(test)]
mod testing;
mod trace;

pub use fault::{CallRecord, Fault, FaultMoment, FaultOptions, FaultPlan};
pub use meter::{Meter, MeterReport, MeteredPartition, Tally};
pub use retry::{Retry, RetryOptions};
pub use trace::Trace;
