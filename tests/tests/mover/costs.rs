//! What the page of patterns says that a mover takes.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use table_core::layer::Meter;
use table_core::{Entity, Table};
use table_patterns::eventually_consistent_transactions::{Archive, Mover, Next, WorkItem};
use table_tests::pattern::Costs;
use table_tests::stores::memory_store;

#[derive(Entity)]
#[entity(partition = "{department}", row = "{id:06}")]
struct Employee {
    department: String,
    id: u32,
}

#[derive(Serialize, Deserialize)]
struct Nothing;

impl WorkItem for Nothing {
    const KIND: &'static str = "nothing";
}

/// Queue calls include the one by which a worker learns that no more is due.
#[tokio::test]
async fn each_operation_takes_the_storage_transactions_that_the_page_says() {
    let (store, clock) = memory_store();
    let (tables, queues) = (Meter::new(store.clone()), Meter::new(store));
    let mut costs = Costs::of("eventually_consistent_transactions", &tables).with_queues(&queues);
    let table = |name| Table::new(Arc::new(tables.clone()), name).unwrap();
    let (current, archive) = (table("Current"), table("Archive"));
    current.create().await.unwrap();
    archive.create().await.unwrap();
    current.insert(&Employee { department: "Sales".into(), id: 1 }).await.unwrap();
    let grace = Duration::from_secs(60);
    let mover = Mover::builder(Arc::new(queues.clone()), "moves")
        .unwrap()
        .on(|_: Nothing, _| async { Ok(Next::Done) })
        .archive(Archive::new(current.clone(), archive).with_grace(grace))
        .build()
        .await
        .unwrap();

    costs.count("send", mover.send(&Nothing)).await;
    assert_eq!(costs.count("run_due of 1 item", mover.run_due()).await, 1);
    costs.count("archive", mover.archive(&current, Employee::key("Sales", 1))).await;
    assert_eq!(costs.count("run_due of 1 archived entity", mover.run_due()).await, 1);
    clock.advance(2 * grace);
    assert_eq!(costs.count("run_due of 1 fence", mover.run_due()).await, 1);
    costs.are_documented();
}
