use futures_util::stream;
use table_core::{ErrorKind, LoadOptions, Result};
use table_tests::pattern::our_stores;

use super::{Employee, World, employee, key};

#[tokio::test]
async fn an_insert_is_found_by_every_index_at_once() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        world.employees().insert(&employee(1)).await?;
        // The writer does all steps itself; the queue holds nothing afterwards.
        assert_eq!(world.mover.progress().await?.queued, 0);
        world.assert_holds(&[employee(1)]).await;
    }
    Ok(())
}

#[tokio::test]
async fn a_load_keeps_every_index() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        let employees = world.employees();
        let staff: Vec<Employee> = (1..20).map(employee).collect();
        let done = employees.load(stream::iter(staff.clone()), LoadOptions::default()).await?;
        assert_eq!(done.entities, 19);
        world.assert_holds(&staff).await;

        let moved: Vec<Employee> =
            staff.into_iter().map(|each| Employee { office: Some("South".into()), ..each }).collect();
        employees.load(stream::iter(moved.clone()), LoadOptions::default()).await?;
        world.settle().await;
        world.assert_holds(&moved).await;
    }
    Ok(())
}

#[tokio::test]
async fn a_changed_field_moves_its_copies_and_leaves_a_tombstone_that_goes() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        let employees = world.employees();
        employees.insert(&employee(1)).await?;
        let mut read = employees.require(key(1)).await?;
        read.email = Some("new@contoso.com".into());
        read.last_name = "Smith".into();
        employees.replace(&mut read).await?;
        assert!(employees.get(Employee::by_directory("e1@contoso.com")).await?.is_none());
        assert_eq!(employees.require(Employee::by_directory("new@contoso.com")).await?.id, 1);
        assert_eq!(world.mover.progress().await?.queued, 1, "the tombstone waits");
        world.settle().await;
        world.assert_holds(&[read.into_value()]).await;
    }
    Ok(())
}

#[tokio::test]
async fn a_field_becomes_none_and_comes_back() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        let employees = world.employees();
        employees.insert(&employee(1)).await?;
        let without = |jones: &mut Employee| (jones.email, jones.office) = (None, None);
        employees.update(key(1), without).await?;
        let with = |jones: &mut Employee| (jones.email, jones.office) = (employee(1).email, employee(1).office);
        employees.update(key(1), with).await?;
        assert_eq!(employees.require(Employee::by_directory("e1@contoso.com")).await?.id, 1);
        world.settle().await;
        world.assert_holds(&[employee(1)]).await;
    }
    Ok(())
}

#[tokio::test]
async fn a_delete_frees_the_unique_value_for_another() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        let employees = world.employees();
        employees.insert(&employee(1)).await?;
        assert!(employees.delete_by_key(key(1)).await?);
        assert!(!employees.delete_by_key(key(1)).await?);
        let heir = Employee { email: employee(1).email, ..employee(2) };
        employees.insert(&heir).await?;
        world.settle().await;
        world.assert_holds(&[heir]).await;
    }
    Ok(())
}

#[tokio::test]
async fn an_entity_can_be_inserted_again_after_its_delete() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        let employees = world.employees();
        for _ in 0..3 {
            employees.insert(&employee(1)).await?;
            employees.delete(&employees.require(key(1)).await?).await?;
        }
        employees.upsert(&employee(1)).await?;
        world.settle().await;
        world.assert_holds(&[employee(1)]).await;
    }
    Ok(())
}

#[tokio::test]
async fn an_upsert_replaces_what_is_there() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        let employees = world.employees();
        employees.upsert(&employee(1)).await?;
        let moved = Employee { email: None, office: Some("South".into()), ..employee(1) };
        let etag = employees.upsert(&moved).await?;
        assert_eq!(*employees.require(key(1)).await?.etag(), etag);
        world.settle().await;
        world.assert_holds(&[moved]).await;
    }
    Ok(())
}

#[tokio::test]
async fn a_copied_field_that_is_no_key_is_copied_again() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        let employees = world.employees();
        employees.insert(&employee(1)).await?;
        employees.update(key(1), |jones| jones.first_name = "Jo".into()).await?;
        assert_eq!(employees.require(Employee::by_directory("e1@contoso.com")).await?.first_name, "Jo");
        world.settle().await;
        world.assert_consistent().await;
    }
    Ok(())
}

/// The rows of other partitions may be older than the index, or written by another program.
#[tokio::test]
async fn an_entity_without_copies_gets_them_when_an_indexed_field_changes() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        let row = table_core::Entity::to_row(&employee(1))?;
        let insert = table_core::Operation::new(table_core::Action::Insert(row))?;
        world.table.store().write(world.table.name(), insert).await?;
        world.employees().update(key(1), |jones| jones.first_name = "Jo".into()).await?;
        world.settle().await;
        world.assert_consistent().await;
    }
    Ok(())
}

#[tokio::test]
async fn two_writers_of_one_version_do_not_both_win() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        let employees = world.employees();
        employees.insert(&employee(1)).await?;
        let (mut mine, mut yours) = (employees.require(key(1)).await?, employees.require(key(1)).await?);
        mine.email = Some("mine@contoso.com".into());
        yours.email = Some("yours@contoso.com".into());
        employees.replace(&mut mine).await?;
        assert_eq!(employees.replace(&mut yours).await.unwrap_err().kind(), ErrorKind::PreconditionFailed);
        assert_eq!(employees.delete(&yours).await.unwrap_err().kind(), ErrorKind::PreconditionFailed);
        // What the loser had claimed is free at once.
        let third = Employee { email: Some("yours@contoso.com".into()), ..employee(3) };
        employees.insert(&third).await?;
        world.settle().await;
        world.assert_holds(&[mine.into_value(), third]).await;
    }
    Ok(())
}
