//! What Azurite never does: a server on this machine answers as a script says, and counts what it was asked.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, its helpers too"
)]

mod blobs;
mod cosmos;
mod lost_answers;
mod odd_answers;
mod queues;
mod redirects;
mod refusals;
mod server;
mod traces;

use std::time::Duration;

use server::Server;
use table_azure::{AzureAccount, AzureOptions};
use table_core::layer::RetryOptions;
use table_core::{Action, DynamicEntity, EntityKey, Operation, TableName};

/// Short waits, so that only what a service asks for takes time.
fn options() -> AzureOptions {
    let retries = RetryOptions::default().with_attempts(3).with_first_wait(Duration::from_millis(1));
    AzureOptions::new().with_retries(retries).with_request_timeout(Duration::from_secs(20))
}

fn endpoints(server: &Server) -> String {
    let url = server.url();
    format!("TableEndpoint={url}/contoso;QueueEndpoint={url}/contoso;BlobEndpoint={url}/contoso")
}

/// An account whose services are all the scripted server.
fn account(server: &Server) -> AzureAccount {
    account_with(server, &options())
}

fn account_with(server: &Server, options: &AzureOptions) -> AzureAccount {
    let text = format!("AccountName=contoso;AccountKey=c2VjcmV0;{}", endpoints(server));
    options.open_connection_string(&text).unwrap()
}

fn staff() -> TableName {
    TableName::new("Staff").unwrap()
}

fn key() -> EntityKey {
    EntityKey::parse("Sales", "00001").unwrap()
}

fn row() -> DynamicEntity {
    DynamicEntity::new(key()).with("Name", "Jo").unwrap()
}

fn insert() -> Operation {
    Operation::new(Action::Insert(row())).unwrap()
}
