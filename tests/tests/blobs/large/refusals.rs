use std::sync::Arc;

use table_core::layer::{FaultOptions, FaultPlan};
use table_core::{Entity, ErrorKind};
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::inter_partition_secondary_index::IntentOptions;
use table_patterns::large_entities::{BlobTable, Large};
use table_patterns::{Indexed, IndexedTransaction};
use table_tests::blobs::FaultyBlobs;

use super::{Employee, World, employee, key};

#[derive(Entity)]
#[entity(partition = "{department}", row = "{id}")]
struct Plain {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(partition = "{department}", row = "{id}")]
#[index(name, partition = "{name}", row = "{department}_{id}")]
struct Remote {
    department: String,
    id: u32,
    name: String,
    #[entity(blob)]
    photo: Vec<u8>,
}

#[tokio::test]
async fn what_cannot_be_kept_is_refused_when_it_is_opened() {
    let world = World::new().await;
    let place = || BlobTable::new(world.table(), Arc::clone(&world.blobs));
    let mover = world.mover().await;
    let error = Large::<Plain>::kept_by(place(), &mover).unwrap_err();
    assert!(error.message().contains("keeps nothing in blobs"), "{error}");
    let error = Large::<Remote>::kept_by(place(), &mover).unwrap_err();
    assert!(error.message().contains("the index name of Remote"), "{error}");
    let idle = Mover::builder(Arc::clone(&world.queues), "moves").unwrap().build().await.unwrap();
    let error = Large::<Employee>::kept_by(place(), &idle).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("keep_blobs"), "{error}");
    Large::<Employee>::kept_elsewhere(place(), &idle).unwrap();
    let impatient = IntentOptions::default().with_grace(std::time::Duration::from_secs(60));
    assert_eq!(world.large().await.with_intents(impatient).unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert_eq!(place().with_prefix("a//b").unwrap_err().kind(), ErrorKind::InvalidName);
}

#[tokio::test]
async fn nobody_writes_past_large() {
    let world = World::new().await;
    let table = world.table();
    assert_eq!(Indexed::<Employee>::new(table.clone()).unwrap_err().kind(), ErrorKind::Unsupported);
    let jo = employee(1, "png");
    world.large().await.insert(&jo).await.unwrap();
    let read = world.large().await.require(key(1)).await.unwrap();
    for transaction in [
        IndexedTransaction::new(&table).insert(&employee(2, "png")),
        IndexedTransaction::new(&table).replace(&read),
        IndexedTransaction::new(&table).delete(&read),
    ] {
        let error = transaction.commit().await.unwrap_err();
        assert!(error.message().contains("`Large::<Employee>`"), "{error}");
    }
    // A patch changes what is in the row, and leaves the blobs.
    world.settle().await;
    assert_eq!(world.stored(1).await, Some(jo));
}

#[tokio::test]
async fn a_blob_store_that_fails_is_told_with_its_kind_and_without_content() {
    let world = World::new().await;
    let plan = FaultPlan::new(FaultOptions::default().with_throttling(1.0));
    let down = Arc::new(FaultyBlobs::new(Arc::clone(&world.blobs), plan));
    let large = world.large_on(Arc::clone(&world.tables), Arc::clone(&world.queues), down).await.unwrap();
    let error = large.insert(&employee(1, "png")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.is_retryable() && !error.outcome_unknown());
    assert!(error.message().starts_with("the blob store did not answer: employees/"), "{error}");
    world.settle().await;
    assert_eq!(world.stored(1).await, None);
}
