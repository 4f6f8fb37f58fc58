use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use table_core::{Error, ErrorKind, Result};
use table_tests::blobs::FaultyBlobs;
use table_tests::gate::{Call, Turn};

use super::{Employee, World, employee, key};

fn chunks(count: u8, bytes: usize) -> impl futures_util::Stream<Item = Result<Bytes>> {
    stream::iter((0..count).map(move |chunk| Ok(Bytes::from(vec![chunk; bytes]))))
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_any_size_comes_back() {
    for world in World::everywhere().await {
        let large = world.large().await;
        large.insert(&employee(1, "old")).await.unwrap();
        for (count, bytes) in [(0, 0), (1, 10), (8, 1024 * 1024), (17, 1_000_003)] {
            large.write(key(1), &Employee::PHOTO, chunks(count, bytes)).await.unwrap();
            let opened = large.open(key(1), &Employee::PHOTO).await.unwrap().unwrap();
            assert_eq!(opened.bytes(), u64::from(count) * bytes as u64);
            let read: Vec<Bytes> = opened.try_collect().await.unwrap();
            let expected: Vec<Bytes> = chunks(count, bytes).try_collect().await.unwrap();
            assert!(read.concat() == expected.concat(), "{} {count} {bytes}", world.name);
            assert_eq!(world.stored(1).await.unwrap().letter, "dear é");
        }
        world.settle().await;
        assert_eq!(world.blob_count().await, 3, "{}", world.name);
    }
}

#[tokio::test(start_paused = true)]
async fn a_field_without_a_value_opens_as_none() {
    let world = World::new().await;
    let large = world.large().await;
    large.insert(&Employee { photo: None, ..employee(1, "") }).await.unwrap();
    assert!(large.open(key(1), &Employee::PHOTO).await.unwrap().is_none());
    let text: Vec<Bytes> = large.open(key(1), &Employee::LETTER).await.unwrap().unwrap().try_collect().await.unwrap();
    assert_eq!(text.concat(), "dear é".as_bytes());
    assert_eq!(large.open(key(2), &Employee::PHOTO).await.unwrap_err().kind(), ErrorKind::NotFound);
    let error = large.write(key(2), &Employee::PHOTO, chunks(1, 1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let error = large.write(key(1), &Employee::LETTER, chunks(1, 1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_off_changes_nothing_and_leaves_nothing() {
    for count in [1, 17] {
        let world = World::new().await;
        let large = world.large().await;
        large.insert(&employee(1, "old")).await.unwrap();
        let broken = chunks(count, 1024 * 1024).chain(stream::iter([Err(Error::corrupted("broken off"))]));
        let error = large.write(key(1), &Employee::PHOTO, broken).await.unwrap_err();
        assert_eq!(error.message(), "broken off");
        world.settle().await;
        assert_eq!(world.stored(1).await, Some(employee(1, "old")));
    }
}

/// Others write to the entity each time a blob has been put.
#[derive(Debug)]
struct Rival {
    large: table_patterns::Large<Employee>,
}

impl Turn for Rival {
    async fn before(&self, call: Call<'_>) -> Result<()> {
        if call.name == "put blob" {
            self.large.update(key(1), |jo| jo.photo = Some("rival".into())).await?;
            self.large.update(key(1), |jo| jo.name = "Rival".into()).await?;
        }
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_takes_its_place_beside_changes_that_were_made_meanwhile() {
    let world = World::new().await;
    let large = world.large().await;
    large.insert(&employee(1, "old")).await.unwrap();
    let gated = FaultyBlobs::gated(Arc::clone(&world.blobs), Arc::new(Rival { large }));
    let slow = world.large_on(Arc::clone(&world.tables), Arc::clone(&world.queues), Arc::new(gated)).await.unwrap();
    slow.write(key(1), &Employee::PHOTO, chunks(1, 5)).await.unwrap();
    world.settle().await;
    let expected = Employee { name: "Rival".into(), photo: Some(vec![0; 5].into()), ..employee(1, "") };
    assert_eq!(world.stored(1).await, Some(expected));
    assert_eq!(world.blob_count().await, 3);
}

/// A stream that takes minutes keeps its message hidden, so that no worker takes it for dead.
#[tokio::test(start_paused = true)]
async fn a_slow_stream_keeps_its_intent() {
    let world = World::new().await;
    let large = world.large().await;
    large.insert(&employee(1, "old")).await.unwrap();
    let (clock, mover) = (Arc::clone(&world.clock), world.mover().await);
    let slow = chunks(30, 10).then(|chunk| {
        let (clock, mover) = (Arc::clone(&clock), mover.clone());
        async move {
            // The store's clock goes with the writer's.
            for _ in 0..10 {
                tokio::time::sleep(Duration::from_secs(1)).await;
                clock.advance(Duration::from_secs(1));
            }
            mover.run_due().await?;
            chunk
        }
    });
    Box::pin(large.write(key(1), &Employee::PHOTO, slow)).await.unwrap();
    assert_eq!(large.open(key(1), &Employee::PHOTO).await.unwrap().unwrap().bytes(), 300);
    world.settle().await;
}
