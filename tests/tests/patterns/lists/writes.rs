use table_core::{Action, Entity, ErrorKind, Operation, PartitionKey, Result};
use table_patterns::index_entities::ListPlace;
use table_patterns::maintenance::Maintained;
use table_patterns::{IndexEntities, UpdateOptions};
use table_tests::pattern::{Altered, behind, our_stores, rows};

use super::{Employee, FEW, NO_BLOBS, World, employee, key};

#[tokio::test]
async fn lists_elsewhere_follow_their_entities() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store, NO_BLOBS).await;
        for id in 1..=3 {
            world.employees.insert(&employee(id)).await?;
        }
        assert_eq!(world.ids("city", "Berlin").await, [2, 1, 3], "by partition, then by row");
        assert_eq!(world.ids("team", "Blue").await, [2, 1, 3]);
        let sales = PartitionKey::new("Sales")?;
        let keys = world.employees.keys(&sales, "city", "Berlin").await?;
        assert_eq!(keys.iter().map(table_core::RowKey::as_str).collect::<Vec<_>>(), ["empid_000001", "empid_000003"]);
        assert_eq!(world.employees.find(&sales, "team", "Blue").await?.len(), 2);

        let change = |jones: &mut Employee| {
            jones.city = "a/b:c_d".into();
            jones.team = None;
            jones.last_name = "Smith".into();
        };
        world.employees.update(key(1), change).await?;
        assert_eq!(world.ids("city", "Berlin").await, [2, 3]);
        assert_eq!(world.ids("city", "a/b:c_d").await, [1]);
        assert_eq!(world.ids("team", "Blue").await, [2, 3]);

        assert!(world.employees.delete(key(1)).await?);
        assert!(!world.employees.delete(key(1)).await?);
        assert_eq!(world.ids("city", "a/b:c_d").await, [0_u32; 0]);
        world.settle().await;
        world.assert_consistent().await;
        for id in [2, 3] {
            world.employees.delete(key(id)).await?;
        }
        world.settle().await;
        assert_eq!(rows(&world.table).await, [], "tombstones and fences are gone with the last message");
        assert_eq!(rows(&world.table.sibling("EmployeesByCity")?).await, []);
    }
    Ok(())
}

/// Another program has stored values that fit no key.
#[tokio::test]
async fn an_entity_whose_stored_values_fit_no_list_is_changed_and_deleted() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store, NO_BLOBS).await;
        for (id, bad) in [(1, "x".repeat(600)), (3, "a\u{1}b".to_owned())] {
            let stored = Employee { city: bad.clone(), team: Some(bad.clone()), last_name: bad, ..employee(id) };
            let insert = Operation::new(Action::Insert(stored.to_row()?))?;
            world.table.store().write(world.table.name(), insert).await?;
        }
        let report = world.employees.verify(world.now()).await?;
        assert!(report.is_clean(), "{:?}", report.findings);
        for (id, kind) in [(1, ErrorKind::LimitExceeded), (3, ErrorKind::InvalidKey)] {
            world.employees.update(key(id), |jones| jones.age += 1).await?;
            assert_eq!(world.table.require(key(id)).await?.age, 41);
            let error = world.employees.update(key(id), |jones| jones.city.push('y')).await.unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            let change = |jones: &mut Employee| jones.last_name = "Jones".into();
            world.employees.update(key(id), change).await?;
            assert!(world.employees.delete(key(id)).await?);
        }
        world.settle().await;
        world.assert_consistent().await;
    }
    Ok(())
}

#[tokio::test]
async fn a_change_that_no_list_shows_sends_no_message() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store, NO_BLOBS).await;
        world.employees.insert(&employee(1)).await?;
        world.settle().await;
        world.employees.update(key(1), |jones| jones.age += 1).await?;
        assert_eq!(world.mover.progress().await?.queued, 0);
    }
    Ok(())
}

/// A list may lag behind; who asks for entities never gets one that has another value by now.
#[tokio::test]
async fn an_entity_that_moved_on_is_left_out() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store, NO_BLOBS).await;
        world.employees.insert(&employee(1)).await?;
        // Somebody who knows nothing of the list.
        let careless = IndexEntities::<Employee>::new(world.table.clone());
        careless.update(key(1), |jones| jones.city = "Bonn".into()).await?;
        assert_eq!(world.employees.keys_across("city", "Berlin").await?.len(), 1);
        assert_eq!(world.ids("city", "Berlin").await, [0_u32; 0]);
    }
    Ok(())
}

/// The lists are somebody else's again and again: the entity is written, and a worker does the rest.
#[tokio::test]
async fn who_cannot_reach_a_list_leaves_it_to_a_worker() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store, NO_BLOBS).await;
        for id in 1..=2 {
            world.employees.insert(&employee(id)).await?;
        }
        let rival = behind(&world.table, Altered::with_rival(store.tables.clone()));
        let lists = super::declared(rival, world.blobs.clone(), NO_BLOBS).kept_by(&world.mover)?;
        let hindered = lists.with_options(UpdateOptions::default().with_attempts(3));
        // The rival touches every row that a write is conditional on, the entity too: so nothing is written.
        assert!(hindered.update(key(1), |jones| jones.city = "Bonn".into()).await.is_err());
        world.settle().await;
        world.assert_consistent().await;
        // An insert is conditional on no row but the lists.
        hindered.insert(&Employee { last_name: "New".into(), ..employee(3) }).await?;
        assert_eq!(world.employees.keys_across("city", "Berlin").await?.len(), 2);
        assert_eq!(world.mover.progress().await?.queued, 1);
        world.settle().await;
        assert_eq!(world.ids("city", "Berlin").await, [2, 1, 3]);
        world.assert_consistent().await;
    }
    Ok(())
}

#[tokio::test]
async fn several_lists_share_a_table_with_the_entities_of_another() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store, FEW).await;
        let declared = IndexEntities::<Employee>::new(world.table.clone())
            .list_at(ListPlace::table("Lists"), "city", |employee: &Employee| Some(employee.city.clone()))
            .list_at(ListPlace::table("Lists"), "name", |employee| Some(employee.last_name.clone()));
        let builder = table_patterns::eventually_consistent_transactions::Mover::builder(store.queues.clone(), "more")?;
        let mover = builder.keep_lists(&declared).build().await?;
        let lists = declared.kept_by(&mover)?;
        lists.create_if_missing().await?;
        for id in 1..=4 {
            lists.insert(&Employee { city: "Jones".into(), ..employee(id) }).await?;
        }
        assert_eq!(lists.keys_across("city", "Jones").await?.len(), 4);
        assert_eq!(lists.keys_across("name", "Jones").await?.len(), 4);
        assert_eq!(rows(&world.table.sibling("Lists")?).await.len(), 2);
    }
    Ok(())
}
