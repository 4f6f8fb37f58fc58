//! Data series: the messages of every hour of a day as properties of one row.
//!
//! `cargo run --example data_series`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use table_core::layer::Meter;
use table_core::{Entity, MemoryStore, Result, Table};
use table_patterns::DataSeries;

#[derive(Entity)]
#[entity(partition = "{employee:06}", row = "{day:08}")]
struct Messages {
    employee: u32,
    day: u32,
}

/// 31 July 2014, as it stands in the row key.
const DAY: u32 = 20_140_731;

#[tokio::main]
async fn main() -> Result<()> {
    let meter = Meter::new(MemoryStore::new());
    let table = Table::new(Arc::new(meter.clone()), "Messages")?;
    table.create().await?;
    let hours = DataSeries::<Messages, i32>::new(table, 24)?;

    let today = Messages { employee: 123, day: DAY };
    hours.set_all(&today, [(8, 2), (9, 7), (10, 4)]).await?;
    // Increments that meet are both counted: each is conditional on what it read.
    futures_util::future::try_join(hours.increment(&today, 17, 1), hours.increment(&today, 17, 1)).await?;

    let before = meter.report();
    if let Some(series) = hours.get(Messages::key(123, DAY)).await? {
        for (hour, messages) in series.values().iter().enumerate() {
            if let Some(messages) = messages {
                println!("{hour:>2}:00 {}", "#".repeat(usize::try_from(*messages).unwrap_or_default()));
            }
        }
        println!("{} hours without messages", series.values().iter().filter(|value| value.is_none()).count());
    }
    println!("storage transactions for the day: {}", (meter.report() - before).total().transactions);
    Ok(())
}
