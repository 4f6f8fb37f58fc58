//! Eventually consistent transactions: a leaver moves from one table to another, whoever dies in between.
//!
//! `cargo run --example eventually_consistent_transactions`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;
use std::time::Duration;

use table_core::{Entity, MemoryStore, Result, Table};
use table_patterns::eventually_consistent_transactions::{Archive, Mover};

#[derive(Entity)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
}

#[tokio::main]
async fn main() -> Result<()> {
    // Tables and queues may be in different stores; here one has both.
    let store = Arc::new(MemoryStore::new());
    let (current, past) = (Table::new(store.clone(), "Current")?, Table::new(store.clone(), "Archive")?);
    current.create().await?;
    past.create().await?;
    current.insert(&Employee { department: "Sales".into(), id: 7, name: "Jo".into() }).await?;

    // What says that a move is done stays for a while, in case a worker wakes up late.
    let archive = Archive::new(current.clone(), past.clone()).with_grace(Duration::ZERO);
    let mover = Mover::builder(store, "moves")?.archive(archive).build().await?;
    mover.archive(&current, Employee::key("Sales", 7)).await?;
    println!("on the queue: {}", mover.progress().await?.queued);

    let workers = mover.start();
    mover.drain().await?;
    workers.shutdown().await;

    println!("current: {}", name(&current).await?);
    println!("archive: {}", name(&past).await?);
    println!("poisoned: {}", mover.poisoned().await?.len());
    Ok(())
}

async fn name(table: &Table) -> Result<String> {
    let found = table.get(Employee::key("Sales", 7)).await?;
    Ok(found.map_or_else(|| "nobody".into(), |employee| employee.name.clone()))
}
