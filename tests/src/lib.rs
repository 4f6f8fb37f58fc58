//! Shared helpers of the integration tests.

pub mod fuzzing;
pub mod stores;
