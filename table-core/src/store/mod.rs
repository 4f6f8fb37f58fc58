//! The store traits: what a backend does, in few methods.
//!
//! A [`TableStore`] keeps entities, a [`QueueStore`] messages; both can be boxed, shared and
//! wrapped in [layers](crate::layer). The contract that every store keeps is numbered in
//! `docs/store-contract.md`, and `table-conformance` runs it.

mod capabilities;
mod forward;
pub(crate) mod queue;
mod table;

pub use capabilities::Capabilities;
pub use queue::{Message, MessageReceipt, PeekedMessage, QueueStore, ReceiveOptions, SendOptions, TimeToLive};
pub use table::{Page, PageToken, Selection, StoreQuery, TablePage, TableStore};
