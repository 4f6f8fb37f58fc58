use std::sync::Arc;

use table_core::{ErrorKind, Result};
use table_tests::pattern::{Altered, our_stores};

use super::{Department, World, all, department, department_key, employee, key};

async fn names(world: &World<'_>) -> Vec<Option<String>> {
    world.departments().await.into_iter().map(|department| department.manager_name).collect()
}

fn named(names: &[Option<&str>]) -> Vec<Option<String>> {
    names.iter().map(|name| name.map(str::to_owned)).collect()
}

#[tokio::test]
async fn copies_in_every_partition_follow_their_source_at_once() -> Result<()> {
    for store in &our_stores() {
        let world = World::prepared(store).await;
        assert_eq!(names(&world).await, named(&[Some("Jo"), None, Some("Jo")]));
        let jo = world.staff().update(key(1), |jo| jo.name = "Joanna".into()).await?;
        assert_eq!(names(&world).await, named(&[Some("Joanna"), None, Some("Joanna")]));
        assert_eq!(world.mover.progress().await?.queued, 0, "the writer does all steps itself");
        // What comes back can be written again.
        let stored = world.staff().sources().require(key(1)).await?;
        assert_eq!((stored.etag(), stored.value()), (jo.etag(), jo.value()));
        world.assert_consistent().await;
    }
    Ok(())
}

#[tokio::test]
async fn a_target_takes_the_fields_of_the_source_it_is_pointed_at() -> Result<()> {
    for store in &our_stores() {
        let world = World::prepared(store).await;
        let staff = world.staff();
        let it = staff.update_target(department_key("south", "IT"), |it| it.manager = Some(2)).await?;
        assert_eq!(it.manager_name.as_deref(), Some("Al"));
        let mut it = staff.table().require(department_key("south", "IT")).await?;
        assert_eq!(it.manager_name.as_deref(), Some("Al"));
        it = staff.update_target(department_key("south", "IT"), |it| it.budget += 7).await?;
        assert_eq!((it.budget, it.manager_name.as_deref()), (7, Some("Al")));
        staff.update_target(department_key("south", "IT"), |it| it.manager = None).await?;
        assert_eq!(names(&world).await, named(&[Some("Jo"), None, Some("Jo")]));
        assert_eq!(world.mover.progress().await?.queued, 0);
        world.assert_consistent().await;
    }
    Ok(())
}

#[tokio::test]
async fn a_deleted_source_leaves_its_copies_and_comes_back() -> Result<()> {
    for store in &our_stores() {
        let world = World::prepared(store).await;
        let staff = world.staff();
        assert!(staff.delete(key(1)).await?);
        assert!(!staff.delete(key(1)).await?);
        assert_eq!(names(&world).await, named(&[None, None, None]));
        world.settle().await;
        world.assert_consistent().await;
        // A target can be changed that names nobody who is there.
        staff.update_target(department_key("north", "Sales"), |sales| sales.budget = 1).await?;
        staff.insert(&employee(1, "Jo again")).await?;
        assert_eq!(names(&world).await, named(&[Some("Jo again"), None, Some("Jo again")]));
        world.settle().await;
        world.assert_consistent().await;
    }
    Ok(())
}

#[tokio::test]
async fn a_change_that_no_copy_shows_leaves_the_targets_alone() -> Result<()> {
    for store in &our_stores() {
        let world = World::prepared(store).await;
        let sales = || world.staff().table().clone();
        let before = sales().require(department_key("north", "Sales")).await?;
        world.staff().update(key(1), |jo| jo.age += 1).await?;
        assert_eq!(sales().require(department_key("north", "Sales")).await?.etag(), before.etag());
        world.staff().update(key(1), |jo| jo.name.push('y')).await?;
        assert_ne!(sales().require(department_key("north", "Sales")).await?.etag(), before.etag());
        world.assert_consistent().await;
    }
    Ok(())
}

#[tokio::test]
async fn what_is_not_there_is_refused_and_leaves_nothing() -> Result<()> {
    for store in &our_stores() {
        let world = World::prepared(store).await;
        let staff = world.staff();
        let lost = staff.insert_target(&department("north", "New", Some(9))).await.unwrap_err();
        assert_eq!(lost.kind(), ErrorKind::NotFound);
        let to_nobody = staff.update_target(department_key("south", "IT"), |it| it.manager = Some(9)).await;
        assert_eq!(to_nobody.unwrap_err().kind(), ErrorKind::NotFound);
        let nowhere = staff.update_target(department_key("south", "No"), |it| it.manager = Some(1)).await;
        assert_eq!(nowhere.unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(staff.update(key(9), |_| ()).await.unwrap_err().kind(), ErrorKind::NotFound);
        let twice = staff.insert(&employee(1, "Jo")).await.unwrap_err();
        assert_eq!(twice.kind(), ErrorKind::AlreadyExists);
        let twice = staff.insert_target(&department("south", "IT", Some(1))).await.unwrap_err();
        assert_eq!(twice.kind(), ErrorKind::AlreadyExists);
        assert_eq!(world.departments().await.len(), 3);
        world.settle().await;
        world.assert_consistent().await;
    }
    Ok(())
}

/// What is written is what the source says when the target is written, not when it was first read.
#[tokio::test]
async fn a_target_is_never_pointed_at_old_fields() -> Result<()> {
    for store in &our_stores() {
        let world = World::prepared(store).await;
        let between = world.staff();
        let interrupted = Altered::interrupted(Arc::clone(&store.tables), async move {
            between.update(key(2), |al| al.name = "Alan".into()).await.unwrap();
        });
        let pointing = super::staff(&(Arc::new(interrupted) as _), &world.mover)?;
        let it = pointing.update_target(department_key("south", "IT"), |it| it.manager = Some(2)).await?;
        assert_eq!(it.manager_name.as_deref(), Some("Alan"));
        let stored = all::<Department>(&store.tables, "Departments").await;
        assert_eq!(stored[1].manager_name.as_deref(), Some("Alan"));

        let between = world.staff();
        let interrupted = Altered::interrupted(Arc::clone(&store.tables), async move {
            between.update(key(2), |al| al.name = "Alice".into()).await.unwrap();
        });
        let inserting = super::staff(&(Arc::new(interrupted) as _), &world.mover)?;
        let etag = inserting.insert_target(&department("north", "New", Some(2))).await?;
        let new = inserting.table().require(department_key("north", "New")).await?;
        assert_eq!((new.manager_name.as_deref(), new.etag()), (Some("Alice"), &etag));
        world.assert_consistent().await;
    }
    Ok(())
}

#[tokio::test]
async fn a_refresh_writes_exactly_what_differs() -> Result<()> {
    for store in &our_stores() {
        let world = World::prepared(store).await;
        let staff = world.staff();
        assert_eq!(staff.refresh(&employee(1, "Jo")).await?, 0);
        let mut wrong = staff.table().require(department_key("north", "Sales")).await?;
        wrong.manager_name = Some("Nobody".into());
        table_patterns::Indexed::<Department>::new(staff.table().clone())?.replace(&mut wrong).await?;
        assert_eq!(staff.refresh(&employee(1, "Jo")).await?, 1);
        world.assert_consistent().await;
    }
    Ok(())
}
