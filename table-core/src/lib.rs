//! Typed entities, order-preserving keys, cost-aware queries and the store traits of table-patterns.
//!
//! A store of tables keeps *entities*, each under a partition key and a row key, sorted. Entities of one
//! partition can be written together; keys are the only index. This crate makes that safe and typed.
//!
//! # Annotate a struct
//! `#[derive(Entity)]` turns a plain struct into an entity: key templates, properties, versions,
//! indexes. See [the derive](derive@Entity) for every attribute and everything that is generated.
//!
//! ```
//! use table_core::Entity;
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(partition = "{department}", row = "empid_{id:06}")]
//! struct Employee {
//!     department: String,
//!     id: u32,
//!     name: String,
//!     age: i32,
//! }
//!
//! let key = Employee::key("Sales", 223).resolve()?;
//! assert_eq!(key.to_string(), "(Sales, empid_000223)");
//! # Ok::<(), table_core::Error>(())
//! ```
//!
//! # Open a store, use a table
//! A [`Table`] is a cheap handle on one table of one store. Reads return [`Versioned`], which
//! remembers the version that was read; writes take it and are refused if somebody was faster.
//!
//! ```
//! # use std::sync::Arc;
//! # use table_core::{Entity, ErrorKind, MemoryStore, Table};
//! # #[derive(Entity, Clone, Debug, PartialEq)]
//! # #[entity(partition = "{department}", row = "empid_{id:06}")]
//! # struct Employee { department: String, id: u32, name: String, age: i32 }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> table_core::Result<()> {
//! let table = Table::new(Arc::new(MemoryStore::new()), "Employees")?;
//! table.create_if_missing().await?;
//! table.insert(&Employee { department: "Sales".into(), id: 223, name: "Jo".into(), age: 41 }).await?;
//!
//! let mut mine = table.require(Employee::key("Sales", 223)).await?;
//! let mut yours = mine.clone();
//! mine.age += 1;
//! table.replace(&mut mine).await?;
//! yours.name = "Joe".into();
//! assert_eq!(table.replace(&mut yours).await.unwrap_err().kind(), ErrorKind::PreconditionFailed);
//! # Ok(())
//! # }
//! ```
//!
//! | to | use |
//! | --- | --- |
//! | write several entities of a partition at once | [`Table::transaction`] |
//! | change one field | `Employee::patch(key).age(42)` and [`Table::patch`] |
//! | read many | [`Query`], from `Employee::range(..)` or an index, and [`Table::all`], [`page`](Table::page), [`stream`](Table::stream) |
//! | load a lot | [`Table::load`] |
//! | take everything to another store | [`copy`] |
//! | keep several types in one table | `#[derive(EntitySet)]` |
//! | do without a type | [`DynamicEntity`] |
//!
//! # Know what a query costs
//! A [`Query`] is planned before it runs. [`explain`](Query::explain) says its [`CostClass`](query::CostClass) and
//! the OData filter; a scan is refused unless the caller wrote [`allow_scan`](Query::allow_scan).
//!
//! # Stores and layers
//! [`TableStore`] and [`QueueStore`] are the traits of a backend. [`MemoryStore`] is one of both, for
//! tests; others are crates of their own. [Layers](layer) wrap any store: retry, meter, trace, fault.
//! What every store guarantees is numbered in `docs/store-contract.md`.
//!
//! # Errors
//! There is one [`Error`]: it has a [`kind`](Error::kind), says whether trying again helps and whether a write may have
//! happened all the same, and where it happened. It never holds a property's value.
//!
//! # Features
//! `derive` (on by default) re-exports the derive macros; `chrono` lets `chrono::DateTime<Utc>` be a field.

#[doc(hidden)]
pub mod __private;
pub mod copy;
pub mod keys;
pub mod layer;
pub mod limits;
pub mod query;
pub mod reserved;
pub mod store;

mod checked_text;
mod clock;
#[cfg(feature = "derive")]
mod derive;
mod dynamic;
mod entity;
mod error;
mod etag;
mod flatten;
mod key;
mod memory;
mod names;
mod operation;
mod patch;
mod property;
mod table;
mod timestamp;
mod value;
mod versioned;

pub use clock::{Clock, ManualClock, SystemClock};
#[cfg(feature = "derive")]
pub use derive::{Entity, EntitySet, Flatten, Projection, Property};
pub use dynamic::{DynamicEntity, Properties};
pub use entity::{
    BlobSchema, Discriminator, Entity, EntitySet, FromRow, IndexCopy, IndexKey, IndexSchema, Schema, Unindexed,
};
pub use error::{Error, ErrorKind, Result};
pub use etag::ETag;
pub use flatten::Flatten;
pub use key::Key;
pub use keys::{EntityKey, PartitionKey, RowKey, SortKey};
pub use memory::MemoryStore;
pub use names::{PropertyName, QueueName, TableName};
pub use operation::{Action, IfMatch, Operation, Transaction, Written};
pub use patch::{Patch, PatchTarget};
pub use property::Property;
pub use query::Query;
pub use store::{QueueStore, TableStore};
pub use table::{LoadMode, LoadOptions, LoadProgress, LoadUnit, Table, TableTransaction};
pub use timestamp::Timestamp;
pub use value::{EdmType, Value};
pub use versioned::Versioned;
