use table_core::{Entity, Result};
use table_patterns::IndexedTransaction;
use table_tests::pattern::{Costs, stores};

use super::{Employee, assert_holds, employee, indexed};

#[tokio::test]
async fn an_insert_writes_the_entity_and_all_copies() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let jones = employee(1, "Jones");
        let etag = indexed(&table).insert(&jones).await?;
        assert_eq!(*indexed(&table).require(Employee::key("Sales", 1)).await?.etag(), etag);
        assert_holds(&table, &[jones]).await;
    }
    Ok(())
}

#[tokio::test]
async fn a_replace_moves_the_copies_whose_fields_changed() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let employees = indexed(&table);
        employees.insert(&employee(1, "Jones")).await?;
        let mut read = employees.require(Employee::key("Sales", 1)).await?;
        read.last_name = "Smith".into();
        read.first_name = "Jo".into();
        employees.replace(&mut read).await?;
        assert_holds(&table, &[read.value().clone()]).await;

        // What was written is the version to go on from.
        read.email = None;
        employees.replace(&mut read).await?;
        assert_holds(&table, &[read.value().clone()]).await;
        read.email = Some("back@contoso.com".into());
        employees.replace(&mut read).await?;
        assert_holds(&table, &[read.value().clone()]).await;
    }
    Ok(())
}

#[tokio::test]
async fn an_update_changes_what_is_stored() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let employees = indexed(&table);
        employees.insert(&employee(1, "Jones")).await?;
        let updated = employees.update(Employee::key("Sales", 1), |jones| jones.last_name.push('y')).await?;
        assert_eq!(updated.last_name, "Jonesy");
        assert_holds(&table, &[employee(1, "Jonesy")]).await;
    }
    Ok(())
}

#[tokio::test]
async fn an_upsert_inserts_or_replaces() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let employees = indexed(&table);
        employees.upsert(&employee(1, "Jones")).await?;
        assert_holds(&table, &[employee(1, "Jones")]).await;
        let etag = employees.upsert(&employee(1, "Smith")).await?;
        assert_holds(&table, &[employee(1, "Smith")]).await;
        assert_eq!(*employees.require(Employee::key("Sales", 1)).await?.etag(), etag);
    }
    Ok(())
}

#[tokio::test]
async fn a_delete_removes_all_copies() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let employees = indexed(&table);
        for id in [1, 2] {
            employees.insert(&employee(id, "Jones")).await?;
        }
        employees.delete(&employees.require(Employee::key("Sales", 1)).await?).await?;
        assert_holds(&table, &[employee(2, "Jones")]).await;
        assert!(employees.delete_by_key(Employee::key("Sales", 2)).await?);
        assert!(!employees.delete_by_key(Employee::key("Sales", 2)).await?);
        assert_holds(&table, &[]).await;
    }
    Ok(())
}

/// Rows that were written before their type had an index have no copies.
#[tokio::test]
async fn an_entity_without_copies_gets_them_with_the_next_write() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let employees = indexed(&table);
        for id in [1, 2] {
            let row = employee(id, "Jones").to_row()?;
            table.store().write(table.name(), table_core::Operation::new(table_core::Action::Insert(row))?).await?;
        }
        employees.update(Employee::key("Sales", 1), |jones| jones.last_name = "Smith".into()).await?;
        employees.delete_by_key(Employee::key("Sales", 2)).await?;
        assert_holds(&table, &[employee(1, "Smith")]).await;
    }
    Ok(())
}

#[tokio::test]
async fn several_entities_change_together() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let employees = indexed(&table);
        employees.insert(&employee(1, "Jones")).await?;
        let mut first = employees.require(Employee::key("Sales", 1)).await?;
        first.email = None;
        let mut second = employee(2, "Jones");
        second.email = Some("e3@contoso.com".into());
        let written = IndexedTransaction::new(&table).replace(&first).insert(&second).commit().await?;
        assert_eq!(written.len(), 2);
        let read = employees.require(Employee::key("Sales", 2)).await?;
        assert_eq!(written[1].etag.as_ref(), Some(read.etag()));
        assert_holds(&table, &[first.into_value(), second]).await;
    }
    Ok(())
}

#[tokio::test]
async fn each_operation_takes_the_storage_transactions_that_the_page_says() -> Result<()> {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        let mut costs = Costs::of("intra_partition_secondary_index", &meter);
        let employees = indexed(&table);
        let key = || Employee::key("Sales", 1);
        costs.count("insert", employees.insert(&employee(1, "Jones"))).await;
        costs.count("get", employees.get(key())).await;
        costs.count("get by an index", employees.get(Employee::by_email("Sales", "e1@contoso.com"))).await;
        costs.count("all by an index", employees.all(Employee::by_last_name("Sales", "Jones"))).await;
        costs.count("full", employees.full(Employee::by_email("Sales", "e1@contoso.com"))).await;
        costs.count("all_full of 1", employees.all_full(Employee::by_last_name("Sales", "Jones"))).await;
        let mut read = employees.require(key()).await?;
        read.last_name = "Smith".into();
        costs.count("replace", employees.replace(&mut read)).await;
        costs.count("update", employees.update(key(), |smith| smith.age += 1)).await;
        costs.count("upsert of an old one", employees.upsert(&employee(1, "Jones"))).await;
        costs.count("upsert of a new one", employees.upsert(&employee(2, "Jones"))).await;
        costs.count("delete_by_key", employees.delete_by_key(Employee::key("Sales", 2))).await;
        let read = employees.require(key()).await?;
        costs.count("delete", employees.delete(&read)).await;
        costs.are_documented();
    }
    Ok(())
}
