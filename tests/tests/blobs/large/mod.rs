//! Large entities: no row refers to nothing, and no blob is left over, whoever dies and when.

mod faults;
mod late;
mod reads;
mod refusals;
mod streams;
mod writes;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use table_core::{DynamicEntity, Entity, ManualClock, Query, QueueStore, Result, Table, TableStore};
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::large_entities::{BlobTable, Large};
use table_tests::blobs::{blob_names, blob_stores};
use table_tests::stores::{embedded_store, memory_store};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(email, row = "email_{email}", include(name))]
struct Employee {
    department: String,
    id: u32,
    name: String,
    email: Option<String>,
    #[entity(blob)]
    photo: Option<Bytes>,
    #[entity(blob)]
    letter: String,
    #[entity(blob, json)]
    history: Vec<String>,
}

fn employee(id: u32, photo: &'static str) -> Employee {
    Employee {
        department: "Sales".into(),
        id,
        name: "Jo".into(),
        email: Some(format!("{id}@contoso.com")),
        photo: Some(Bytes::from(photo)),
        letter: "dear é".into(),
        history: vec!["joined".into()],
    }
}

fn key(id: u32) -> table_core::Key<Employee> {
    Employee::key("Sales", id)
}

/// A table, a queue and a blob store, past all faults.
struct World {
    name: String,
    tables: Arc<dyn TableStore>,
    queues: Arc<dyn QueueStore>,
    blobs: Arc<dyn ObjectStore>,
    clock: Arc<ManualClock>,
    /// The folders of its files.
    _kept: Box<dyn std::any::Any>,
}

impl World {
    /// In memory.
    async fn new() -> Self {
        let (store, clock) = memory_store();
        Self::of("memory", store, Arc::new(InMemory::new()), clock, Box::new(())).await
    }

    async fn of<S: TableStore + QueueStore + Clone>(
        name: &str,
        store: S,
        blobs: Arc<dyn ObjectStore>,
        clock: Arc<ManualClock>,
        kept: Box<dyn std::any::Any>,
    ) -> Self {
        let (tables, queues): (Arc<dyn TableStore>, Arc<dyn QueueStore>) = (Arc::new(store.clone()), Arc::new(store));
        let world = Self { name: name.to_owned(), tables, queues, blobs, clock, _kept: kept };
        world.table().create().await.unwrap();
        world
    }

    /// Every kind of table store with every kind of blob store.
    async fn everywhere() -> Vec<Self> {
        let mut worlds = Vec::new();
        for blobs in blob_stores() {
            let (store, clock) = memory_store();
            let name = format!("memory, {}", blobs.name);
            let shared = Arc::clone(&blobs.store);
            worlds.push(Self::of(&name, store, shared, clock, Box::new(blobs)).await);
        }
        for blobs in blob_stores() {
            let (store, clock, folder) = embedded_store();
            let name = format!("embedded, {}", blobs.name);
            let shared = Arc::clone(&blobs.store);
            worlds.push(Self::of(&name, store, shared, clock, Box::new((blobs, folder))).await);
        }
        worlds
    }

    fn table(&self) -> Table {
        Table::new(Arc::clone(&self.tables), "Employees").unwrap()
    }

    async fn mover(&self) -> Mover {
        self.mover_on(Arc::clone(&self.tables), Arc::clone(&self.queues), Arc::clone(&self.blobs)).await.unwrap()
    }

    async fn mover_on(
        &self,
        tables: Arc<dyn TableStore>,
        queues: Arc<dyn QueueStore>,
        blobs: Arc<dyn ObjectStore>,
    ) -> Result<Mover> {
        let place = BlobTable::new(Table::new(tables, "Employees")?, blobs);
        Mover::builder(queues, "moves")?.keep_blobs(&place).build().await
    }

    async fn large(&self) -> Large<Employee> {
        self.large_on(Arc::clone(&self.tables), Arc::clone(&self.queues), Arc::clone(&self.blobs)).await.unwrap()
    }

    /// The entities, through layers.
    async fn large_on(
        &self,
        tables: Arc<dyn TableStore>,
        queues: Arc<dyn QueueStore>,
        blobs: Arc<dyn ObjectStore>,
    ) -> Result<Large<Employee>> {
        let mover = self.mover_on(Arc::clone(&tables), queues, Arc::clone(&blobs)).await?;
        Large::kept_by(BlobTable::new(Table::new(tables, "Employees")?, blobs), &mover)
    }

    /// Lets hidden messages come, and not the grace period pass.
    async fn work(&self) {
        self.clock.advance(Duration::from_secs(60));
        self.mover().await.run_due().await.unwrap();
    }

    /// Lets every wait pass until the queue is empty; then every blob has its row and every row its blobs, and no
    /// row of the protocol is left.
    async fn settle(&self) {
        let mover = self.mover().await;
        for _ in 0..20 {
            self.clock.advance(Duration::from_secs(24 * 60 * 60));
            mover.run_due().await.unwrap();
            if mover.progress().await.unwrap().queued == 0 {
                break;
            }
        }
        assert_eq!(mover.progress().await.unwrap().queued, 0, "{}", self.name);
        assert!(mover.poisoned().await.unwrap().is_empty(), "{}", self.name);
        let report = self.large().await.verify().await.unwrap();
        assert!(report.is_clean(), "{}: {report:?}", self.name);
        let rows = self.table().all(Query::<DynamicEntity>::all().allow_scan()).await.unwrap();
        assert!(rows.iter().all(|row| !row.key().row.as_str().starts_with('~')), "{}: {rows:?}", self.name);
    }

    async fn stored(&self, id: u32) -> Option<Employee> {
        self.large().await.get(key(id)).await.unwrap().map(table_core::Versioned::into_value)
    }

    async fn blob_count(&self) -> usize {
        blob_names(&*self.blobs).await.len()
    }
}
