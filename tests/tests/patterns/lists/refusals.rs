use std::sync::Arc;
use std::time::Duration;

use object_store::memory::InMemory;
use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan};
use table_core::{Action, Entity, ErrorKind, Operation, Result};
use table_patterns::IndexEntities;
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::index_entities::{ListBlobs, ListPlace};
use table_patterns::inter_partition_secondary_index::IntentOptions;
use table_tests::pattern::{memory, our_stores, rows};

use super::{Employee, NO_BLOBS, World, employee, kept, key};

#[tokio::test]
async fn refusals_leave_lists_and_queue_as_they_are() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store, NO_BLOBS).await;
        world.employees.insert(&Employee { email: Some("jo".into()), ..employee(1) }).await?;
        world.settle().await;
        let before = rows(&world.table).await;
        let error = world.employees.insert(&employee(1)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        let taken = Employee { email: Some("jo".into()), ..employee(3) };
        assert!(world.employees.insert(&taken).await.unwrap_err().message().contains("unique index email"));
        assert_eq!(world.employees.update(key(9), |_| ()).await.unwrap_err().kind(), ErrorKind::NotFound);
        let beside = world.employees.keys_across("last_name", "Jones").await.unwrap_err();
        assert_eq!(beside.kind(), ErrorKind::InvalidQuery);
        assert!(beside.message().contains("`keys`"), "{beside}");
        assert_eq!(world.employees.keys_across("age", "9").await.unwrap_err().kind(), ErrorKind::InvalidQuery);
        assert_eq!(world.mover.progress().await?.queued, 0);
        assert_eq!(rows(&world.table).await, before);
    }
    Ok(())
}

#[tokio::test]
async fn lists_elsewhere_ask_for_a_mover_that_keeps_them() -> Result<()> {
    let store = memory();
    let world = World::new(&store, NO_BLOBS).await;
    let declared = || super::declared(world.table.clone(), world.blobs.clone(), NO_BLOBS);
    for error in [
        declared().insert(&employee(1)).await.unwrap_err(),
        declared().update(key(1), |_| ()).await.unwrap_err(),
        declared().delete(key(1)).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.message().contains("kept_by"), "{error}");
    }
    let idle = Mover::builder(store.queues.clone(), "idle")?.build().await?;
    assert!(declared().kept_by(&idle).unwrap_err().message().contains("keep_lists"));
    assert!(declared().kept_elsewhere(&idle).is_ok());

    // What is declared after a mover was given, that mover was not asked for.
    let by_age = |lists: IndexEntities<Employee>| lists.list_at(ListPlace::partition(), "age", |_| None);
    let blobs = || ListBlobs::new(world.blobs.clone());
    for late in [
        by_age(declared().kept_by(&world.mover)?),
        by_age(declared().kept_elsewhere(&world.mover)?),
        declared().kept_by(&world.mover)?.list("age", |_| None),
        declared().kept_by(&world.mover)?.with_blobs(blobs()),
    ] {
        let error = late.insert(&employee(1)).await.unwrap_err();
        assert!(error.kind() == ErrorKind::Unsupported && error.message().contains("then open them"), "{error}");
    }
    assert_eq!((rows(&world.table).await, world.mover.progress().await?.queued), (Vec::new(), 0));

    let place = ListPlace::beside().in_blob();
    let always = IndexEntities::<Employee>::new(world.table.clone()).list_at(place, "city", |_| None);
    assert!(always.kept_elsewhere(&idle).unwrap_err().message().contains("with_blobs"));
    let named = IndexEntities::<Employee>::new(world.table.clone()).list_at(ListPlace::table("1"), "city", |_| None);
    assert_eq!(named.kept_elsewhere(&idle).unwrap_err().kind(), ErrorKind::InvalidName);
    let hasty = IntentOptions::default().with_grace(IntentOptions::default().hidden);
    assert_eq!(world.employees.clone().with_intents(hasty).unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert!(ListBlobs::new(Arc::new(InMemory::new())).with_prefix("a//b").is_err());
    Ok(())
}

#[tokio::test]
async fn a_mover_that_keeps_other_lists_is_refused_with_both() -> Result<()> {
    let store = memory();
    let world = World::new(&store, NO_BLOBS).await;
    let bare = || IndexEntities::<Employee>::new(world.table.clone());
    let by_city = |lists: IndexEntities<Employee>, place| lists.list_at(place, "city", |each| Some(each.city.clone()));
    let kept = by_city(bare(), ListPlace::partition());
    let mover = Mover::builder(store.queues.clone(), "others")?.keep_lists(&kept).build().await?;
    assert!(by_city(bare(), ListPlace::partition()).kept_by(&mover).is_ok());
    // Tables are told apart without regard to case.
    let elsewhere = by_city(bare(), ListPlace::table("Lists"));
    let in_lists = Mover::builder(store.queues.clone(), "elsewhere")?.keep_lists(&elsewhere).build().await?;
    assert!(by_city(bare(), ListPlace::table("LISTS")).kept_by(&in_lists).is_ok());
    for (other, difference) in [
        (bare(), "here without blobs"),
        (by_city(bare(), ListPlace::beside()), "here city beside its entities"),
        (by_city(bare(), ListPlace::table("Lists")), "here city in the table lists"),
        (by_city(bare(), ListPlace::partition().in_blob()), "in a partition of its own in blobs"),
        (by_city(bare(), ListPlace::partition()).list("team", |each| each.team.clone()), "team beside its entities"),
        (by_city(bare(), ListPlace::partition()).with_blobs(ListBlobs::new(world.blobs.clone())), "own, with blobs"),
    ] {
        let error = other.kept_by(&mover).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let message = error.message();
        assert!(
            message.contains("there city in a partition of its own, without blobs") && message.contains(difference),
            "{error}"
        );
    }
    Ok(())
}

/// A process of another version writes lists that this one does not know.
#[tokio::test]
async fn a_message_with_an_unknown_list_is_told_of_and_keeps_no_other_list_from_being_written() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store, NO_BLOBS).await;
        // Its own worker knows less.
        let fewer = IndexEntities::<Employee>::new(world.table.clone())
            .list("last_name", |employee: &Employee| Some(employee.last_name.clone()))
            .list_at(ListPlace::table("EmployeesByCity"), "city", |employee| Some(employee.city.clone()));
        let mover = Mover::builder(store.queues.clone(), "moves")?.keep_lists(&fewer).build().await?;
        let error = fewer.keys_across("team", "Blue").await.unwrap_err();
        assert!(error.message().contains("no list team of Employee was declared, but last_name, city"), "{error}");

        let plan = FaultPlan::new(FaultOptions::default().with_death(4, FaultMoment::Before));
        let dying = Arc::new(Fault::new(store.tables.clone(), plan.clone()));
        let (lists, _) = kept((dying, store.queues.clone(), world.blobs.clone()), NO_BLOBS).await?;
        // It reads three lists, and dies before its transaction or after.
        assert!(lists.insert(&employee(1)).await.is_err() && plan.is_dead());
        world.table.store().write(world.table.name(), Operation::new(Action::Insert(employee(1).to_row()?))?).await?;
        store.clock.advance(super::HIDDEN);
        mover.run_due().await?;
        assert_eq!(fewer.keys_across("city", "Berlin").await?.len(), 1);
        assert_eq!(mover.progress().await?.queued, 1, "it comes again");
        world.settle().await;
        assert_eq!(world.ids("team", "Blue").await, [1]);
    }
    Ok(())
}

/// With a grace period of an hour nothing is left after it, whether the mover was given before or after.
#[tokio::test]
async fn intents_take_their_times_in_any_order() -> Result<()> {
    for given_first in [true, false] {
        for store in &our_stores() {
            let hour = Duration::from_secs(60 * 60);
            let world = World::new(store, NO_BLOBS).await;
            let declared = super::declared(world.table.clone(), world.blobs.clone(), NO_BLOBS);
            let short = IntentOptions::default().with_grace(hour);
            let lists = if given_first {
                declared.kept_by(&world.mover)?.with_intents(short)?
            } else {
                declared.with_intents(short)?.kept_by(&world.mover)?
            };
            lists.insert(&employee(1)).await?;
            lists.delete(key(1)).await?;
            store.clock.advance(hour);
            world.mover.run_due().await?;
            assert_eq!(rows(&world.table).await, [], "{given_first}");
            assert_eq!(world.mover.progress().await?.queued, 0);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_list_that_is_too_large_is_refused_before_anything_is_written() -> Result<()> {
    let store = memory();
    let world = World::new(&store, 100).await;
    let small = ListBlobs::new(world.blobs.clone()).with_above_bytes(100).with_most_bytes(30);
    let lists = world.employees.clone().with_blobs(small).kept_by(&world.mover)?;
    lists.insert(&employee(1)).await?;
    let error = lists.insert(&employee(3)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert!(error.message().contains("with its 2 keys"), "{error}");
    assert_eq!(world.stored().await.len(), 1);
    Ok(())
}
