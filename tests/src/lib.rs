//! Shared helpers of the integration tests.

pub mod crash;
pub mod fuzzing;
pub mod gate;
pub mod pattern;
pub mod stores;
