//! Typed entities, order-preserving keys, cost-aware queries and the store traits of table-patterns.

#[doc(hidden)]
pub mod __private;
pub mod keys;
pub mod layer;
pub mod limits;
pub mod query;
pub mod reserved;
pub mod store;

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
pub use entity::{Discriminator, Entity, EntitySet, FromRow, IndexCopy, IndexKey, IndexSchema, Schema, Unindexed};
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
pub use table::{LoadMode, LoadOptions, LoadProgress, Table, TableTransaction};
pub use timestamp::Timestamp;
pub use value::{EdmType, Value};
pub use versioned::Versioned;
