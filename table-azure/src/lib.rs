//! Azure Table Storage, Queue Storage and Blob Storage for table-patterns, and Cosmos DB for Table.
//!
//! One [`AzureAccount`] opens all three services, from a connection string or from an endpoint and a [`Credential`]:
//!
//! ```
//! use table_azure::AzureAccount;
//! use table_core::Table;
//!
//! # async fn run() -> table_core::Result<()> {
//! let account = AzureAccount::from_environment()?;
//! let employees = Table::new(account.tables(), "Employees")?;
//! employees.create_if_missing().await?;
//!
//! let queues = account.queues();
//! let photos = account.blobs("photos");
//! photos.create_if_missing().await?;
//! let photos = photos.open()?;
//! # Ok(())
//! # }
//! ```
//!
//! | what | how |
//! | --- | --- |
//! | tables | our own client of the REST interface, on `azure_core`'s pipeline |
//! | queues | `azure_storage_queue`, with our signing; bodies are base64 on the way |
//! | blobs | `object_store`, on the same connections and credential |
//! | Cosmos DB for Table | recognized by its endpoint, or [`AzureAccount::cosmos`]; its results have no order, which patterns that need one refuse |
//!
//! # What is repeated
//! [`Retry`](table_core::layer::Retry) repeats calls to tables and queues, as [`AzureOptions::with_retries`] says, waits as long as the
//! service asks for, and settles writes whose answer was lost. Beneath it nothing repeats anything.
//!
//! # What is secret
//! Keys and signatures are held in memory that is wiped, and show up in no `Debug`, error or trace; `object_store` holds one
//! copy of its own, unwiped, while blobs are open. Everything goes over TLS, save to this machine. Spans (`request`, within an
//! `attempt`) have operation, table, status and request id; keys of entities only by [`AzureOptions::with_traced_keys`].
//!
//! # Features
//! `identity` adds credentials of [`azure_identity`](https://docs.rs/azure_identity): developer tools and managed identities. Any other
//! `TokenCredential` of `azure_core` works without it.

mod account;
mod blobs;
mod call;
mod connection_string;
mod cosmos;
mod credential;
mod endpoint;
mod failure;
mod options;
mod queues;
mod secret;
mod sign;
mod tables;

pub use account::AzureAccount;
pub use blobs::BlobContainer;
pub use credential::Credential;
pub use options::{AzureOptions, CONNECTION_STRING_VARIABLE};
pub use queues::AzureQueues;
pub use tables::AzureTables;
