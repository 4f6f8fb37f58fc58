//! Patterns that keep data in blobs: what they do, and what faults and contention leave.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, its helpers too"
)]

mod costs;
mod large;
mod log_data;
