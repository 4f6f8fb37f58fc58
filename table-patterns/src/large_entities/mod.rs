//! The large entities pattern: properties that are too large for a row live in blobs.
//!
//! # Problem
//! A property takes at most 64 KiB and an entity 1 MiB, and a partition of large rows is slow to scan. A photo
//! belongs into a blob, and its address into the row. But no transaction spans a table and a blob store: whoever
//! writes one and then the other can die in between, and leave a row that points nowhere or a blob that nobody
//! knows of.
//!
//! # Rows and blobs
//! A field with `#[entity(blob)]` is kept in a blob; with `#[entity(blob_above = 32768)]` on the struct, so is any
//! other text, binary or JSON property above so many bytes. The row holds a reference with the blob's length,
//! SHA-256 and name, and lists in `RowBlobs` which of its properties are references:
//!
//! | partition | row | properties |
//! | --- | --- | --- |
//! | `Sales` | `empid_000223` | `Name`, `Photo` = `blob:1;20480;9f86…;binary;employees/3a7b…/Photo-9f86…-5c2e…`, `RowBlobs` = `Photo` |
//! | `Sales` | `~intent_5c2e…` | `RowKind` = `intent`: a write whose old blobs are not yet gone; or `fence`: no such write may come any more |
//!
//! | blob | holds |
//! | --- | --- |
//! | `employees/3a7b…/Photo-9f86…-5c2e…` | one property of one version: table, hash of the entity's key, property, hash of the content, id of the write |
//!
//! The id makes every name new: two entities, or two versions, with equal content never share a blob, so none can
//! delete the other's. A blob that is written as a stream has the word `stream` where the content's hash would be,
//! since its name comes before its content; the row has the hash.
//!
//! # A write, step by step
//! 1. Send a message that names the entity, the blobs that come and those that go. It is hidden for half a minute,
//!    and stays so while the blobs are put.
//! 2. Put the blobs.
//! 3. In one transaction of the partition: the row, if it is still what was read, its index copies, and the intent.
//! 4. Delete the intent.
//! 5. Delete the message. Where blobs were replaced, 4 and 5 wait: the message becomes the one that deletes these
//!    blobs and the intent, in a day.
//!
//! A blob whose content has not changed stays where it is. A write that touches no blob is one transaction.
//!
//! A worker that gets the message inserts a fence where the intent is not, so that a writer that is still on its
//! way fails and begins again with new blobs. A day later it reads the row, and deletes those of the named blobs that
//! the row does not refer to. A row refers to a blob from its writer's step 3 until a later version leaves it out,
//! and never again: so a blob that is not referred to when its writer can no longer come is nobody's.
//!
//! # Guarantees
//! - A row never refers to a blob that is not there, whoever dies and when. A reader that has read a row which is
//!   replaced meanwhile has a day to read its blobs, and reads the row again if it was slower than that.
//! - Once the queue is empty, every blob is referred to.
//! - What is read is what was written: length and checksum of every blob are checked, and a difference is
//!   [`Corrupted`](table_core::ErrorKind::Corrupted), naming key and property.
//! - Indexes in the entity's partition are kept as [`Indexed`](crate::Indexed) keeps them. Copies hold no field that
//!   is kept in a blob.
//! - Nobody writes such an entity past this: the type is not [`Unindexed`](table_core::Unindexed). Who reads it past
//!   this meets an error, never a reference in place of a value; a projection without the field can be read by anyone.
//!
//! # After a crash
//!
//! | the writer dies after | what is left | who mends it |
//! | --- | --- | --- |
//! | 1 | a message | a worker: it puts a fence, finds nothing to delete, and removes the fence in a day |
//! | 2 | blobs that nobody refers to | a worker deletes them in a day |
//! | 3 | the intent, and the blobs of the version before | a worker deletes both in a day |
//! | 4 | the message | a worker, behind a fence |
//! | 5 | nothing | |
//!
//! A store of local files keeps the unfinished file of an upload that died, as a service keeps unfinished blocks;
//! such rules of a store are its own.
//!
//! # When not to use it
//! - For entities of up to 1 MiB that are always read as a whole: [`wide_entities`](crate::wide_entities) keeps them
//!   in rows, which cost fewer calls and change together.
//! - With indexes in other partitions: their worker would have to read every blob. They are refused.
//! - In tables that are dropped as a whole, as [`high_volume_delete`](crate::high_volume_delete) does: nobody looks
//!   after the blobs then. [`Large::verify`] finds them.
//!
//! ```
//! use std::sync::Arc;
//! use bytes::Bytes;
//! use object_store::memory::InMemory;
//! use table_core::{Entity, MemoryStore, Table};
//! use table_patterns::eventually_consistent_transactions::Mover;
//! use table_patterns::large_entities::{BlobTable, Large};
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(partition = "{department}", row = "empid_{id:06}")]
//! struct Employee {
//!     department: String,
//!     id: u32,
//!     name: String,
//!     #[entity(blob)]
//!     photo: Option<Bytes>,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> table_core::Result<()> {
//! let store = Arc::new(MemoryStore::new());
//! let table = Table::new(store.clone(), "Employees")?;
//! table.create().await?;
//! let place = BlobTable::new(table, Arc::new(InMemory::new()));
//! let mover = Mover::builder(store, "moves")?.keep_blobs(&place).build().await?;
//! let employees = Large::<Employee>::kept_by(place, &mover)?;
//! let workers = mover.start();
//!
//! let photo = Some(Bytes::from(vec![7; 3_000_000]));
//! let jo = Employee { department: "Sales".into(), id: 223, name: "Jo".into(), photo };
//! employees.insert(&jo).await?;
//!
//! assert_eq!(*employees.require(Employee::key("Sales", 223)).await?, jo);
//! employees.update(Employee::key("Sales", 223), |jo| jo.photo = None).await?;
//! workers.shutdown().await;
//! # Ok(())
//! # }
//! ```

mod message;
mod protocol;
mod read;
mod stream;
mod worker;
mod write;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;
use table_core::{Entity, Error, Result, Table};

use crate::attempts::UpdateOptions;
use crate::eventually_consistent_transactions::Mover;
use crate::intent::{Intent, IntentOptions, Keeper};
use message::{Blobs, scope};
use protocol::Writer;

pub use crate::blobs::BlobReport;
pub use stream::BlobReader;

/// A table, and the place of its entities' blobs.
///
/// Any `object_store` will do: in memory, local files, Azure, S3. A store that repeats failed calls by itself is
/// fine, since every put has a name of its own.
#[derive(Debug, Clone)]
pub struct BlobTable {
    table: Table,
    blobs: Arc<dyn ObjectStore>,
    prefix: Path,
}

impl BlobTable {
    /// A table whose blobs' names begin with its own, in lower case.
    #[must_use]
    pub fn new(table: Table, blobs: Arc<dyn ObjectStore>) -> Self {
        let prefix = Path::from(table.name().as_str().to_ascii_lowercase());
        Self { table, blobs, prefix }
    }

    /// Begins the names of new blobs with another prefix, where several tables of one name share a blob store.
    ///
    /// # Errors
    /// [`InvalidName`](table_core::ErrorKind::InvalidName) for a prefix that no blob can have.
    pub fn with_prefix(mut self, prefix: &str) -> Result<Self> {
        self.prefix = Path::parse(prefix).map_err(|error| {
            let message = "a prefix is one or more words separated by `/`";
            Error::new(table_core::ErrorKind::InvalidName, message).with_source(error)
        })?;
        Ok(self)
    }

    /// The table, for queries of projections.
    #[must_use]
    pub const fn table(&self) -> &Table {
        &self.table
    }
}

/// Entities with large properties in blobs. See the [module](self) for rows, blobs and guarantees.
pub struct Large<E> {
    writer: Writer,
    options: UpdateOptions,
    most_loaded_bytes: u64,
    entity: PhantomData<fn() -> E>,
}

impl<E: Entity> Large<E> {
    /// The entities of a table whose blobs this mover looks after: it was built with
    /// [`keep_blobs`](crate::eventually_consistent_transactions::MoverBuilder::keep_blobs), and somebody starts its
    /// workers.
    ///
    /// # Errors
    /// [`Unsupported`](table_core::ErrorKind::Unsupported) where the mover has no worker for them, for a type that
    /// keeps nothing in blobs, or that has an index in another partition or table.
    pub fn kept_by(place: BlobTable, mover: &Mover) -> Result<Self> {
        if !mover.handles::<Intent<Blobs>>(&scope(&place.table)) {
            return Err(Error::unsupported(format!(
                "the mover does not look after the blobs of the table {}; build it with `keep_blobs(&place)`, or open the entities with `Large::kept_elsewhere` where another process does",
                place.table.name()
            )));
        }
        Self::kept_elsewhere(place, mover)
    }

    /// As [`kept_by`](Large::kept_by), where the worker is in another process: this mover only sends to its queue.
    /// While no such process runs, replaced blobs stay.
    ///
    /// # Errors
    /// As [`kept_by`](Large::kept_by).
    pub fn kept_elsewhere(place: BlobTable, mover: &Mover) -> Result<Self> {
        let schema = E::SCHEMA;
        if schema.blobs.is_none() {
            return Err(Error::unsupported(format!(
                "{} keeps nothing in blobs; mark a field `#[entity(blob)]` or the struct `#[entity(blob_above = ...)]`",
                schema.name
            )));
        }
        if let Some(index) = schema.indexes.iter().find(|index| !index.is_local()) {
            return Err(Error::unsupported(format!(
                "the index {} of {} keeps its copies in another partition or table, whose worker cannot read blobs; leave out its `partition` and `table`, or keep the large fields in an entity of their own",
                index.name, schema.name
            )));
        }
        let writer = Writer { place, keeper: Keeper::new(mover) };
        let options = UpdateOptions::default();
        Ok(Self { writer, options, most_loaded_bytes: 256 * 1024 * 1024, entity: PhantomData })
    }

    /// Sets how long intents are hidden, and how long blobs that were replaced, and fences, stay.
    ///
    /// # Errors
    /// [`LimitExceeded`](table_core::ErrorKind::LimitExceeded) for a grace period over seven days, or for intents
    /// that are hidden for more than a quarter of it.
    pub fn with_intents(mut self, options: IntentOptions) -> Result<Self> {
        options.check()?;
        self.writer.keeper.options = options;
        Ok(self)
    }

    /// Sets how often changes are tried again under contention.
    #[must_use]
    pub const fn with_options(mut self, options: UpdateOptions) -> Self {
        self.options = options;
        self
    }

    /// Lets a reader hold at most so many bytes of an entity's blobs. 256 MiB by default.
    #[must_use]
    pub const fn with_most_loaded_bytes(mut self, bytes: u64) -> Self {
        self.most_loaded_bytes = bytes;
        self
    }

    /// The table, for queries of projections and for patches.
    #[must_use]
    pub const fn table(&self) -> &Table {
        &self.writer.place.table
    }
}

impl<E> Clone for Large<E> {
    fn clone(&self) -> Self {
        Self {
            writer: self.writer.clone(),
            options: self.options.clone(),
            most_loaded_bytes: self.most_loaded_bytes,
            entity: PhantomData,
        }
    }
}

impl<E> fmt::Debug for Large<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Large").field("writer", &self.writer).field("options", &self.options).finish_non_exhaustive()
    }
}
