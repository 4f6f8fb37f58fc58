//! Steps that write to a row and to a file, as to two tables: both are there in the end, whoever dies.

use std::sync::Arc;
use std::time::Duration;

use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use serde::{Deserialize, Serialize};
use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan};
use table_core::{Entity, Error, ErrorKind, ManualClock, MemoryStore, QueueStore, Result, Table, TableStore};
use table_patterns::eventually_consistent_transactions::{Mover, Next, WorkItem};
use table_tests::blobs::{FaultyBlobs, TestBlobs, blob_names, blob_stores};
use table_tests::stores::memory_store;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
}

/// Writes an employee's name to a file, and then deletes the employee.
#[derive(Serialize, Deserialize)]
struct ToFile {
    id: u32,
}

impl WorkItem for ToFile {
    const KIND: &'static str = "to file";
}

async fn mover<S: TableStore + QueueStore + Clone>(store: S, blobs: Arc<dyn ObjectStore>) -> Result<Mover> {
    let table = Table::new(Arc::new(store.clone()), "Current")?;
    Mover::builder(Arc::new(store), "moves")?
        .on(move |item: ToFile, delivery| {
            let (table, blobs) = (table.clone(), Arc::clone(&blobs));
            async move {
                let read = delivery.step("read", table.get(Employee::key("Sales", item.id))).await?;
                let Some(read) = read else { return Ok(Next::Done) };
                delivery.step("write the file", put(&*blobs, item.id, &read.name)).await?;
                match delivery.step("delete the row", table.delete(&read)).await {
                    Err(error) if error.kind() == ErrorKind::NotFound => Ok(Next::Done),
                    // Written in between: the file is written again.
                    Err(error) if error.kind() == ErrorKind::PreconditionFailed => Ok(Next::Later(Duration::ZERO)),
                    result => result.map(|()| Next::Done),
                }
            }
        })
        .build()
        .await
}

async fn put(blobs: &dyn ObjectStore, id: u32, name: &str) -> Result<()> {
    let put = blobs.put(&Path::from(format!("{id}.txt")), name.to_owned().into()).await;
    put.map(|_| ()).map_err(|error| Error::new(ErrorKind::Unavailable, "the file was not written").with_source(error))
}

struct World {
    store: MemoryStore,
    clock: Arc<ManualClock>,
    blobs: TestBlobs,
    table: Table,
}

impl World {
    async fn new(blobs: TestBlobs) -> Self {
        let (store, clock) = memory_store();
        let table = Table::new(Arc::new(store.clone()), "Current").unwrap();
        table.create().await.unwrap();
        table.insert(&Employee { department: "Sales".into(), id: 1, name: "Jo".into() }).await.unwrap();
        Self { store, clock, blobs, table }
    }

    async fn settle(&self) {
        let mover = mover(self.store.clone(), Arc::clone(&self.blobs.store)).await.unwrap();
        for _ in 0..5 {
            self.clock.advance(Duration::from_secs(600));
            mover.run_due().await.unwrap();
        }
        let progress = mover.progress().await.unwrap();
        assert_eq!((progress.queued, progress.poisoned), (0, 0));
    }

    /// Whether the employee is still in the table, and what the file says.
    async fn state(&self) -> (bool, Option<String>) {
        let there = self.table.get(Employee::key("Sales", 1)).await.unwrap().is_some();
        let names = blob_names(&*self.blobs.store).await;
        let Some(name) = names.first() else { return (there, None) };
        let file = self.blobs.store.get(&Path::from(name.as_str())).await.unwrap().bytes().await.unwrap();
        (there, Some(String::from_utf8(file.to_vec()).unwrap()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_death_at_any_call_leaves_what_was_sent_in_its_file_in_the_end() {
    let mut deaths = 0;
    for moment in [FaultMoment::Before, FaultMoment::RequestLost, FaultMoment::After] {
        for call in 1..13 {
            for blobs in blob_stores() {
                let (name, world) = (blobs.name, World::new(blobs).await);
                let plan = FaultPlan::new(FaultOptions::default().with_death(call, moment));
                let faulty = Arc::new(FaultyBlobs::new(Arc::clone(&world.blobs.store), plan.clone()));
                let sent = async {
                    let mover = mover(Fault::new(world.store.clone(), plan.clone()), faulty).await?;
                    mover.send(&ToFile { id: 1 }).await?;
                    Ok::<_, Error>(mover)
                };
                let sent = sent.await;
                let acknowledged = sent.is_ok();
                if let Ok(mover) = sent {
                    drop(mover.run_due().await);
                }
                world.settle().await;
                match world.state().await {
                    (false, Some(text)) => assert_eq!(text, "Jo"),
                    (true, None) => assert!(!acknowledged, "{name}: call {call} {moment:?}: what was sent is lost"),
                    other => panic!("{name}: call {call} {moment:?}: {other:?}"),
                }
                deaths += u32::from(plan.is_dead());
            }
        }
    }
    assert!(deaths > 30, "only {deaths} deaths");
}

#[tokio::test(start_paused = true)]
async fn a_change_before_the_delete_is_in_the_file() {
    for blobs in blob_stores() {
        let world = World::new(blobs).await;
        // Queues, the message, the receive, the read and the file; dies before it deletes the row.
        let plan = FaultPlan::new(FaultOptions::default().with_death(7, FaultMoment::Before));
        let faulty = Arc::new(FaultyBlobs::new(Arc::clone(&world.blobs.store), plan.clone()));
        let dying = mover(Fault::new(world.store.clone(), plan), faulty).await.unwrap();
        dying.send(&ToFile { id: 1 }).await.unwrap();
        drop(dying.run_due().await);
        assert_eq!(world.state().await, (true, Some("Jo".into())));
        let mut read = world.table.require(Employee::key("Sales", 1)).await.unwrap();
        read.name = "Joe".into();
        world.table.replace(&mut read).await.unwrap();
        world.settle().await;
        assert_eq!(world.state().await, (false, Some("Joe".into())));
    }
}
