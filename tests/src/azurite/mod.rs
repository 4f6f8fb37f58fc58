//! Azurite, the emulator of Azure Storage, as the tests meet it.
//!
//! `cargo xtask test` starts it and says where it is in [`VARIABLE`]. Without that, what needs it does not run and
//! says so; that is no failure, since a plain `cargo test` must pass without Node.

mod deviations;

use std::time::Duration;

use table_azure::{AzureAccount, AzureOptions};
use table_conformance::Harness;
use table_core::Result;
use table_core::layer::RetryOptions;

use crate::soak::{Times, World};

/// The environment variable that holds Azurite's connection string.
pub const VARIABLE: &str = "TABLE_PATTERNS_AZURITE";

/// The account in Azurite; none, with a word to whoever watches, where it does not run.
///
/// # Panics
/// Where the variable holds no connection string.
#[must_use]
#[expect(clippy::print_stderr, clippy::expect_used, reason = "a test that did not run must say so, and to people")]
pub fn account() -> Option<AzureAccount> {
    let Ok(text) = std::env::var(VARIABLE) else {
        eprintln!("azurite did not run: {VARIABLE} is not set; `cargo xtask test` starts it and sets it");
        return None;
    };
    // Azurite answers some questions with 500 for ever, so that waiting between attempts is lost time.
    let quick = RetryOptions::default().with_attempts(3).with_first_wait(Duration::from_millis(5));
    Some(AzureOptions::new().with_retries(quick).open_connection_string(&text).expect("a connection string"))
}

/// The stores of a soak on Azurite, with waits that are short enough to be waited for.
///
/// # Errors
/// Those of creating the container.
pub async fn soak_world(name: &str) -> Result<Option<World>> {
    let Some(account) = account() else { return Ok(None) };
    let container = account.blobs(&name.to_ascii_lowercase());
    container.create_if_missing().await?;
    let times = Times { hidden: Duration::from_secs(3), grace: Duration::from_secs(15), lease: Duration::from_secs(4) };
    let (tables, queues) = (account.tables(), account.queues());
    Ok(Some(World { name: name.to_owned(), tables, queues, blobs: container.open()?, times }))
}

/// Azurite under the suite, with what it is known to do otherwise.
#[must_use]
pub fn harness() -> Option<Harness> {
    let account = account()?;
    let harness = Harness::new("azurite").with_tables(account.tables()).with_queues(account.queues());
    Some(deviations::ALL.iter().fold(harness, |harness, (case, reason)| harness.with_deviation(*case, *reason)))
}
