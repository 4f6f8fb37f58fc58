use std::time::Duration;

use std::sync::Arc;

use table_core::layer::{FaultPlan, Meter};
use table_core::{DynamicEntity, Entity, ErrorKind, Key, Query, Value};
use table_patterns::large_entities::{BlobTable, Large};
use table_tests::blobs::{FaultyBlobs, blob_names};

use super::{Employee, World, employee, key};

#[tokio::test(start_paused = true)]
async fn an_entity_comes_back_with_all_that_is_in_blobs() {
    for world in World::everywhere().await {
        let large = world.large().await;
        large.insert(&employee(1, "png")).await.unwrap();
        assert_eq!(world.stored(1).await, Some(employee(1, "png")), "{}", world.name);
        assert_eq!(world.blob_count().await, 3, "{}", world.name);
        let row = world.table().require(Key::<DynamicEntity>::new(key(1).resolve())).await.unwrap();
        assert_eq!(row.get("RowBlobs"), Some(&Value::from("History,Letter,Photo")));
        assert!(row.get("Photo").and_then(Value::as_str).unwrap().starts_with("blob:1;3;"));
        world.settle().await;
        assert_eq!(world.blob_count().await, 3, "{}", world.name);
    }
}

#[tokio::test(start_paused = true)]
async fn a_replaced_blob_stays_for_the_grace_period_and_then_goes() {
    for world in World::everywhere().await {
        let large = world.large().await;
        large.insert(&employee(1, "old")).await.unwrap();
        let before = blob_names(&*world.blobs).await;
        let mut read = large.require(key(1)).await.unwrap();
        read.photo = Some("new".into());
        large.replace(&mut read).await.unwrap();
        world.work().await;
        let between = blob_names(&*world.blobs).await;
        assert_eq!(between.len(), 4, "{}", world.name);
        assert!(before.iter().all(|name| between.contains(name)), "{}", world.name);
        world.settle().await;
        assert_eq!(world.blob_count().await, 3, "{}", world.name);
        assert_eq!(world.stored(1).await, Some(employee(1, "new")), "{}", world.name);
    }
}

#[tokio::test(start_paused = true)]
async fn a_deleted_entity_takes_its_blobs_with_it() {
    for world in World::everywhere().await {
        let large = world.large().await;
        large.insert(&employee(1, "png")).await.unwrap();
        let read = large.require(key(1)).await.unwrap();
        large.delete(&read).await.unwrap();
        assert!(!large.delete_by_key(key(1)).await.unwrap());
        world.settle().await;
        assert_eq!(world.blob_count().await, 0, "{}", world.name);
    }
}

#[tokio::test(start_paused = true)]
async fn equal_contents_are_never_shared_and_never_deleted_for_another() {
    let world = World::new().await;
    let large = world.large().await;
    large.insert(&employee(1, "same")).await.unwrap();
    large.insert(&employee(2, "same")).await.unwrap();
    large.delete_by_key(key(1)).await.unwrap();
    // Created anew with the same content, while the old blobs wait to be deleted.
    large.insert(&employee(1, "same")).await.unwrap();
    large.update(key(2), |jo| jo.photo = None).await.unwrap();
    large.update(key(2), |jo| jo.photo = Some("same".into())).await.unwrap();
    world.settle().await;
    for id in [1, 2] {
        assert_eq!(world.stored(id).await, Some(employee(id, "same")));
    }
    assert_eq!(world.blob_count().await, 6);
}

#[tokio::test(start_paused = true)]
async fn a_blob_that_has_not_changed_is_not_put_again() {
    let world = World::new().await;
    world.large().await.insert(&employee(1, "png")).await.unwrap();
    let before = blob_names(&*world.blobs).await;
    let plan = FaultPlan::quiet();
    let counted = Arc::new(FaultyBlobs::new(Arc::clone(&world.blobs), plan.clone()));
    let large = world.large_on(Arc::clone(&world.tables), Arc::clone(&world.queues), counted).await.unwrap();
    large.update(key(1), |jo| jo.name = "Joe".into()).await.unwrap();
    large.upsert(&Employee { name: "Joan".into(), ..employee(1, "png") }).await.unwrap();
    assert!(plan.records().iter().all(|record| record.operation == "get blob"), "{:?}", plan.records());
    assert_eq!(blob_names(&*world.blobs).await, before);
    assert_eq!(world.mover().await.progress().await.unwrap().queued, 0);
    assert_eq!(world.stored(1).await.unwrap().name, "Joan");
}

#[tokio::test(start_paused = true)]
async fn an_insert_takes_two_transactions_and_two_queue_calls() {
    let world = World::new().await;
    let (tables, queues) = (Meter::new(Arc::clone(&world.tables)), Meter::new(Arc::clone(&world.queues)));
    let large =
        world.large_on(Arc::new(tables.clone()), Arc::new(queues.clone()), Arc::clone(&world.blobs)).await.unwrap();
    let before = (tables.report(), queues.report());
    large.insert(&employee(1, "png")).await.unwrap();
    assert_eq!((tables.report() - before.0).total().transactions, 2);
    assert_eq!((queues.report() - before.1).total().transactions, 2);
    let mut read = large.require(key(1)).await.unwrap();
    let before = (tables.report(), queues.report());
    read.photo = Some("new".into());
    large.replace(&mut read).await.unwrap();
    assert_eq!((tables.report() - before.0).total().transactions, 2);
    assert_eq!((queues.report() - before.1).total().transactions, 2);
}

#[tokio::test(start_paused = true)]
async fn a_writer_that_is_too_late_learns_it_before_its_upload() {
    let world = World::new().await;
    let large = world.large().await;
    large.insert(&employee(1, "old")).await.unwrap();
    let mut mine = large.require(key(1)).await.unwrap();
    large.update(key(1), |jo| jo.name = "Joe".into()).await.unwrap();
    let before = blob_names(&*world.blobs).await;
    mine.photo = Some("mine".into());
    assert_eq!(large.replace(&mut mine).await.unwrap_err().kind(), ErrorKind::PreconditionFailed);
    assert_eq!(blob_names(&*world.blobs).await, before);
}

#[tokio::test(start_paused = true)]
async fn a_refused_insert_takes_its_blobs_back() {
    let world = World::new().await;
    let large = world.large().await;
    large.insert(&employee(1, "png")).await.unwrap();
    let before = blob_names(&*world.blobs).await;
    let error = large.insert(&employee(1, "other")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    let twin = Employee { email: Some("1@contoso.com".into()), ..employee(2, "twin") };
    let error = large.insert(&twin).await.unwrap_err();
    assert!(error.message().contains("unique index email"), "{error}");
    assert_eq!(blob_names(&*world.blobs).await, before);
    assert_eq!(world.mover().await.progress().await.unwrap().queued, 0);
}

#[tokio::test(start_paused = true)]
async fn indexes_in_the_partition_are_kept() {
    let world = World::new().await;
    let large = world.large().await;
    large.insert(&employee(1, "png")).await.unwrap();
    let found = large.full(Employee::by_email("Sales", "1@contoso.com")).await.unwrap();
    assert_eq!(found.unwrap().into_value(), employee(1, "png"));
    large.update(key(1), |jo| jo.email = Some("jo@contoso.com".into())).await.unwrap();
    assert!(large.full(Employee::by_email("Sales", "1@contoso.com")).await.unwrap().is_none());
    assert_eq!(large.require(Employee::by_email("Sales", "jo@contoso.com")).await.unwrap().name, "Jo");
    large.delete_by_key(key(1)).await.unwrap();
    world.settle().await;
    assert!(world.table().all(Query::<DynamicEntity>::all().allow_scan()).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn writers_of_one_entity_lose_no_update_and_leave_no_blob() {
    for world in World::everywhere().await {
        world.large().await.insert(&employee(1, "")).await.unwrap();
        let large = world.large().await;
        let tasks: Vec<_> = (0..8_u32)
            .map(|task| {
                let large = large.clone();
                tokio::spawn(async move {
                    for _ in 0..3 {
                        large.update(key(1), |jo| jo.history.push(task.to_string())).await.unwrap();
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        world.settle().await;
        assert_eq!(world.stored(1).await.unwrap().history.len(), 1 + 24, "{}", world.name);
        assert_eq!(world.blob_count().await, 3, "{}", world.name);
    }
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{topic}", row = "note_{id}", blob_above = 100)]
struct Note {
    topic: String,
    id: u32,
    title: Option<String>,
    text: String,
}

#[tokio::test(start_paused = true)]
async fn any_property_above_the_threshold_goes_to_a_blob_and_comes_back_into_the_row() {
    let world = World::new().await;
    let notes =
        Large::<Note>::kept_by(BlobTable::new(world.table(), Arc::clone(&world.blobs)), &world.mover().await).unwrap();
    let key = || Note::key("é", 1);
    // Text counts as UTF-16.
    let mut note = Note { topic: "é".into(), id: 1, title: Some("x".repeat(50)), text: "blob:1;".repeat(7) };
    notes.insert(&note).await.unwrap();
    assert_eq!(world.blob_count().await, 0);
    note.title = Some("é".repeat(51));
    note.text = "blob:1;".repeat(20_000);
    notes.upsert(&note).await.unwrap();
    assert_eq!(world.blob_count().await, 2);
    assert_eq!(notes.require(key()).await.unwrap().into_value(), note);
    notes.update(key(), |note| note.text = "short".into()).await.unwrap();
    assert_eq!(notes.all(Note::range("é").query().filter(Note::TEXT.eq("short"))).await.unwrap().len(), 1);
    world.clock.advance(Duration::from_secs(1));
    world.settle().await;
    assert_eq!(world.blob_count().await, 1);
}
