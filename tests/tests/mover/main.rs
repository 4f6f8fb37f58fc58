//! The mover: every item is done once it was sent, whoever fails, hangs or dies.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, its helpers too"
)]

mod archive;
mod costs;
mod failures;
mod files;
mod rollout;
mod work;
