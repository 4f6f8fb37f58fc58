//! Work that spans partitions, tables or stores, driven by a queue until it is done.
//!
//! **Problem.** A transaction stays within one partition. Moving an employee from the table `Current` to
//! the table `Archive` takes two writes, and a process can die between them.
//!
//! **Solution.** The work is first put on a durable queue as a typed [`WorkItem`]. A [`Mover`] takes it, hides
//! it from others, runs its handler and deletes it. A handler that fails, hangs or dies leaves the
//! message on the queue, so that it comes again: its steps are therefore *idempotent*.
//!
//! | queue | holds |
//! | --- | --- |
//! | `moves` | one message for each open item: its kind, itself as JSON, and what went wrong so far |
//! | `moves-poison` | items that failed too often, with their errors, until somebody looks at them |
//!
//! **Guarantees.** An item that was sent is run to its end at least once, by one worker at a time unless
//! that worker's lease has run out. It is deleted only after its handler said that it is done. Only what is
//! wrong with the item itself poisons it, never what passes, what an operator mends (a missing table, a permission), or that
//! this process has no handler for it: [`MoverBuilder::on`] has the whole table.
//!
//! **What travels.** A message names its handler: the [`KIND`](WorkItem::KIND) of an item, and for those of the patterns also the
//! table and the name of the entity's type. These names are part of the wire format. Whoever renames a type says
//! `#[entity(name = "...")]` with the name that it had, or lets the queue run empty before.
//!
//! **A crash** before the message is sent leaves nothing; after that the item is done, whoever dies and when:
//! a dead worker's lease runs out, and the next worker runs the handler from its start. A crash between
//! sending to the poison queue and deleting leaves the item in both, and it may be put aside once more: [`PoisonedItem::item_id`] is the same
//! for both.
//!
//! **Not for** work within one partition, where a transaction is simpler and at once; nor for work that
//! must be done before the caller goes on.
//!
//! ```
//! use std::sync::Arc;
//! use serde::{Deserialize, Serialize};
//! use table_core::MemoryStore;
//! use table_patterns::eventually_consistent_transactions::{Mover, Next, WorkItem};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Greet {
//!     name: String,
//! }
//!
//! impl WorkItem for Greet {
//!     const KIND: &'static str = "greet";
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> table_core::Result<()> {
//! let mover = Mover::builder(Arc::new(MemoryStore::new()), "greetings")?
//!     .on(|greet: Greet, delivery| async move {
//!         delivery.step("greet", async { assert_eq!(greet.name, "Jo"); Ok(()) }).await?;
//!         Ok(Next::Done)
//!     })
//!     .build()
//!     .await?;
//! mover.send(&Greet { name: "Jo".into() }).await?;
//! let workers = mover.start();
//! mover.drain().await?;
//! workers.shutdown().await;
//! assert_eq!(mover.progress().await?.done, 1);
//! # Ok(())
//! # }
//! ```

mod archive;
mod delivery;
mod failure;
mod item;
mod lease;
mod mover;
mod options;
mod poison;
mod worker;

pub(crate) use failure::not_here;

pub use archive::Archive;
pub use delivery::{Delivery, Next};
pub use item::{ItemFailure, Outgoing, WorkItem};
pub use mover::{Mover, MoverBuilder, MoverProgress};
pub use options::MoverOptions;
pub use poison::PoisonedItem;
pub use worker::Workers;
