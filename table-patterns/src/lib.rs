//! Ready-made patterns of the table design guide, over any store.
//!
//! Each pattern is one module, named after it. It opens with the problem, the rows that it keeps,
//! what it guarantees, what a crash at each step leaves behind, and when not to use it. A pattern
//! takes a [`Table`](table_core::Table) and never a named store, so the same code runs in memory, on
//! the embedded store and on a service, behind any layers.
//!
//! | you want to | pattern |
//! | --- | --- |
//! | do work that spans partitions, tables or stores | [`eventually_consistent_transactions`] |
//! | find an entity by another field, in its partition | [`intra_partition_secondary_index`] |
//! | find it by a field across partitions, or keep a value unique there | [`inter_partition_secondary_index`] |

pub mod compound_key;
pub mod data_series;
pub mod denormalization;
pub mod eventually_consistent_transactions;
pub mod high_volume_delete;
pub mod index_entities;
pub mod inter_partition_secondary_index;
pub mod intra_partition_secondary_index;
pub mod log_tail;
pub mod prepend_append;
pub mod wide_entities;

mod attempts;
mod rows;

pub use attempts::UpdateOptions;
pub use compound_key::{Compound, Family};
pub use data_series::{DataSeries, Series};
pub use denormalization::{Denormalized, KeepsCopies};
pub use high_volume_delete::{Period, RollingTables};
pub use index_entities::IndexEntities;
pub use intra_partition_secondary_index::{Indexed, IndexedTransaction};
pub use log_tail::LogTail;
pub use prepend_append::Spread;
pub use wide_entities::{Wide, WideRows};
