//! The inter-partition secondary index: copies of an entity in other partitions or tables, and values that are
//! unique across partitions.
//!
//! # Problem
//! An index in the entity's partition answers "who in Sales has this address". "Who has this address" takes an
//! index in a partition of its own, and no transaction spans two partitions: whoever writes one and then the
//! other can die in between, or be overtaken by somebody who does the same.
//!
//! # Rows
//! An index with `partition` or `table` keeps its rows there; [`Indexed`](crate::Indexed) writes them with the
//! help of a [`Mover`](crate::eventually_consistent_transactions::Mover). For
//! `#[index(directory, table = "EmployeesByEmail", partition = "{email}", row = "", include(name))]`:
//!
//! | table | partition | row | properties |
//! | --- | --- | --- | --- |
//! | `Employees` | `Sales` | `empid_000223` | everything |
//! | `Employees` | `Sales` | `~intent_ID` | `RowKind` = `intent`: a change that is not yet in all indexes; or `fence`: no such change may come any more |
//! | `EmployeesByEmail` | `jo@contoso.com` | | `RowKind` = `index:directory`, the primary key, what `include(...)` names |
//! | `EmployeesByEmail` | `al@contoso.com` | | `RowKind` = `claim:ID`: an entity that is about to be written has this unique value |
//! | `EmployeesByEmail` | `jones@contoso.com` | | `RowKind` = `tombstone`: nobody has this value any more |
//!
//! All of them but the entity carry `RowOwner`, such as `employees/Sales/empid_000223`; every row that is
//! written carries a new `RowToken`, which settles a lost answer. Typed reads skip claims, tombstones, intents
//! and fences.
//!
//! # A write, step by step
//! 1. Read the index rows of the old and new keys. A first insert takes them for empty instead.
//! 2. Send a message that names the entity and these rows, hidden for half a minute.
//! 3. Claim each unique value that is new: write its row, if it still is what step 1 found.
//! 4. In one transaction of the entity's partition: the change, the copies that stand there, the intent.
//! 5. Write each of the named rows, if it still is what step 1 or 3 left: the copy, or a tombstone where there
//!    is none, also where the row already looks right. A row of another entity is left alone.
//! 6. Delete the intent.
//! 7. Delete the message. Where there are tombstones it becomes the message that removes them, in a day.
//!
//! Whoever meets somebody else in step 5 reads the index rows again, then the entity, and writes what that
//! says. A worker that gets the message does the same, after it has put a fence where there is no intent. A claim
//! of another change of the same entity is removed only behind a fence of its own, and is written anew before that: so
//! its writer learns of it, and collects the fence. What is written is always read
//! from the entity, after the row that it is written to: so it does not matter how often, in which order or how
//! late anybody writes.
//!
//! # Guarantees
//! - Once the queue is empty, every row of an index is what its entity says, and no other is live.
//! - In between an index may lag behind; [`Reads::Verified`] never answers what the entity does not say.
//! - A value of a unique index (its key lacks a part of the primary key) has one entity in the whole table.
//!   A second one is refused with an error that names the index.
//! - A write that was answered with success is in the entity, whatever the indexes say yet. One that was refused
//!   leaves no trace but a tombstone for a day.
//!
//! A type that gets an index later has rows without copies: they come when their indexed fields are next
//! changed, or when the index is built. Until it is built, a value may have two entities.
//!
//! # After a crash
//!
//! | the writer dies after | what is left | who mends it |
//! | --- | --- | --- |
//! | 1 | nothing | |
//! | 2 | a message | a worker: it puts a fence, finds nothing to change, and removes the fence in a day |
//! | 3 | a claim, which readers skip and other writers wait for | a worker: the claim becomes a tombstone |
//! | 4 | an entity that its indexes do not show yet | a worker writes the rows |
//! | 5 | the intent | a worker writes the same once more, and deletes it |
//! | 6 | the message | a worker writes the same once more behind a fence |
//! | 7 | nothing | |
//!
//! A worker that dies leaves its message, and the next begins with the first of its steps.
//!
//! # When not to use it
//! - For a lookup within a partition: an index there is one transaction, and never stale.
//! - Where readers must see a change in the index at once. A verified lookup by a unique index does; a range of
//!   an index that is not unique may lack what was just written.
//! - Where writes are many and lookups rare: an insert takes two more storage transactions for one such index,
//!   three where it is unique, and two calls to the queue.
//!
//! ```
//! use std::sync::Arc;
//! use table_core::{Entity, ErrorKind, MemoryStore, Table};
//! use table_patterns::Indexed;
//! use table_patterns::eventually_consistent_transactions::Mover;
//! use table_patterns::inter_partition_secondary_index::Reads;
//!
//! #[derive(Entity, Clone)]
//! #[entity(partition = "{department}", row = "empid_{id:06}")]
//! #[index(directory, table = "EmployeesByEmail", partition = "{email}", row = "", include(name))]
//! struct Employee {
//!     department: String,
//!     id: u32,
//!     name: String,
//!     email: String,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> table_core::Result<()> {
//! let store = Arc::new(MemoryStore::new());
//! let table = Table::new(store.clone(), "Employees")?;
//! let mover = Mover::builder(store, "moves")?.keep_indexes::<Employee>(&table).build().await?;
//! let employees = Indexed::<Employee>::kept_by(table, &mover)?;
//! employees.create_if_missing().await?;
//! let workers = mover.start();
//!
//! let jo = Employee { department: "Sales".into(), id: 223, name: "Jo".into(), email: "jo@contoso.com".into() };
//! employees.insert(&jo).await?;
//! let found = employees.find(Employee::by_directory("jo@contoso.com"), Reads::Verified).await?;
//! assert_eq!(found.map(|copy| copy.name.clone()), Some("Jo".into()));
//!
//! // In another department the address is the same, and taken.
//! let error = employees.insert(&Employee { department: "Marketing".into(), ..jo }).await.unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::AlreadyExists);
//! assert!(error.message().contains("unique index directory"));
//! workers.shutdown().await;
//! # Ok(())
//! # }
//! ```

mod change;
mod find;
mod keep;
mod message;
mod place;
mod protocol;
mod settle;
mod worker;

pub use crate::intent::IntentOptions;
pub use find::Reads;

pub(crate) use change::Change;
pub(crate) use find::is_local;
pub(crate) use place::{Copy, Found, Place, copies, stored_copies};
pub(crate) use protocol::Writer;
