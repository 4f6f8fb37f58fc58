use std::sync::Arc;

use object_store::memory::InMemory;
use table_core::{ErrorKind, Result};
use table_patterns::IndexEntities;
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::index_entities::{ListBlobs, ListPlace};
use table_patterns::inter_partition_secondary_index::IntentOptions;
use table_tests::pattern::{memory, our_stores, rows};

use super::{Employee, NO_BLOBS, World, employee, key};

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
async fn a_list_that_is_too_large_is_refused_before_anything_is_written() -> Result<()> {
    let store = memory();
    let world = World::new(&store, 100).await;
    let small = ListBlobs::new(world.blobs.clone()).with_above_bytes(100).with_most_bytes(30);
    let lists = world.employees.clone().with_blobs(small);
    lists.insert(&employee(1)).await?;
    let error = lists.insert(&employee(3)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert!(error.message().contains("with its 2 keys"), "{error}");
    assert_eq!(world.stored().await.len(), 1);
    Ok(())
}
