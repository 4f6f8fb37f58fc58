//! The embedded durable store of table-patterns: tables and queues in one file, with no server.
//!
//! [`EmbeddedStore`] is a [`TableStore`](table_core::TableStore) and a
//! [`QueueStore`](table_core::QueueStore) over one [redb] file. An acknowledged write survives
//! `kill -9`; writers share commits, so that many at once are fast; readers never wait for writers.
//!
//! One process opens a file at a time. `docs/file-format.md` specifies every byte.

mod backend;
mod engine;
mod error;
mod exclusive;
#[cfg(test)]
mod fault_tests;
mod format;
mod maintenance;
mod options;
mod read;
mod snapshot;
mod stamps;
mod store;
mod writer;

pub use maintenance::{CheckProgress, CheckReport, CompactReport};
pub use options::{Durability, EmbeddedOptions};
pub use store::EmbeddedStore;
