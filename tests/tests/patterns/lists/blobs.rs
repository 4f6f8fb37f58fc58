use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use object_store::ObjectStoreExt;
use object_store::path::Path;
use table_core::{DynamicEntity, EntityKey, ErrorKind, ManualClock, PartitionKey, Result, Value};
use table_patterns::IndexEntities;
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::index_entities::{ListBlobs, ListPlace};
use table_tests::blobs::{FaultyBlobs, blob_names, blob_stores};
use table_tests::gate::{Call, Turn};
use table_tests::pattern::{memory, our_stores};

use super::{Employee, FEW, GRACE, World, employee, key};

/// The row of a list that stands elsewhere.
async fn list_row(world: &World<'_>, table: &str, name: &str) -> DynamicEntity {
    let table = world.table.sibling(table).unwrap();
    let key = EntityKey::parse(name, "").unwrap();
    table.require::<DynamicEntity>(key).await.unwrap().into_value()
}

fn is_in_blob(row: &DynamicEntity) -> bool {
    row.get("RowBlobs").and_then(Value::as_str) == Some("Keys") && row.get("Keys00").is_none()
}

#[tokio::test]
async fn a_long_list_moves_to_a_blob_and_back_without_its_users_noticing() -> Result<()> {
    for (store, blobs) in our_stores().iter().zip(blob_stores()) {
        let world = World::with_blobs(store, 2 * FEW, blobs.store.clone()).await;
        let sales = PartitionKey::new("Sales")?;
        let ids = || (1..30).step_by(2);
        let (mut there, mut in_blob) = (Vec::new(), Vec::new());
        for id in ids() {
            world.employees.insert(&employee(id)).await?;
            there.push(id);
            assert_eq!(world.ids("city", "Berlin").await, there);
            assert_eq!(world.employees.find(&sales, "last_name", "Jones").await?.len(), there.len());
            in_blob.push(is_in_blob(&list_row(&world, "EmployeesByCity", "list:employees:Employee:city:Berlin").await));
        }
        let went = in_blob.iter().position(|is| *is).unwrap();
        assert!(went > 3 && in_blob[went..].iter().all(|is| *is), "{} {in_blob:?}", blobs.name);
        world.settle().await;
        world.assert_consistent().await;
        assert_eq!(blob_names(&*world.blobs).await.len(), 3, "one for each list");

        // It comes back at half of what it went with.
        in_blob.clear();
        for id in ids() {
            world.employees.delete(key(id)).await?;
            there.remove(0);
            assert_eq!(world.ids("city", "Berlin").await, there);
            if !there.is_empty() {
                in_blob.push(is_in_blob(
                    &list_row(&world, "EmployeesByCity", "list:employees:Employee:city:Berlin").await,
                ));
            }
        }
        let came = in_blob.iter().position(|is| !*is).unwrap();
        let left = in_blob.len() - came;
        assert!(left < went / 2 && in_blob[came..].iter().all(|is| !*is), "{went} {in_blob:?}");
        world.settle().await;
        world.assert_consistent().await;
        assert_eq!(blob_names(&*world.blobs).await, [""; 0], "no blob is left over");
    }
    Ok(())
}

#[tokio::test]
async fn a_list_can_be_kept_in_a_blob_always() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store, FEW).await;
        let declared = IndexEntities::<Employee>::new(world.table.sibling("Staff")?)
            .list_at(ListPlace::beside().in_blob(), "name", |employee: &Employee| Some(employee.last_name.clone()))
            .list_at(ListPlace::table("StaffLists").in_blob(), "city", |employee| Some(employee.city.clone()))
            .with_blobs(ListBlobs::new(world.blobs.clone()).with_prefix("lists/of/staff")?);
        let mover = Mover::builder(store.queues.clone(), "staff")?.keep_lists(&declared).build().await?;
        let lists = declared.kept_by(&mover)?;
        lists.create_if_missing().await?;
        lists.insert(&employee(1)).await?;
        let names = blob_names(&*world.blobs).await;
        assert_eq!(names.len(), 2);
        assert!(names.iter().all(|name| name.starts_with("lists/of/staff/")), "{names:?}");
        assert!(is_in_blob(&list_row(&world, "StaffLists", "list:staff:Employee:city:Berlin").await));
        assert_eq!(lists.find_across("city", "Berlin").await?.len(), 1);
        assert_eq!(lists.find(&PartitionKey::new("Sales")?, "name", "Jones").await?.len(), 1);
        assert!(lists.delete(key(1)).await?);
        for _ in 0..3 {
            store.clock.advance(GRACE);
            mover.run_due().await?;
        }
        assert_eq!(blob_names(&*world.blobs).await, [""; 0]);
        assert_eq!(mover.progress().await?.queued, 0);
    }
    Ok(())
}

/// The row's version is the list's: whoever read it before a blob took its place is refused.
#[tokio::test]
async fn replaced_blobs_stay_for_their_readers_and_go_after_the_grace_period() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store, FEW).await;
        for id in 1..=4 {
            world.employees.insert(&employee(id)).await?;
        }
        world.settle().await;
        let before = blob_names(&*world.blobs).await;
        world.employees.insert(&employee(5)).await?;
        let (with_old, orphans) = (blob_names(&*world.blobs).await, world.employees.verify_blobs().await?.orphaned);
        assert!(before.iter().all(|name| with_old.contains(name)), "{before:?} {with_old:?}");
        assert!(!orphans.is_empty());
        world.settle().await;
        assert_eq!(world.employees.verify_blobs().await?.orphaned, []);
        world.assert_consistent().await;
    }
    Ok(())
}

#[tokio::test]
async fn a_blob_that_is_not_what_was_stored_is_noticed() -> Result<()> {
    for (store, blobs) in our_stores().iter().zip(blob_stores()) {
        let world = World::with_blobs(store, FEW, blobs.store.clone()).await;
        for id in 1..=4 {
            world.employees.insert(&employee(id)).await?;
        }
        world.settle().await;
        for name in blob_names(&*world.blobs).await {
            world.blobs.put(&Path::parse(name).unwrap(), "Sales/empid_000009".into()).await.unwrap();
        }
        let error = world.employees.keys_across("city", "Berlin").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupted);
        assert!(error.message().contains("checksum"), "{error}");
        for name in blob_names(&*world.blobs).await {
            world.blobs.delete(&Path::parse(name).unwrap()).await.unwrap();
        }
        let error = world.employees.keys_across("city", "Berlin").await.unwrap_err();
        assert!(error.message().contains("refers to a blob that is not there"), "{error}");
        assert_eq!(world.employees.insert(&employee(6)).await.unwrap_err().kind(), ErrorKind::Corrupted);
        assert_eq!(world.employees.verify_blobs().await?.missing.len(), 2, "of city and team");
    }
    Ok(())
}

#[tokio::test]
async fn a_program_without_blobs_says_what_is_missing() -> Result<()> {
    let store = memory();
    let world = World::new(&store, FEW).await;
    for id in 1..=4 {
        world.employees.insert(&employee(id)).await?;
    }
    let without = IndexEntities::<Employee>::new(world.table.clone()).list_at(
        ListPlace::table("EmployeesByCity"),
        "city",
        |employee| Some(employee.city.clone()),
    );
    let error = without.keys_across("city", "Berlin").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("with_blobs"), "{error}");
    assert_eq!(without.verify_blobs().await.unwrap_err().kind(), ErrorKind::Unsupported);
    Ok(())
}

/// Keys as long as a service allows, and so many that no row could hold them.
#[tokio::test]
async fn a_list_of_more_than_a_row_holds_is_read_and_written() -> Result<()> {
    let store = memory();
    let world = World::new(&store, 768 * 1024).await;
    world.employees.insert(&employee(1)).await?;
    let table = world.table.sibling("EmployeesByCity")?;
    let lines: Vec<String> = (1..=14_000).map(|id| format!("Sales/empid_{id:06}_{}", "x".repeat(10))).collect();
    let mut row = DynamicEntity::new(EntityKey::parse("list:employees:Employee:city:Berlin", "")?)
        .with("RowKind", "list:city")?;
    for (piece, lines) in lines.chunks(1000).enumerate() {
        row.set(&format!("Keys{piece:02}"), lines.join("\n"))?;
    }
    let write = table_core::Operation::new(table_core::Action::InsertOrReplace(row))?;
    table.store().write(table.name(), write).await?;
    world.employees.insert(&employee(3)).await?;
    assert!(is_in_blob(&list_row(&world, "EmployeesByCity", "list:employees:Employee:city:Berlin").await));
    assert_eq!(world.employees.keys_across("city", "Berlin").await?.len(), 14_001);
    Ok(())
}

/// The first blob takes two minutes, while a worker looks at the queue again and again.
#[derive(Debug)]
struct Slow {
    mover: Mover,
    clock: Arc<ManualClock>,
    puts: AtomicU32,
}

impl Turn for Slow {
    async fn before(&self, call: Call<'_>) -> Result<()> {
        if call.name == "put blob" && self.puts.fetch_add(1, Ordering::SeqCst) == 0 {
            for _ in 0..120 {
                tokio::time::sleep(Duration::from_secs(1)).await;
                self.clock.advance(Duration::from_secs(1));
                self.mover.run_due().await?;
            }
        }
        Ok(())
    }
}

/// The list beside the entity is put before the transaction, which a fence of the worker would refuse.
#[tokio::test(start_paused = true)]
async fn a_slow_blob_keeps_its_message_hidden() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store, 0).await;
        let (mover, clock) = (world.mover.clone(), store.clock.clone());
        let slow = Arc::new(Slow { mover, clock, puts: AtomicU32::new(0) });
        let gated = Arc::new(FaultyBlobs::gated(world.blobs.clone(), slow.clone()));
        let lists = super::declared(world.table.clone(), gated, 0).kept_by(&world.mover)?;
        lists.insert(&employee(1)).await?;
        assert_eq!(slow.puts.load(Ordering::SeqCst), 3, "one for each list");
        world.settle().await;
        world.assert_consistent().await;
    }
    Ok(())
}
