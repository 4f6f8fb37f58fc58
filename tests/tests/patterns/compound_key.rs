//! Heads and their parts under one key prefix.

use std::sync::Arc;

use table_core::{Entity, ErrorKind, Query, Result, Table};
use table_patterns::Compound;
use table_tests::pattern::{Altered, Costs, Faults, TASKS, behind, contend, rows, stores, three_attempts};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(email, row = "email_{email}", include())]
struct Employee {
    department: String,
    id: u32,
    email: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}_{year:04}")]
struct Review {
    department: String,
    id: u32,
    year: u16,
    rating: i32,
}

fn employee(id: u32) -> Employee {
    Employee { department: "Sales".into(), id, email: format!("e{id}@contoso.com") }
}

fn review(id: u32, year: u16) -> Review {
    Review { department: "Sales".into(), id, year, rating: i32::from(year % 5) }
}

fn families(table: &Table) -> Compound<Employee, Review> {
    Compound::new(table.clone()).unwrap()
}

async fn two(table: Table) {
    for id in [12, 123] {
        families(&table).insert(&employee(id), &[review(id, 2011), review(id, 2012)]).await.unwrap();
    }
}

#[tokio::test]
async fn a_family_is_read_whole_and_alone() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        two(table.clone()).await;
        let employees = families(&table);
        let family = employees.get(Employee::key("Sales", 12)).await?.unwrap();
        assert_eq!(*family.head, employee(12));
        let parts: Vec<Review> = family.parts.into_iter().map(table_core::Versioned::into_value).collect();
        assert_eq!(parts, [review(12, 2011), review(12, 2012)]);
        assert!(employees.get(Employee::key("Sales", 1)).await?.is_none());

        let years = Review::range("Sales").id(123).year_range(2012..=2020);
        assert_eq!(table.all(years).await?.len(), 1);
        assert_eq!(table.require(Review::key("Sales", 123, 2011)).await?.rating, 1);
        // Each type finds its own rows, although the keys of one begin with those of the other.
        assert_eq!(table.all(Employee::range("Sales")).await?.len(), 2);
        assert_eq!(table.all(Review::range("Sales")).await?.len(), 4);
    }
    Ok(())
}

#[tokio::test]
async fn a_part_needs_its_head_and_goes_with_it() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        two(table.clone()).await;
        let employees = families(&table);
        assert_eq!(employees.add(&review(7, 2013)).await.unwrap_err().kind(), ErrorKind::NotFound);
        let etag = employees.add(&review(12, 2013)).await?;
        assert_eq!(*table.require(Review::key("Sales", 12, 2013)).await?.etag(), etag);
        assert_eq!(employees.add(&review(12, 2013)).await.unwrap_err().kind(), ErrorKind::AlreadyExists);
        let error = employees.insert(&employee(5), &[review(6, 2013)]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidKey);

        let stale = employees.get(Employee::key("Sales", 12)).await?.unwrap();
        employees.add(&review(12, 2014)).await?;
        assert_eq!(employees.delete(&stale).await.unwrap_err().kind(), ErrorKind::PreconditionFailed);
        assert!(employees.delete_by_key(Employee::key("Sales", 12)).await?);
        assert!(!employees.delete_by_key(Employee::key("Sales", 12)).await?);
        // The other family and its index copy are all that is left.
        assert_eq!(rows(&table).await.len(), 4);
    }
    Ok(())
}

#[tokio::test]
async fn each_operation_takes_the_storage_transactions_that_the_page_says() {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        let mut costs = Costs::of("compound_key", &meter);
        let employees = families(&table);
        costs.count("insert with parts", employees.insert(&employee(1), &[review(1, 2011)])).await;
        costs.count("add", employees.add(&review(1, 2012))).await;
        costs.count("get with all parts", employees.get(Employee::key("Sales", 1))).await;
        let family = employees.get(Employee::key("Sales", 1)).await.unwrap().unwrap();
        costs.count("delete", employees.delete(&family)).await;
        employees.insert(&employee(1), &[review(1, 2011)]).await.unwrap();
        costs.count("delete_by_key", employees.delete_by_key(Employee::key("Sales", 1))).await;
        costs.are_documented();
    }
}

#[derive(Entity)]
#[entity(partition = "{department}", row = "name_{name}")]
struct Named {
    department: String,
    name: String,
}

#[derive(Entity)]
#[entity(partition = "{department}", row = "name_{name}_{year:04}")]
struct NamedReview {
    department: String,
    name: String,
    year: u16,
}

#[tokio::test]
async fn keys_that_do_not_belong_together_are_refused() {
    for store in &stores() {
        let table = store.table().await;
        for error in [
            Compound::<Review, Employee>::new(table.clone()).unwrap_err(),
            Compound::<Employee, Employee>::new(table.clone()).unwrap_err(),
            Compound::<Named, NamedReview>::new(table.clone()).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::InvalidKey);
        }
    }
}

#[tokio::test]
async fn the_loop_gives_up_after_its_bound() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        two(table.clone()).await;
        let before = rows(&table).await;
        let rival = Altered::with_rival(Arc::clone(table.store()));
        let outpaced = families(&behind(&table, rival));
        let outpaced = outpaced.with_options(three_attempts());
        let error = outpaced.delete_by_key(Employee::key("Sales", 12)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Contention);
        assert_eq!(rows(&table).await, before);
    }
    Ok(())
}

#[tokio::test]
async fn a_fault_at_any_call_leaves_the_old_or_the_new_state() {
    let state = async |table: Table| rows(&table).await;
    let insert = async |table: Table| families(&table).insert(&employee(1), &[review(1, 2011)]).await.map(|_| ());
    assert_eq!(Faults { prepare: two, act: insert, state }.everywhere().await.undecided, 0);
    let add = async |table: Table| families(&table).add(&review(12, 2013)).await.map(|_| ());
    assert_eq!(Faults { prepare: two, act: add, state }.everywhere().await.undecided, 0);
    // A deletion leaves no row that could tell whose it was.
    let delete = async |table: Table| families(&table).delete_by_key(Employee::key("Sales", 12)).await.map(|_| ());
    assert_eq!(Faults { prepare: two, act: delete, state }.everywhere().await.undecided, 1);
}

/// Half of the tasks add parts while the others delete the family: no part is left without its head.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_part_is_left_without_its_head() -> Result<()> {
    for store in &stores() {
        let table = contend(store, two, |task, table| async move {
            let employees = families(&table);
            for round in 0..5 {
                let result = match task % 4 {
                    0 => employees.delete_by_key(Employee::key("Sales", 12)).await.map(|_| ()),
                    1 => employees.insert(&employee(12), &[review(12, 2000)]).await.map(|_| ()),
                    _ => employees.add(&review(12, 1000 + u16::try_from(task * 10 + round).unwrap())).await.map(|_| ()),
                };
                match result {
                    Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) => {
                        return Err(error);
                    }
                    _ => {}
                }
            }
            Ok(())
        })
        .await;
        let reviews = table.all(Query::<Review>::all().allow_scan()).await?;
        let orphans = reviews.iter().filter(|review| review.id == 12).count();
        match families(&table).get(Employee::key("Sales", 12)).await? {
            Some(family) => assert_eq!(family.parts.len(), orphans),
            None => assert_eq!(orphans, 0),
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_part_is_lost() -> Result<()> {
    for store in &stores() {
        let table = contend(store, two, |task, table| async move {
            for round in 0..5 {
                families(&table).add(&review(12, u16::try_from(3000 + task * 10 + round).unwrap())).await?;
            }
            Ok(())
        })
        .await;
        let family = families(&table).get(Employee::key("Sales", 12)).await?.unwrap();
        assert_eq!(family.parts.len(), usize::try_from(2 + TASKS * 5).unwrap());
    }
    Ok(())
}

#[tokio::test]
async fn more_parts_than_a_transaction_writes_are_refused_with_their_count() -> Result<()> {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        let employees = families(&table);
        let parts: Vec<Review> = (0..99).map(|year| review(1, 2000 + year)).collect();
        // The head, its copy by email, and the parts.
        let error = employees.insert(&employee(1), &parts).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.message().contains("101 operations"), "{error}");
        assert_eq!(meter.report().total().transactions, 0);

        employees.insert(&employee(1), &parts[..98]).await?;
        employees.add(&parts[98]).await?;
        let before = meter.report();
        let error = employees.delete_by_key(Employee::key("Sales", 1)).await.unwrap_err();
        assert!(error.message().contains("101 operations"), "{error}");
        assert_eq!((meter.report() - before).total().entities_written, 0);
        assert_eq!(employees.get(Employee::key("Sales", 1)).await?.unwrap().parts.len(), 99);
    }
    Ok(())
}
