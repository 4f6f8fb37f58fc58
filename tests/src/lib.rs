//! Shared helpers of the integration tests.

pub mod azurite;
pub mod blobs;
pub mod crash;
pub mod explore;
pub mod figures;
pub mod fuzzing;
pub mod gate;
pub mod pattern;
pub mod soak;
pub mod stores;

/// The programs in the README and the docs, run as doc tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../README.md")]
    struct Readme;

    #[doc = include_str!("../../docs/going-to-azure.md")]
    struct GoingToAzure;

    #[doc = include_str!("../../docs/testing-your-application.md")]
    struct TestingYourApplication;

    #[doc = include_str!("../../docs/troubleshooting.md")]
    struct Troubleshooting;
}
