//! Shared helpers of the integration tests.

pub mod crash;
pub mod stores;
