//! The explorer, on the protocols as they are and on broken ones.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod engine;
mod protocols;
mod sabotage;
