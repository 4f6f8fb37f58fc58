//! Ready-made patterns of the table design guide, over any store.
//!
//! Each pattern is one module, named after it. It opens with the problem, the rows that it keeps,
//! what it guarantees, what a crash at each step leaves behind, and when not to use it. A pattern
//! takes a [`Table`](table_core::Table) and never a named store, so the same code runs in memory, on
//! the embedded store and on a service, behind any layers.
//!
//! # Which pattern
//! | you want to | pattern | start with |
//! | --- | --- | --- |
//! | find an entity by another field, in its partition | [`intra_partition_secondary_index`] | [`Indexed`] |
//! | find it by a field across partitions, or keep a value unique there | [`inter_partition_secondary_index`] | [`Indexed`] |
//! | build, check and repair indexes and copies | [`maintenance`] | [`Maintained`](maintenance::Maintained) |
//! | find all entities that share a value, by a list of their keys, in a partition or across them | [`index_entities`] | [`IndexEntities`] |
//! | show fields of one entity with another, in any partition, or count entities, without a second read | [`denormalization`] | [`Denormalized`] |
//! | read an entity together with its parts, such as an employee with all reviews | [`compound_key`] | [`Compound`] |
//! | read the latest entities first | [`log_tail`] | [`LogTail`] |
//! | keep a value for each hour or day, and chart them | [`data_series`] | [`DataSeries`] |
//! | keep more than 252 properties or 1 MiB in one entity | [`wide_entities`] | [`Wide`] |
//! | keep photos and documents beside their entity, in blobs | [`large_entities`] | [`Large`] |
//! | relate types: one to many, one to one, a join, inheritance | [`relationships`] | [`Lookup`], [`Link`] |
//! | spread writes that all go to one partition | [`prepend_append`] | [`Spread`] |
//! | keep a log of many entries, and read it by time | [`log_data`] | [`LogData`] |
//! | delete very many old entities at once | [`high_volume_delete`] | [`RollingTables`] |
//! | do work that spans partitions, tables or stores | [`eventually_consistent_transactions`] | [`Mover`](eventually_consistent_transactions::Mover) |
//!
//! # What they have in common
//! - Within a partition a change is one transaction: it happened or it did not, and no reader sees half.
//! - A write is for the version that was read. Where somebody was faster the pattern reads again, at most
//!   as often as [`UpdateOptions`] says, and then gives up with
//!   [`Contention`](table_core::ErrorKind::Contention).
//! - Writes carry a token, so that behind [`Retry`](table_core::layer::Retry) a lost answer is settled by reading
//!   back. Where that cannot tell, the error says `outcome_unknown`, and no loop applies a change twice.
//! - What would exceed 100 operations or 4 MiB is refused with the count, before anything is written.
//! - A pattern that needs ordered rows refuses a store without order when it is made.
//! - What spans partitions is kept by a [`Mover`](eventually_consistent_transactions::Mover), in the times that
//!   [`IntentOptions`] says.
//!
//! What each operation takes in storage transactions stands in `docs/patterns.md`, and is counted by tests.

pub mod compound_key;
pub mod data_series;
pub mod denormalization;
pub mod eventually_consistent_transactions;
pub mod high_volume_delete;
pub mod index_entities;
pub mod inter_partition_secondary_index;
pub mod intra_partition_secondary_index;
pub mod large_entities;
pub mod log_data;
pub mod log_tail;
pub mod maintenance;
pub mod prepend_append;
pub mod relationships;
pub mod wide_entities;

mod attempts;
mod blobs;
mod intent;
mod rows;

pub use attempts::UpdateOptions;
pub use compound_key::{Compound, Family};
pub use data_series::{DataSeries, Series};
pub use denormalization::{Denormalized, KeepsCopies, Targets};
pub use high_volume_delete::{Period, RollingTables};
pub use index_entities::{IndexEntities, ListBlobs, ListPlace};
pub use intent::IntentOptions;
pub use intra_partition_secondary_index::{Indexed, IndexedTransaction};
pub use large_entities::{BlobTable, Large};
pub use log_data::{LogData, LogWriter};
pub use log_tail::LogTail;
pub use prepend_append::Spread;
pub use relationships::{Joined, Link, Lookup, LookupOptions};
pub use wide_entities::{Wide, WideRows};
