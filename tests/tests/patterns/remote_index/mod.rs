//! Entities with copies in other partitions and tables.

mod contention;
mod cost;
mod faults;
mod late;
mod lookups;
mod maintenance;
mod refusals;
mod writes;

use std::sync::Arc;
use std::time::Duration;

use table_core::{
    DynamicEntity, Entity, EntityKey, Properties, Query, QueueStore, Result, Table, TableStore, Value, Versioned,
    reserved,
};
use table_patterns::Indexed;
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::maintenance::{Maintained, MaintenanceOptions};
use table_tests::pattern::{TestStore, rows};

/// One index in the partition, one with a unique value across all of them, one that is not unique.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(last_name, row = "lname_{last_name}_{id:06}", include(first_name))]
#[index(directory, table = "EmployeesByEmail", partition = "{email}", row = "", include(first_name))]
#[index(office, partition = "office_{office}", row = "at_{department}_{id:06}", include(last_name))]
struct Employee {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    email: Option<String>,
    office: Option<String>,
    age: i32,
}

fn employee(id: u32) -> Employee {
    Employee {
        department: "Sales".into(),
        id,
        first_name: format!("E{id}"),
        last_name: "Jones".into(),
        email: Some(format!("e{id}@contoso.com")),
        office: Some("North".into()),
        age: 40,
    }
}

fn key(id: u32) -> table_core::Key<Employee> {
    Employee::key("Sales", id)
}

const HIDDEN: Duration = Duration::from_secs(30);
const GRACE: Duration = Duration::from_secs(24 * 60 * 60);

/// A store with the tables of the employees, and a healthy mover.
struct World<'s> {
    store: &'s TestStore,
    table: Table,
    mover: Mover,
}

impl<'s> World<'s> {
    async fn new(store: &'s TestStore) -> Self {
        let table = Table::new(Arc::clone(&store.tables), "Employees").unwrap();
        let mover = mover(&store.tables, &store.queues).await.unwrap();
        let world = Self { store, table, mover };
        world.employees().create_if_missing().await.unwrap();
        world
    }

    fn employees(&self) -> Indexed<Employee> {
        Indexed::kept_by(self.table.clone(), &self.mover).unwrap()
    }

    /// Lets every wait pass and works until the queue is empty.
    async fn settle(&self) {
        for _ in 0..20 {
            self.store.clock.advance(HIDDEN);
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

    /// All rows of both tables.
    async fn rows(&self) -> [Vec<(EntityKey, Properties)>; 2] {
        let directory = self.table.sibling("EmployeesByEmail").unwrap();
        [rows(&self.table).await, rows(&directory).await]
    }

    /// Checks that the tables hold exactly the copies of the entities that are there, and nothing else.
    async fn assert_consistent(&self) {
        let stored = self.stored().await;
        assert_eq!(self.rows().await, expected(&stored), "of {stored:#?}");
        let report = self.employees().verify(self.now()).await.unwrap();
        assert!(report.is_clean() && report.in_flight == 0, "{report}: {:#?}", report.findings);
    }

    /// Maintenance by the store's own clock.
    fn now(&self) -> MaintenanceOptions {
        MaintenanceOptions::default().with_clock(self.store.clock.clone())
    }

    /// Checks that the tables hold exactly these entities and their copies.
    async fn assert_holds(&self, entities: &[Employee]) {
        assert_eq!(self.rows().await, expected(entities));
    }
}

async fn mover(tables: &Arc<dyn TableStore>, queues: &Arc<dyn QueueStore>) -> Result<Mover> {
    let table = Table::new(Arc::clone(tables), "Employees")?;
    Mover::builder(Arc::clone(queues), "moves")?.keep_indexes::<Employee>(&table).build().await
}

/// The rows of entities: in their own table, and in that of the directory.
fn expected(entities: &[Employee]) -> [Vec<(EntityKey, Properties)>; 2] {
    let (mut own, mut directory) = (Vec::new(), Vec::new());
    for entity in entities {
        let row = entity.to_row().unwrap();
        let owner = format!("employees/{}/{}", row.key.partition, row.key.row);
        let with_owner = |mut row: DynamicEntity| {
            row.properties.insert(reserved::ROW_OWNER, Value::from(owner.as_str()));
            row
        };
        own.push(row);
        own.extend(entity.index_row(0).unwrap());
        directory.extend(entity.index_row(1).unwrap().map(with_owner));
        own.extend(entity.index_row(2).unwrap().map(with_owner));
    }
    [own, directory].map(|rows| {
        let mut rows: Vec<_> = rows.into_iter().map(|row| (row.key, row.properties)).collect();
        rows.sort_by(|(a, _), (b, _)| a.cmp(b));
        rows
    })
}
