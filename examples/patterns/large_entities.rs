//! Large entities: a photo of any size in a blob, and no blob that nobody knows of.
//!
//! `cargo run --example large_entities`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{TryStreamExt, stream};
use object_store::memory::InMemory;
use table_core::{Entity, MemoryStore, Projection, Table};
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::{BlobTable, Large};

/// A property takes 64 KiB at most. `blob` keeps it elsewhere, and a reference in the row.
#[derive(Entity, Clone)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
    #[entity(blob)]
    photo: Option<Bytes>,
}

/// What a list shows: reading it opens no blob.
#[derive(Projection)]
#[projection(of = Employee)]
struct Badge {
    id: u32,
    name: String,
}

#[tokio::main]
async fn main() -> table_core::Result<()> {
    let store = Arc::new(MemoryStore::new());
    let table = Table::new(store.clone(), "Employees")?;
    table.create().await?;
    // Any `object_store` will do: in memory, a folder, Azure, S3.
    let place = BlobTable::new(table, Arc::new(InMemory::new()));
    // Blobs that were replaced, or whose writer died, go in a day; a worker of the mover sees to it.
    let mover = Mover::builder(store, "moves")?.keep_blobs(&place).build().await?;
    let employees = Large::<Employee>::kept_by(place, &mover)?;
    let workers = mover.start();

    let photo = Some(Bytes::from(vec![7; 3_000_000]));
    employees.insert(&Employee { department: "Sales".into(), id: 223, name: "Jo".into(), photo }).await?;
    let jo = employees.require(Employee::key("Sales", 223)).await?;
    println!("{} has a photo of {} bytes", jo.name, jo.photo.as_ref().map_or(0, Bytes::len));

    for badge in employees.all(Employee::range("Sales").query().project::<Badge>()).await? {
        println!("badge {:06}: {}", badge.id, badge.name);
    }

    // A film is larger than memory: it goes in and comes out as a stream.
    let film = stream::iter((0..50).map(|_| Ok(Bytes::from(vec![9; 1_000_000]))));
    employees.write(Employee::key("Sales", 223), &Employee::PHOTO, film).await?;
    if let Some(reader) = employees.open(Employee::key("Sales", 223), &Employee::PHOTO).await? {
        let length = reader.bytes();
        let read: usize =
            reader.map_ok(|chunk| chunk.len()).try_fold(0, |sum, len| async move { Ok(sum + len) }).await?;
        println!("a film of {length} bytes, of which {read} were read and checked");
    }

    workers.shutdown().await;
    let report = employees.verify().await?;
    // The photo that the film has replaced stays for a day, for those who still read it.
    println!("{} reference, {} blobs, {} missing", report.references, report.blobs, report.missing.len());
    Ok(())
}
