//! Lists of keys in other partitions, tables and blobs.

mod apart;
mod blobs;
mod contention;
mod faults;
mod limits;
mod maintenance;
mod refusals;
mod writes;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;
use object_store::memory::InMemory;
use table_core::{Entity, EntityKey, PartitionKey, Query, QueueStore, Result, Table, TableStore, Versioned};
use table_patterns::IndexEntities;
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::index_entities::{ListBlobs, ListPlace};
use table_patterns::maintenance::{Maintained, MaintenanceOptions};
use table_tests::pattern::{TestStore, rows};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(email, row = "email_{email}", include())]
struct Employee {
    department: String,
    id: u32,
    email: Option<String>,
    last_name: String,
    team: Option<String>,
    city: String,
    age: i32,
}

/// Those with odd numbers are in Sales, the others in Marketing.
fn employee(id: u32) -> Employee {
    Employee {
        department: department(id).into(),
        id,
        email: None,
        last_name: "Jones".into(),
        team: Some("Blue".into()),
        city: "Berlin".into(),
        age: 40,
    }
}

fn department(id: u32) -> &'static str {
    if id % 2 == 1 { "Sales" } else { "Marketing" }
}

fn key(id: u32) -> table_core::Key<Employee> {
    Employee::key(department(id), id)
}

const HIDDEN: Duration = Duration::from_secs(30);
const GRACE: Duration = Duration::from_secs(24 * 60 * 60);
/// Bytes above which lists go to blobs: more than any list of these tests has.
const NO_BLOBS: usize = 100_000;
/// Room for two keys in a row, not for three.
const FEW: usize = 265;

type Stores = (Arc<dyn TableStore>, Arc<dyn QueueStore>, Arc<dyn ObjectStore>);

/// One list beside the entities, one in partitions of its own, one in another table.
fn declared(table: Table, blobs: Arc<dyn ObjectStore>, above: usize) -> IndexEntities<Employee> {
    IndexEntities::new(table)
        .list("last_name", |employee: &Employee| Some(employee.last_name.clone()))
        .list_at(ListPlace::partition(), "team", |employee| employee.team.clone())
        .list_at(ListPlace::table("EmployeesByCity"), "city", |employee| Some(employee.city.clone()))
        .with_blobs(ListBlobs::new(blobs).with_above_bytes(above))
}

/// Lists and the mover that keeps them.
async fn kept((tables, queues, blobs): Stores, above: usize) -> Result<(IndexEntities<Employee>, Mover)> {
    let lists = declared(Table::new(tables, "Employees")?, blobs, above);
    let mover = Mover::builder(queues, "moves")?.keep_lists(&lists).build().await?;
    Ok((lists.kept_by(&mover)?, mover))
}

/// A store with the tables of the employees, and a healthy mover.
struct World<'s> {
    store: &'s TestStore,
    blobs: Arc<dyn ObjectStore>,
    above: usize,
    table: Table,
    employees: IndexEntities<Employee>,
    mover: Mover,
}

impl<'s> World<'s> {
    async fn new(store: &'s TestStore, above: usize) -> Self {
        Self::with_blobs(store, above, Arc::new(InMemory::new())).await
    }

    async fn with_blobs(store: &'s TestStore, above: usize, blobs: Arc<dyn ObjectStore>) -> Self {
        let stores = (store.tables.clone(), store.queues.clone(), blobs.clone());
        let (employees, mover) = kept(stores, above).await.unwrap();
        employees.create_if_missing().await.unwrap();
        Self { store, blobs, above, table: employees.table().clone(), employees, mover }
    }

    /// Lets every wait pass and works until the queue is empty.
    async fn settle(&self) {
        for _ in 0..8 {
            self.store.clock.advance(HIDDEN * 20);
            self.mover.run_due().await.unwrap();
        }
        for _ in 0..20 {
            self.store.clock.advance(GRACE);
            self.mover.run_due().await.unwrap();
            if self.mover.progress().await.unwrap().queued == 0 {
                break;
            }
        }
        assert_eq!(self.mover.progress().await.unwrap().queued, 0);
        assert_eq!(self.mover.poisoned().await.unwrap(), []);
    }

    async fn stored(&self) -> Vec<Employee> {
        let all = self.table.all(Query::<Employee>::all().allow_scan()).await.unwrap();
        all.into_iter().map(Versioned::into_value).collect()
    }

    /// What the list of a value says, wherever it stands: its ids.
    async fn ids(&self, list: &str, value: &str) -> Vec<u32> {
        let found = self.employees.find_across(list, value).await.unwrap();
        found.iter().map(|employee| employee.id).collect()
    }

    /// Checks that lists, rows and blobs are exactly what the entities say, and that there is nothing else.
    async fn assert_consistent(&self) {
        let stored = self.stored().await;
        let mut expected: BTreeMap<(&str, String, String), Vec<EntityKey>> = BTreeMap::new();
        for employee in &stored {
            let key = employee.entity_key().unwrap();
            let beside = ("last_name", employee.last_name.clone(), employee.department.clone());
            expected.entry(beside).or_default().push(key.clone());
            expected.entry(("city", employee.city.clone(), String::new())).or_default().push(key.clone());
            if let Some(team) = &employee.team {
                expected.entry(("team", team.clone(), String::new())).or_default().push(key);
            }
        }
        for ((list, value, partition), keys) in &expected {
            let found = if partition.is_empty() {
                self.employees.keys_across(list, value).await.unwrap()
            } else {
                let partition = PartitionKey::new(partition.as_str()).unwrap();
                let rows = self.employees.keys(&partition, list, value).await.unwrap();
                rows.into_iter().map(|row| EntityKey::new(partition.clone(), row)).collect()
            };
            assert_eq!(&found, keys, "{list} {value} {partition}");
        }
        let copies = stored.iter().filter(|employee| employee.email.is_some()).count();
        let by_city = self.table.sibling("EmployeesByCity").unwrap();
        let all = [rows(&self.table).await, rows(&by_city).await].concat();
        assert_eq!(all.len(), stored.len() + copies + expected.len(), "a row too many of {all:#?}");
        let report = self.employees.verify(self.now()).await.unwrap();
        assert!(report.is_clean() && report.in_flight == 0, "{report}: {:#?}", report.findings);
        let blobs = self.employees.verify_blobs().await.unwrap();
        assert!(blobs.is_clean(), "{blobs:#?}");
    }

    /// Maintenance by the store's own clock.
    fn now(&self) -> MaintenanceOptions {
        MaintenanceOptions::default().with_clock(self.store.clock.clone())
    }
}
