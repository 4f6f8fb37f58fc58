//! Lists of several types and tables, in one place and under one name.

use std::sync::Arc;

use object_store::memory::InMemory;
use table_core::{Entity, ErrorKind, PartitionKey, Result, Table};
use table_patterns::IndexEntities;
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::index_entities::{ListBlobs, ListPlace};
use table_patterns::maintenance::{Maintained, MaintenanceOptions};
use table_tests::pattern::{TestStore, memory, our_stores, rows};

use super::{Employee, GRACE, HIDDEN, NO_BLOBS, World, employee, key};

/// Lives beside the employees, and has lists of the same names.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "contractor_{id:06}")]
struct Contractor {
    department: String,
    id: u32,
    last_name: String,
    city: String,
}

fn contractor(id: u32) -> Contractor {
    Contractor { department: "Sales".into(), id, last_name: "Jones".into(), city: "Berlin".into() }
}

/// The same three lists for a type and a table: beside, in a partition of its own, and in a table for all.
fn lists_of<E: Entity>(table: &Table, blobs: &ListBlobs, values: [fn(&E) -> Option<String>; 2]) -> IndexEntities<E> {
    let [last_name, city] = values;
    IndexEntities::new(table.clone())
        .list("last_name", last_name)
        .list_at(ListPlace::partition(), "town", city)
        .list_at(ListPlace::table("Lists"), "city", city)
        .with_blobs(blobs.clone())
}

fn of_employees(table: &Table, blobs: &ListBlobs) -> IndexEntities<Employee> {
    lists_of(table, blobs, [|each| Some(each.last_name.clone()), |each| Some(each.city.clone())])
}

fn of_contractors(table: &Table, blobs: &ListBlobs) -> IndexEntities<Contractor> {
    lists_of(table, blobs, [|each| Some(each.last_name.clone()), |each| Some(each.city.clone())])
}

/// Employees and contractors in one table, and employees in another.
struct Neighbours<'s> {
    store: &'s TestStore,
    mover: Mover,
    employees: IndexEntities<Employee>,
    contractors: IndexEntities<Contractor>,
    former: IndexEntities<Employee>,
}

impl<'s> Neighbours<'s> {
    async fn new(store: &'s TestStore, blobs: &ListBlobs) -> Result<Self> {
        let table = Table::new(store.tables.clone(), "Staff")?;
        let employees = of_employees(&table, blobs);
        let contractors = of_contractors(&table, blobs);
        let former = of_employees(&table.sibling("Former")?, blobs);
        let builder = Mover::builder(store.queues.clone(), "moves")?;
        let mover = builder.keep_lists(&employees).keep_lists(&contractors).keep_lists(&former).build().await?;
        let (employees, contractors, former) =
            (employees.kept_by(&mover)?, contractors.kept_by(&mover)?, former.kept_by(&mover)?);
        employees.create_if_missing().await?;
        former.create_if_missing().await?;
        Ok(Self { store, mover, employees, contractors, former })
    }

    async fn settle(&self) -> Result<()> {
        for wait in [HIDDEN, GRACE, GRACE, GRACE] {
            self.store.clock.advance(wait);
            self.mover.run_due().await?;
        }
        assert_eq!(self.mover.progress().await?.queued, 0);
        Ok(())
    }

    /// Checks that everybody finds its own, and that maintenance has nothing to say.
    async fn assert_found(&self, [employees, contractors, former]: [usize; 3]) -> Result<()> {
        let sales = PartitionKey::new("Sales")?;
        for (found, expected) in [
            (self.employees.find(&sales, "last_name", "Jones").await?.len(), employees),
            (self.contractors.find(&sales, "last_name", "Jones").await?.len(), contractors),
            (self.former.find(&sales, "last_name", "Jones").await?.len(), former),
        ] {
            assert_eq!(found, expected);
        }
        for list in ["town", "city"] {
            assert_eq!(self.employees.keys_across(list, "Berlin").await?.len(), employees);
            assert_eq!(self.contractors.keys_across(list, "Berlin").await?.len(), contractors);
            assert_eq!(self.former.keys_across(list, "Berlin").await?.len(), former);
        }
        let now = || MaintenanceOptions::default().with_clock(self.store.clock.clone());
        for report in [
            self.employees.verify(now()).await?,
            self.contractors.verify(now()).await?,
            self.former.verify(now()).await?,
        ] {
            assert!(report.is_clean(), "{:#?}", report.findings);
        }
        for report in [
            self.employees.verify_blobs().await?,
            self.contractors.verify_blobs().await?,
            self.former.verify_blobs().await?,
        ] {
            assert!(report.is_clean(), "{report:#?}");
        }
        Ok(())
    }
}

async fn assert_apart(above: usize) -> Result<()> {
    for store in &our_stores() {
        // With one prefix for all, blobs are told apart by more than that.
        let blobs = ListBlobs::new(Arc::new(InMemory::new())).with_above_bytes(above).with_prefix("all")?;
        let staff = Neighbours::new(store, &blobs).await?;
        for id in [1, 3] {
            staff.employees.insert(&employee(id)).await?;
            staff.former.insert(&employee(id)).await?;
        }
        staff.contractors.insert(&contractor(1)).await?;
        staff.settle().await?;
        staff.assert_found([2, 1, 2]).await?;

        staff.employees.delete(key(1)).await?;
        staff.settle().await?;
        staff.assert_found([1, 1, 2]).await?;
        staff.contractors.delete(Contractor::key("Sales", 1)).await?;
        staff.former.update(key(3), |jones| jones.city = "Bonn".into()).await?;
        staff.former.update(key(3), |jones| jones.city = "Berlin".into()).await?;
        staff.settle().await?;
        staff.assert_found([1, 0, 2]).await?;
        for id in [1, 3] {
            staff.employees.delete(key(id)).await?;
            staff.former.delete(key(id)).await?;
        }
        staff.settle().await?;
        for table in ["Staff", "Former", "Lists"] {
            assert_eq!(rows(&staff.employees.table().sibling(table)?).await, [], "{table}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn lists_of_two_types_and_two_tables_share_no_row() -> Result<()> {
    assert_apart(NO_BLOBS).await
}

#[tokio::test]
async fn lists_of_two_types_and_two_tables_share_no_blob() -> Result<()> {
    assert_apart(0).await
}

#[tokio::test]
async fn two_lists_of_one_name_are_refused_before_anything_is_read_or_written() -> Result<()> {
    let store = memory();
    let world = World::new(&store, 0).await;
    let doubled = || {
        IndexEntities::<Employee>::new(world.table.clone())
            .list("city", |employee: &Employee| Some(employee.city.clone()))
            .list_at(ListPlace::partition(), "city", |employee| employee.team.clone())
    };
    let now = MaintenanceOptions::default;
    for error in [
        doubled().kept_by(&world.mover).unwrap_err(),
        doubled().kept_elsewhere(&world.mover).unwrap_err(),
        doubled().create_if_missing().await.unwrap_err(),
        doubled().insert(&employee(1)).await.unwrap_err(),
        doubled().update(key(1), |_| ()).await.unwrap_err(),
        doubled().delete(key(1)).await.unwrap_err(),
        doubled().keys(&PartitionKey::new("Sales")?, "city", "Berlin").await.unwrap_err(),
        doubled().find_across("city", "Berlin").await.unwrap_err(),
        doubled().verify(now()).await.unwrap_err(),
        doubled().build(now()).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::InvalidName);
        assert!(error.message().contains("two lists of Employee are called city"), "{error}");
    }
    assert_eq!(rows(&world.table).await, []);
    Ok(())
}

/// The rows of a list that stood beside its entities hold other lines than those of one elsewhere, and the other way round.
#[tokio::test]
async fn a_list_that_stands_elsewhere_by_now_is_verified_there() -> Result<()> {
    for (from, to) in [(ListPlace::beside(), ListPlace::partition()), (ListPlace::partition(), ListPlace::beside())] {
        let store = memory();
        let table = Table::new(store.tables.clone(), "Staff")?;
        let at = |place| {
            IndexEntities::<Employee>::new(table.clone()).list_at(place, "city", |each| Some(each.city.clone()))
        };
        let mover = async |place| Mover::builder(store.queues.clone(), "moves")?.keep_lists(&at(place)).build().await;
        let old = at(from).kept_by(&mover(from).await?)?;
        old.create_if_missing().await?;
        old.insert(&employee(1)).await?;
        let lists = at(to).kept_by(&mover(to).await?)?;
        let now = || MaintenanceOptions::default().with_clock(store.clock.clone());
        assert_eq!(lists.build(now()).await?.written, 1, "{from} to {to}");
        assert_eq!(lists.verify(now()).await?.findings, [], "{from} to {to}");
    }
    Ok(())
}
