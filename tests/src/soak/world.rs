//! The tables, the queue and the blobs of a soak, and who looks after them.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use serde::{Deserialize, Serialize};
use table_core::{
    Action, DynamicEntity, Entity, EntityKey, Error, ErrorKind, Operation, QueueStore, Result, Table, TableStore,
};
use table_patterns::Indexed;
use table_patterns::eventually_consistent_transactions::{Archive, Mover, MoverOptions, Next, WorkItem};
use table_patterns::inter_partition_secondary_index::IntentOptions;
use table_patterns::large_entities::{BlobTable, Large};

use super::copies::Item;

/// Has a unique value in another table, an index in other partitions, and a count for each writer that shares it.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(directory, table = "SoakDirectory", partition = "{email}", row = "", include(version))]
#[index(office, partition = "office_{office}", row = "at_{department}_{id:06}", include(version))]
pub(super) struct Employee {
    pub(super) department: String,
    pub(super) id: u32,
    pub(super) version: i64,
    pub(super) email: Option<String>,
    pub(super) office: Option<String>,
    #[entity(json)]
    pub(super) counts: Vec<u32>,
}

/// Is written, and then moved to the archive.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{owner}", row = "{id:010}")]
pub(super) struct Record {
    pub(super) owner: String,
    pub(super) id: u32,
    pub(super) version: i64,
}

/// Has its text in a blob.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{owner}", row = "doc_{id:06}")]
pub(super) struct Document {
    pub(super) owner: String,
    pub(super) id: u32,
    pub(super) version: i64,
    #[entity(blob)]
    pub(super) text: Bytes,
}

/// Leaves a row and a file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Note {
    pub(super) number: i64,
}

impl WorkItem for Note {
    const KIND: &'static str = "note";
}

/// How long things wait.
#[derive(Debug, Clone)]
pub struct Times {
    /// How long an intent is its writer's.
    pub hidden: Duration,
    /// How long tombstones, fences and old blobs stay.
    pub grace: Duration,
    /// How long a worker has a message for itself.
    pub lease: Duration,
}

impl Default for Times {
    /// Those of the patterns.
    fn default() -> Self {
        let (intents, mover) = (IntentOptions::default(), MoverOptions::default());
        Self { hidden: intents.hidden, grace: intents.grace, lease: mover.lease }
    }
}

/// The stores of a soak.
#[derive(Debug, Clone)]
pub struct World {
    /// What the names of tables and the queue begin with.
    pub name: String,
    /// The tables.
    pub tables: Arc<dyn TableStore>,
    /// The queue.
    pub queues: Arc<dyn QueueStore>,
    /// The blobs.
    pub blobs: Arc<dyn ObjectStore>,
    /// How long things wait.
    pub times: Times,
}

impl World {
    pub(super) fn table(&self, name: &str) -> Result<Table> {
        Table::new(Arc::clone(&self.tables), &format!("{}{name}", self.name))
    }

    fn documents_place(&self) -> Result<BlobTable> {
        Ok(BlobTable::new(self.table("Documents")?, Arc::clone(&self.blobs)))
    }

    pub(super) fn intents(&self) -> IntentOptions {
        IntentOptions::default().with_hidden(self.times.hidden).with_grace(self.times.grace)
    }

    /// Creates the tables, unless they exist.
    ///
    /// # Errors
    /// Those of reaching the store.
    pub async fn create(&self) -> Result<()> {
        for name in ["Current", "Archive", "Documents", "Notes"] {
            self.table(name)?.create_if_missing().await?;
        }
        let mover = self.mover().await?;
        self.employees(&mover)?.create_if_missing().await?;
        self.items(&mover)?.create_if_missing().await
    }

    /// Deletes the tables that are this soak's alone.
    ///
    /// # Errors
    /// Those of reaching the store.
    pub async fn drop_tables(&self) -> Result<()> {
        for name in ["Current", "Archive", "Documents", "Notes", "Employees", "Products", "Items"] {
            self.tables.delete_table(self.table(name)?.name()).await?;
        }
        Ok(())
    }

    /// A mover that does all the work there is.
    ///
    /// # Errors
    /// Those of reaching the store.
    pub async fn mover(&self) -> Result<Mover> {
        let archive = Archive::new(self.table("Current")?, self.table("Archive")?).with_grace(self.times.grace);
        let options = MoverOptions::default()
            .with_lease(self.times.lease)
            .with_first_wait(self.times.hidden / 8)
            .with_idle_wait(Duration::from_millis(100));
        let (notes, blobs) = (self.table("Notes")?, Arc::clone(&self.blobs));
        Mover::builder(Arc::clone(&self.queues), &format!("{}-moves", self.name.to_ascii_lowercase()))?
            .with_options(options)
            .keep_indexes::<Employee>(&self.table("Employees")?)
            .keep_copies::<Item>(&self.table("Products")?, &self.table("Items")?)
            .keep_indexes::<Item>(&self.table("Items")?)
            .keep_blobs(&self.documents_place()?)
            .archive(archive)
            .on(move |note: Note, delivery| {
                let (notes, blobs) = (notes.clone(), Arc::clone(&blobs));
                async move {
                    delivery.step("row", write_row(&notes, note.number)).await?;
                    delivery.step("file", write_file(&*blobs, note.number)).await?;
                    Ok(Next::Done)
                }
            })
            .build()
            .await
    }

    pub(super) fn employees(&self, mover: &Mover) -> Result<Indexed<Employee>> {
        Indexed::kept_by(self.table("Employees")?, mover)?.with_intents(self.intents())
    }

    pub(super) fn documents(&self, mover: &Mover) -> Result<Large<Document>> {
        Large::kept_by(self.documents_place()?, mover)?.with_intents(self.intents())
    }
}

async fn write_row(notes: &Table, number: i64) -> Result<()> {
    let row = DynamicEntity::new(EntityKey::parse("notes", &number.to_string())?);
    notes.store().write(notes.name(), Operation::new(Action::InsertOrReplace(row))?).await.map(|_| ())
}

pub(super) fn file_of(number: i64) -> Path {
    Path::from(format!("notes/{number}.txt"))
}

async fn write_file(blobs: &dyn ObjectStore, number: i64) -> Result<()> {
    let put = blobs.put(&file_of(number), Bytes::from(number.to_string()).into()).await;
    put.map(|_| ()).map_err(|error| Error::new(ErrorKind::Unavailable, "the file was not written").with_source(error))
}
