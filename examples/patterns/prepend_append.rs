//! Prepend/append anti-pattern, and the way out: writes spread over buckets, reads merged back in order.
//!
//! `cargo run --example prepend_append`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::collections::BTreeSet;
use std::sync::Arc;

use table_core::keys::KeyPart;
use table_core::{Entity, MemoryStore, Query, Result, Table, Timestamp};
use table_patterns::Spread;

/// Without the bucket, all events of an hour would go to one partition.
#[derive(Entity)]
#[entity(partition = "{at:%Y%m%d%H}_{bucket(employee, 8):02}", row = "{at}_{employee:06}")]
struct Event {
    at: Timestamp,
    employee: u32,
}

#[tokio::main]
async fn main() -> Result<()> {
    let table = Table::new(Arc::new(MemoryStore::new()), "Events")?;
    table.create().await?;
    let hour: Timestamp = "2014-07-31T18:00:00Z".parse()?;
    let mut at = hour;
    let mut partitions = BTreeSet::new();
    for employee in 0..100 {
        at = at.next_tick();
        let event = Event { at, employee };
        partitions.insert(event.entity_key()?.partition.to_string());
        table.insert(&event).await?;
    }
    println!("100 events went to {} partitions", partitions.len());

    let events = Spread::<Event>::new(table)?;
    let all = events.all(&[hour.to_key()?], Query::allow_scan).await?;
    println!("read back: {}, in order: {}", all.len(), all.is_sorted_by_key(|event| event.at));
    let first = events.first(3, &[hour.to_key()?], Query::allow_scan).await?;
    println!("the first three are of employees {:?}", first.iter().map(|event| event.employee).collect::<Vec<_>>());
    Ok(())
}
