use std::sync::Arc;

use bytes::Bytes;
use table_core::{Entity, ErrorKind, Flatten, MemoryStore, Result, Table};
use table_patterns::{Indexed, IndexedTransaction};
use table_tests::pattern::{Altered, behind, rows, stores, three_attempts};

use super::{Employee, assert_holds, employee, indexed};

#[tokio::test]
async fn a_unique_index_refuses_a_second_owner_by_name() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let employees = indexed(&table);
        let (first, mut second) = (employee(1, "Jones"), employee(2, "Jones"));
        employees.insert(&first).await?;
        second.email.clone_from(&first.email);
        let error = employees.insert(&second).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert!(error.to_string().contains("unique index email"), "{error}");

        employees.insert(&employee(2, "Jones")).await?;
        let mut read = employees.require(Employee::key("Sales", 2)).await?;
        read.email.clone_from(&first.email);
        let error = employees.replace(&mut read).await.unwrap_err();
        assert!(error.to_string().contains("unique index email"), "{error}");
        let error = employees.upsert(&second).await.unwrap_err();
        assert!(error.to_string().contains("unique index email"), "{error}");
        assert_holds(&table, &[first, employee(2, "Jones")]).await;
    }
    Ok(())
}

#[tokio::test]
async fn a_write_is_for_the_version_that_was_read() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let employees = indexed(&table);
        employees.insert(&employee(1, "Jones")).await?;
        let mut stale = employees.require(Employee::key("Sales", 1)).await?;
        employees.update(Employee::key("Sales", 1), |jones| jones.age += 1).await?;
        stale.last_name = "Smith".into();
        assert_eq!(employees.replace(&mut stale).await.unwrap_err().kind(), ErrorKind::PreconditionFailed);
        assert_eq!(employees.delete(&stale).await.unwrap_err().kind(), ErrorKind::PreconditionFailed);
        assert_eq!(employees.insert(&employee(1, "Jones")).await.unwrap_err().kind(), ErrorKind::AlreadyExists);
        let missing = employees.update(Employee::key("Sales", 2), |_| ()).await.unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
        assert_holds(&table, &[Employee { age: 41, ..employee(1, "Jones") }]).await;
    }
    Ok(())
}

#[tokio::test]
async fn a_change_that_refuses_ends_the_update() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let employees = indexed(&table);
        employees.insert(&employee(1, "Jones")).await?;
        let refused = employees.try_update(Employee::key("Sales", 1), |jones| {
            jones.age = 200;
            Err(table_core::Error::invalid_value("too old"))
        });
        assert_eq!(refused.await.unwrap_err().kind(), ErrorKind::InvalidValue);
        let moved = employees.update(Employee::key("Sales", 1), |jones| jones.id = 2).await.unwrap_err();
        assert_eq!(moved.kind(), ErrorKind::InvalidKey);
        assert_holds(&table, &[employee(1, "Jones")]).await;
    }
    Ok(())
}

#[tokio::test]
async fn the_loop_gives_up_after_its_bound() -> Result<()> {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        indexed(&table).insert(&employee(1, "Jones")).await?;
        let rival = Altered::with_rival(Arc::clone(table.store()));
        let outpaced = behind(&table, rival);
        let employees = indexed(&outpaced).with_options(three_attempts());
        let before = meter.report();
        let error = employees.update(Employee::key("Sales", 1), |jones| jones.age = 0).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Contention);
        assert_eq!((meter.report() - before).operation("transact").failures, 3);
        let error = employees.delete_by_key(Employee::key("Sales", 1)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Contention);
        assert_eq!(employees.upsert(&employee(1, "Smith")).await.unwrap_err().kind(), ErrorKind::Contention);
        assert_holds(&table, &[employee(1, "Jones")]).await;
    }
    Ok(())
}

#[derive(Entity, Clone, Debug)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(directory, table = "Directory", partition = "{email}", row = "", include())]
struct Listed {
    department: String,
    id: u32,
    email: String,
}

#[tokio::test]
async fn an_index_elsewhere_is_refused_with_what_it_needs() -> Result<()> {
    let table = Table::new(Arc::new(MemoryStore::new()), "Listed")?;
    let error = Indexed::<Listed>::new(table).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("directory") && error.message().contains("a queue and a worker"));
    Ok(())
}

#[tokio::test]
async fn a_range_by_an_index_needs_a_store_with_order() -> Result<()> {
    let unordered = Arc::new(Altered::without_order(Arc::new(MemoryStore::new())));
    let error = Indexed::<Employee>::new(Table::new(unordered, "Employees")?).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("the index last_name of Employee"));
    Ok(())
}

/// An entity with an index for each field, all of which change at once.
macro_rules! much_indexed {
    ($($field:ident $row:tt)*) => {
        #[derive(Entity, Clone, Debug)]
        #[entity(partition = "p", row = "{id}")]
        $(#[index($field, row = $row, include())])*
        struct MuchIndexed {
            id: u32,
            $($field: u8,)*
        }

        fn much_indexed(value: u8) -> MuchIndexed {
            MuchIndexed { id: 1, $($field: value,)* }
        }
    };
}

much_indexed! {
    a0 "a0_{a0}_{id}" a1 "a1_{a1}_{id}" a2 "a2_{a2}_{id}" a3 "a3_{a3}_{id}" a4 "a4_{a4}_{id}"
    b0 "b0_{b0}_{id}" b1 "b1_{b1}_{id}" b2 "b2_{b2}_{id}" b3 "b3_{b3}_{id}" b4 "b4_{b4}_{id}"
    c0 "c0_{c0}_{id}" c1 "c1_{c1}_{id}" c2 "c2_{c2}_{id}" c3 "c3_{c3}_{id}" c4 "c4_{c4}_{id}"
    d0 "d0_{d0}_{id}" d1 "d1_{d1}_{id}" d2 "d2_{d2}_{id}" d3 "d3_{d3}_{id}" d4 "d4_{d4}_{id}"
}

#[tokio::test]
async fn more_than_a_hundred_rows_are_refused_with_their_count_before_anything_is_written() -> Result<()> {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        let all: Vec<MuchIndexed> = (1..=5).map(|id| MuchIndexed { id, ..much_indexed(1) }).collect();
        let many = all.iter().fold(IndexedTransaction::new(&table), IndexedTransaction::insert);
        let error = many.commit().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.message().contains("105 operations"), "{error}");
        assert_eq!(meter.report().total().transactions, 0);

        let fits = all.iter().take(4).fold(IndexedTransaction::new(&table), IndexedTransaction::insert);
        assert_eq!(fits.commit().await?.len(), 4);
        let mut read = table.require(MuchIndexed::key(1)).await?;
        *read = much_indexed(2);
        Indexed::new(table.clone())?.replace(&mut read).await?;
        assert_eq!(rows(&table).await.len(), 84);
    }
    Ok(())
}

/// Copies of everything, so that a write takes three times the entity.
#[derive(Entity, Clone, Debug)]
#[entity(partition = "p", row = "{id}")]
#[index(first, row = "first_{id}")]
#[index(second, row = "second_{id}")]
struct Heavy {
    id: u32,
    #[entity(flatten)]
    scans: Scans,
}

#[derive(Flatten, Clone, Debug)]
struct Scans {
    front: Bytes,
    back: Bytes,
    left: Bytes,
    right: Bytes,
}

#[tokio::test]
async fn more_than_four_mebibytes_are_refused_with_their_count_before_anything_is_written() -> Result<()> {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        let side = || Bytes::from(vec![7_u8; 64 * 1024]);
        let heavy = |id| Heavy { id, scans: Scans { front: side(), back: side(), left: side(), right: side() } };
        let all: Vec<Heavy> = (0..6).map(heavy).collect();
        let error = all.iter().fold(IndexedTransaction::new(&table), IndexedTransaction::insert).commit().await;
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.message().contains("this one takes 47"), "{error}");
        assert_eq!(meter.report().total().transactions, 0);
        assert_eq!(rows(&table).await.len(), 0);
    }
    Ok(())
}
