use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::ObjectStoreExt;
use object_store::path::Path;
use table_core::{Error, ErrorKind, Projection};
use table_tests::blobs::{FaultyBlobs, blob_names};
use table_tests::gate::{Call, Turn};
use tokio::sync::Semaphore;

use super::{Employee, World, employee, key};

#[derive(Projection, Debug)]
#[projection(of = Employee)]
struct Badge {
    id: u32,
    name: String,
}

#[derive(Projection, Debug)]
#[projection(of = Employee)]
struct Portrait {
    name: String,
    photo: Option<Bytes>,
}

#[tokio::test(start_paused = true)]
async fn a_query_gives_each_entity_with_its_blobs_and_a_projection_only_what_it_names() {
    let world = World::new().await;
    let large = world.large().await;
    for id in 1..=20 {
        large.insert(&employee(id, "png")).await.unwrap();
    }
    let all = large.all(Employee::range("Sales")).await.unwrap();
    assert_eq!(
        all.iter().map(|jo| (**jo).clone()).collect::<Vec<_>>(),
        (1..=20).map(|id| employee(id, "png")).collect::<Vec<_>>()
    );
    let portraits = large.all(Employee::range("Sales").query().project::<Portrait>().top(2)).await.unwrap();
    assert_eq!(portraits.iter().map(|jo| jo.photo.clone()).collect::<Vec<_>>(), vec![Some(Bytes::from("png")); 2]);
    assert_eq!(portraits[0].name, "Jo");
    // Without a blob field anybody can read it.
    let badges = world.table().all(Employee::range("Sales").query().project::<Badge>()).await.unwrap();
    assert_eq!(badges.iter().map(|jo| jo.id).collect::<Vec<_>>(), (1..=20).collect::<Vec<_>>());
    assert_eq!(badges[0].name, "Jo");
}

#[tokio::test(start_paused = true)]
async fn a_read_past_large_says_so() {
    let world = World::new().await;
    world.large().await.insert(&employee(1, "png")).await.unwrap();
    let table = world.table();
    let portrait = table.all(Employee::range("Sales").query().project::<Portrait>()).await.unwrap_err();
    for error in [table.require(key(1)).await.unwrap_err(), portrait] {
        assert_eq!(error.kind(), ErrorKind::Corrupted);
        assert!(error.message().contains("read the entity through `Large`"), "{error}");
    }
}

fn assert_names_photo(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Corrupted, "{error}");
    assert_eq!(error.property(), Some("Photo"));
    assert_eq!(error.key().unwrap(), &key(1).resolve().unwrap());
    assert!(!error.to_string().contains("png"), "a message must not hold a value");
}

async fn photo_of(world: &World) -> Path {
    let names = blob_names(&*world.blobs).await;
    Path::from(names.into_iter().find(|name| name.contains("/Photo-")).unwrap())
}

#[tokio::test(start_paused = true)]
async fn an_altered_blob_is_corrupted_and_named() {
    let world = World::new().await;
    let large = world.large().await;
    large.insert(&employee(1, "png")).await.unwrap();
    for content in ["gnp", "pngs", ""] {
        world.blobs.put(&photo_of(&world).await, content.into()).await.unwrap();
        assert_names_photo(&large.get::<Employee>(key(1)).await.unwrap_err());
        assert_names_photo(&large.all(Employee::range("Sales")).await.unwrap_err());
        let opened = large.open(key(1), &Employee::PHOTO).await.unwrap().unwrap();
        assert_names_photo(&opened.try_collect::<Vec<_>>().await.unwrap_err());
    }
}

#[tokio::test(start_paused = true)]
async fn a_missing_blob_is_corrupted_and_named() {
    let world = World::new().await;
    let large = world.large().await;
    large.insert(&employee(1, "png")).await.unwrap();
    world.blobs.delete(&photo_of(&world).await).await.unwrap();
    assert_names_photo(&large.get::<Employee>(key(1)).await.unwrap_err());
    assert_names_photo(&large.all(Employee::range("Sales")).await.unwrap_err());
    assert_names_photo(&large.open(key(1), &Employee::PHOTO).await.unwrap_err());
    let report = large.verify().await.unwrap();
    assert_eq!(report.missing, [(key(1).resolve().unwrap(), Employee::PHOTO.name().clone())]);
    assert_eq!((report.blobs, report.references), (2, 3));
}

#[tokio::test(start_paused = true)]
async fn a_reader_holds_no_more_than_it_may() {
    let world = World::new().await;
    let large = world.large().await.with_most_loaded_bytes(10);
    large.insert(&employee(1, "a large photo")).await.unwrap();
    assert_eq!(large.get::<Employee>(key(1)).await.unwrap_err().kind(), ErrorKind::LimitExceeded);
    let opened = large.open(key(1), &Employee::PHOTO).await.unwrap().unwrap();
    assert_eq!(opened.bytes(), 13);
}

/// Stops before the first read of a blob until it is told to go on.
#[derive(Debug)]
struct Pause {
    reached: Semaphore,
    go_on: Semaphore,
}

impl Turn for Pause {
    async fn before(&self, call: Call<'_>) -> table_core::Result<()> {
        if call.name == "get blob" {
            self.reached.add_permits(1);
            self.go_on.acquire().await.unwrap().forget();
        }
        Ok(())
    }
}

/// A reader has read a row; then the entity is replaced or deleted, and its old blobs collected.
#[tokio::test(start_paused = true)]
async fn a_reader_who_is_overtaken_reads_the_row_again() {
    for (way, deleted) in [("get", false), ("all", false), ("open", false), ("get", true), ("all", true)] {
        let world = World::new().await;
        let writer = world.large().await;
        writer.insert(&employee(1, "old")).await.unwrap();
        let pause = Arc::new(Pause { reached: Semaphore::new(0), go_on: Semaphore::new(0) });
        let gated = Arc::new(FaultyBlobs::gated(Arc::clone(&world.blobs), pause.clone()));
        let reader = world.large_on(Arc::clone(&world.tables), Arc::clone(&world.queues), gated).await.unwrap();
        let reading = tokio::spawn(async move {
            match way {
                "get" => {
                    reader.get(key(1)).await.unwrap().and_then(|jo: table_core::Versioned<Employee>| jo.photo.clone())
                }
                "all" => reader.all(Employee::range("Sales")).await.unwrap().first().and_then(|jo| jo.photo.clone()),
                _ => {
                    let opened = reader.open(key(1), &Employee::PHOTO).await.unwrap().unwrap();
                    Some(opened.try_collect::<Vec<_>>().await.unwrap().concat().into())
                }
            }
        });
        pause.reached.acquire().await.unwrap().forget();
        if deleted {
            writer.delete_by_key(key(1)).await.unwrap();
        } else {
            writer.upsert(&Employee { letter: "new".into(), history: Vec::new(), ..employee(1, "new") }).await.unwrap();
        }
        world.settle().await;
        pause.go_on.add_permits(1000);
        let expected = (!deleted).then(|| Bytes::from("new"));
        assert_eq!(reading.await.unwrap(), expected, "{way}, deleted: {deleted}");
    }
}
