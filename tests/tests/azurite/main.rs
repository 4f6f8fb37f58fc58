//! An account on Azurite, as an application meets it. Without Azurite these tests say that they did not run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, its helpers too"
)]

mod blobs;
mod credentials;
mod typed;

use uuid::Uuid;

/// A name that no other test uses, which tables, queues and containers all take.
fn fresh_name() -> String {
    format!("t{}", Uuid::new_v4().simple())
}
