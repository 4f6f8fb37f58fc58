//! A new version of a program is rolled out beside the old one: what the new one sends reaches processes of the old.

use std::sync::Arc;
use std::time::Duration;

use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan};
use table_core::{Entity, Error, ErrorKind, ManualClock, MemoryStore, Query, Table};
use table_patterns::eventually_consistent_transactions::{Mover, MoverBuilder};
use table_patterns::index_entities::ListPlace;
use table_patterns::{IndexEntities, Indexed};
use table_tests::stores::memory_store;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(name = "Employee", partition = "{department}", row = "{id:06}")]
struct Old {
    department: String,
    id: u32,
    email: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(name = "Employee", partition = "{department}", row = "{id:06}")]
#[index(address, table = "ByEmail", partition = "{email}", row = "{department}_{id:06}", include())]
struct New {
    department: String,
    id: u32,
    email: String,
}

fn jo() -> New {
    New { department: "Sales".into(), id: 1, email: "jo@contoso.com".into() }
}

/// The employees in a store that fails from this call on.
fn dying(store: &MemoryStore, call: u64) -> Table {
    let plan = FaultPlan::new(FaultOptions::default().with_death(call, FaultMoment::Before));
    Table::new(Arc::new(Fault::new(store.clone(), plan)), "Employees").unwrap()
}

fn builder(store: &MemoryStore) -> MoverBuilder {
    Mover::builder(Arc::new(store.clone()), "moves").unwrap()
}

/// Runs what is due again and again, and says how much of it was unhandled.
async fn work(mover: &Mover, clock: &ManualClock) -> u64 {
    for _ in 0..10 {
        clock.advance(Duration::from_secs(600));
        mover.run_due().await.unwrap();
    }
    assert_eq!(mover.poisoned().await.unwrap(), []);
    mover.progress().await.unwrap().unhandled
}

async fn tables(store: &MemoryStore) -> Table {
    let table = Table::new(Arc::new(store.clone()), "Employees").unwrap();
    table.create().await.unwrap();
    table.sibling("ByEmail").unwrap().create().await.unwrap();
    table
}

#[tokio::test(start_paused = true)]
async fn an_old_worker_leaves_the_rows_of_a_new_index_alone() {
    let (store, clock) = memory_store();
    let table = tables(&store).await;
    let new = builder(&store).keep_indexes::<New>(&table).build().await.unwrap();
    let old = builder(&store).keep_indexes::<Old>(&table).build().await.unwrap();
    // Its index row is left to a worker.
    Indexed::<New>::kept_by(dying(&store, 2), &new).unwrap().insert(&jo()).await.unwrap();
    let employees = Indexed::<New>::kept_by(table.clone(), &new).unwrap();
    let found = async || !employees.all(New::by_address("jo@contoso.com").allow_scan()).await.unwrap().is_empty();

    assert_eq!(work(&old, &clock).await, 10);
    assert!(!found().await && employees.get(New::key("Sales", 1)).await.unwrap().is_some());
    let copies = table.sibling("ByEmail").unwrap();
    assert!(copies.all(Query::<table_core::DynamicEntity>::all().allow_scan()).await.unwrap().is_empty());
    assert_eq!(work(&new, &clock).await, 0);
    assert!(found().await);
}

#[tokio::test(start_paused = true)]
async fn an_old_worker_leaves_a_new_list_alone() {
    let (store, clock) = memory_store();
    let table = tables(&store).await;
    let lists = |table: &Table| {
        IndexEntities::<Old>::new(table.clone())
            .list_at(ListPlace::partition(), "email", |employee| Some(employee.email.clone()))
    };
    let new = builder(&store).keep_lists(&lists(&table)).build().await.unwrap();
    let old = builder(&store).keep_lists(&IndexEntities::<Old>::new(table.clone())).build().await.unwrap();
    let jo = Old { department: "Sales".into(), id: 1, email: "jo@contoso.com".into() };
    // It reads the list, commits, and dies.
    lists(&dying(&store, 3)).kept_by(&new).unwrap().insert(&jo).await.unwrap();
    let employees = lists(&table).kept_by(&new).unwrap();
    let found = async || employees.find_across("email", "jo@contoso.com").await.unwrap().len();

    assert_eq!((work(&old, &clock).await, found().await), (10, 0));
    assert_eq!((work(&new, &clock).await, found().await), (0, 1));
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(name = "Employee", version = 2, partition = "{department}", row = "{id:06}", upgrade_from(New))]
#[index(address, table = "ByEmail", partition = "{email}", row = "{department}_{id:06}", include())]
struct Second {
    department: String,
    id: u32,
    email: String,
    phone: String,
}

impl From<New> for Second {
    fn from(New { department, id, email }: New) -> Self {
        Self { department, id, email, phone: String::new() }
    }
}

#[tokio::test(start_paused = true)]
async fn an_old_worker_leaves_an_entity_of_a_newer_version_alone() {
    let (store, clock) = memory_store();
    let table = tables(&store).await;
    let new = builder(&store).keep_indexes::<Second>(&table).build().await.unwrap();
    let old = builder(&store).keep_indexes::<New>(&table).build().await.unwrap();
    Indexed::<Second>::kept_by(dying(&store, 2), &new).unwrap().insert(&jo().into()).await.unwrap();
    let employees = Indexed::<Second>::kept_by(table.clone(), &new).unwrap();
    let found = async || employees.all(Second::by_address("jo@contoso.com").allow_scan()).await.unwrap().len();

    assert_eq!((work(&old, &clock).await, found().await), (10, 0));
    assert_eq!((work(&new, &clock).await, found().await), (0, 1));
}

/// A list keeps its name, and stands elsewhere in the new version.
#[tokio::test(start_paused = true)]
async fn an_old_worker_leaves_a_list_alone_that_stands_elsewhere_by_now() {
    let lists = |table: &Table, place| {
        IndexEntities::<Old>::new(table.clone()).list_at(place, "email", |employee| Some(employee.email.clone()))
    };
    for (from, to) in [
        (ListPlace::beside(), ListPlace::partition()),
        (ListPlace::beside(), ListPlace::table("ByEmail")),
        (ListPlace::partition(), ListPlace::table("ByEmail")),
        (ListPlace::table("ByEmail"), ListPlace::partition()),
    ] {
        let (store, clock) = memory_store();
        let table = tables(&store).await;
        let new = builder(&store).keep_lists(&lists(&table, to)).build().await.unwrap();
        let old = builder(&store).keep_lists(&lists(&table, from)).build().await.unwrap();
        let jo = Old { department: "Sales".into(), id: 1, email: "jo@contoso.com".into() };
        lists(&dying(&store, 3), to).kept_by(&new).unwrap().insert(&jo).await.unwrap();
        let employees = lists(&table, to).kept_by(&new).unwrap();
        let found = async || employees.find_across("email", "jo@contoso.com").await.unwrap().len();

        assert_eq!((work(&old, &clock).await, found().await), (10, 0), "{from} to {to}");
        assert_eq!((work(&new, &clock).await, found().await), (0, 1), "{from} to {to}");
    }
}

#[tokio::test(start_paused = true)]
async fn indexes_and_lists_of_one_type_share_what_collects_and_nothing_else() {
    let (store, _) = memory_store();
    let table = tables(&store).await;
    let lists = IndexEntities::<New>::new(table.clone());
    builder(&store).keep_indexes::<New>(&table).keep_lists(&lists).build().await.unwrap();
    let twice = builder(&store).keep_indexes::<New>(&table).keep_indexes::<Old>(&table).build().await;
    let refused = |error: Error| (error.kind(), error.message().contains("table-patterns/index/employees/Employee"));
    assert_eq!(twice.map_err(refused).unwrap_err(), (ErrorKind::AlreadyExists, true));
}
