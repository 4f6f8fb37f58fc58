//! The patterns, each on every store: what they do, what they cost, what faults and contention leave.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, its helpers too"
)]

mod compound_key;
mod copies;
mod data_series;
mod denormalization;
mod high_volume_delete;
mod index_entities;
mod indexed;
mod lists;
mod log_tail;
mod nap;
mod page;
mod prepend_append;
mod relationships;
mod remote_index;
mod wide_entities;
