//! Copies in other partitions and tables that follow their source.

mod contention;
pub(crate) mod cost;
mod faults;
mod here;
mod late;
mod lines;
mod maintenance;
mod many;
mod moved;
mod pairs;
mod refusals;
mod writes;

use std::sync::Arc;
use std::time::Duration;

use table_core::{Entity, Key, Query, QueueStore, Result, Table, TableStore, Versioned};
use table_patterns::denormalization::{Denormalized, KeepsCopies, Targets};
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::maintenance::{Maintained, MaintenanceOptions};
use table_patterns::{Indexed, UpdateOptions};
use table_tests::pattern::TestStore;

/// A source with a unique value across partitions.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{office}", row = "empid_{id:06}")]
#[index(directory, table = "EmployeesByEmail", partition = "{email}", row = "", include())]
struct Employee {
    office: String,
    id: u32,
    name: String,
    email: String,
    age: i32,
}

/// A target in another table, with an index in its partition that shows the copy.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{region}", row = "department_{name}")]
#[index(by_manager, row = "managed_{manager_name}_{name}", include())]
struct Department {
    region: String,
    name: String,
    manager: Option<u32>,
    manager_name: Option<String>,
    budget: i64,
}

impl KeepsCopies for Department {
    type Source = Employee;

    /// Two ranges of two partitions.
    fn targets(_: &Employee) -> Targets<Self> {
        Query::<Self>::all().filter(Self::REGION.eq("north").or(Self::REGION.eq("south"))).allow_scan().into()
    }

    fn source(&self) -> Option<Key<Employee>> {
        self.manager.map(key)
    }

    fn take(&mut self, manager: Option<&Employee>) {
        self.manager_name = manager.map(|manager| manager.name.clone());
    }

    fn shows(before: &Employee, after: &Employee) -> bool {
        before.name != after.name
    }
}

fn employee(id: u32, name: &str) -> Employee {
    Employee { office: format!("o{}", id % 2), id, name: name.into(), email: format!("e{id}@contoso.com"), age: 40 }
}

fn key(id: u32) -> Key<Employee> {
    Employee::key(&format!("o{}", id % 2), id)
}

fn department(region: &str, name: &str, manager: Option<u32>) -> Department {
    Department { region: region.into(), name: name.into(), manager, manager_name: None, budget: 0 }
}

fn department_key(region: &str, name: &str) -> Key<Department> {
    Department::key(region, name)
}

const HIDDEN: Duration = Duration::from_secs(30);
const GRACE: Duration = Duration::from_secs(24 * 60 * 60);

/// A store with the tables of the pair, and a healthy mover.
struct World<'s> {
    store: &'s TestStore,
    mover: Mover,
}

impl<'s> World<'s> {
    async fn new(store: &'s TestStore) -> Self {
        let mover = mover(&store.tables, &store.queues).await.unwrap();
        let world = Self { store, mover };
        world.staff().create_if_missing().await.unwrap();
        world
    }

    /// Two employees, of whom the first manages a department in each region, and one that nobody manages.
    async fn prepared(store: &'s TestStore) -> Self {
        let world = Self::new(store).await;
        let staff = world.staff();
        for (id, name) in [(1, "Jo"), (2, "Al")] {
            staff.insert(&employee(id, name)).await.unwrap();
        }
        for (region, name, manager) in [("north", "Sales", Some(1)), ("south", "Sales", Some(1)), ("south", "IT", None)]
        {
            staff.insert_target(&department(region, name, manager)).await.unwrap();
        }
        world
    }

    fn staff(&self) -> Denormalized<Department> {
        staff(&self.store.tables, &self.mover).unwrap()
    }

    /// Lets every wait pass and works until the queue is empty.
    async fn settle(&self) {
        settle(self.store, &self.mover).await;
    }

    async fn employees(&self) -> Vec<Employee> {
        all(&self.store.tables, "Employees").await
    }

    async fn departments(&self) -> Vec<Department> {
        all(&self.store.tables, "Departments").await
    }

    /// Checks that every copy is what its source says, that every index is, and that nothing else is there.
    async fn assert_consistent(&self) {
        let (employees, departments) = (self.employees().await, self.departments().await);
        for department in &departments {
            let manager = employees.iter().find(|employee| Some(employee.id) == department.manager);
            assert_eq!(department.manager_name, manager.map(|manager| manager.name.clone()), "{department:?}");
        }
        let staff = self.staff();
        let report = staff.verify(self.now()).await.unwrap();
        assert!(report.is_clean() && report.in_flight == 0, "{report}: {:#?}", report.findings);
        let report = Indexed::<Department>::new(staff.table().clone()).unwrap().verify(self.now()).await.unwrap();
        assert!(report.is_clean() && report.in_flight == 0, "{report}: {:#?}", report.findings);
        assert_eq!(report.rows, 2 * departments.len() as u64 - unmanaged(&departments), "nothing else is there");
        let sources = Indexed::<Employee>::kept_by(staff.sources().clone(), &self.mover).unwrap();
        let report = sources.verify(self.now()).await.unwrap();
        assert!(report.is_clean() && report.in_flight == 0, "{report}: {:#?}", report.findings);
        assert_eq!(report.rows, 2 * employees.len() as u64, "nothing else is there");
    }

    /// Maintenance by the store's own clock.
    fn now(&self) -> MaintenanceOptions {
        MaintenanceOptions::default().with_clock(self.store.clock.clone())
    }
}

/// Departments that an index on their manager's name leaves out.
fn unmanaged(departments: &[Department]) -> u64 {
    departments.iter().filter(|department| department.manager_name.is_none()).count() as u64
}

async fn all<E: Entity>(tables: &Arc<dyn TableStore>, name: &str) -> Vec<E> {
    let table = Table::new(Arc::clone(tables), name).unwrap();
    let all = table.all(Query::<E>::all().allow_scan()).await.unwrap();
    all.into_iter().map(Versioned::into_value).collect()
}

/// Lets every wait pass and works until the queue is empty: first what is due, then what is collected.
async fn settle(store: &TestStore, mover: &Mover) {
    for _ in 0..20 {
        store.clock.advance(HIDDEN);
        mover.run_due().await.unwrap();
    }
    for _ in 0..20 {
        store.clock.advance(GRACE);
        mover.run_due().await.unwrap();
        if mover.progress().await.unwrap().queued == 0 {
            break;
        }
    }
    assert_eq!(mover.progress().await.unwrap().queued, 0);
    assert_eq!(mover.poisoned().await.unwrap(), []);
}

fn tables(tables: &Arc<dyn TableStore>) -> Result<(Table, Table)> {
    Ok((Table::new(Arc::clone(tables), "Employees")?, Table::new(Arc::clone(tables), "Departments")?))
}

async fn mover(stores: &Arc<dyn TableStore>, queues: &Arc<dyn QueueStore>) -> Result<Mover> {
    let (sources, targets) = tables(stores)?;
    let builder = Mover::builder(Arc::clone(queues), "moves")?;
    builder.keep_copies::<Department>(&sources, &targets).keep_indexes::<Employee>(&sources).build().await
}

fn staff(stores: &Arc<dyn TableStore>, mover: &Mover) -> Result<Denormalized<Department>> {
    let (sources, targets) = tables(stores)?;
    Denormalized::kept_by(sources, targets, mover)
}

fn patient() -> UpdateOptions {
    UpdateOptions::default().with_attempts(500)
}
