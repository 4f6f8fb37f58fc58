//! Wide entities: a value for each day of a year is more than one row holds, and still one entity.
//!
//! `cargo run --example wide_entities`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use table_core::layer::Meter;
use table_core::{DynamicEntity, EntityKey, IfMatch, MemoryStore, Properties, PropertyName, Result, Table, Value};
use table_patterns::WideRows;

fn day(number: u16) -> Result<PropertyName> {
    PropertyName::new(format!("Day{number:03}"))
}

#[tokio::main]
async fn main() -> Result<()> {
    let meter = Meter::new(MemoryStore::new());
    let table = Table::new(Arc::new(meter.clone()), "Messages")?;
    table.create().await?;
    let years = WideRows::new(table);

    // A row takes 252 properties; these 365 go to several, in one transaction.
    let mut year = DynamicEntity::new(EntityKey::parse("000123", "2014")?);
    for number in 1..=365 {
        year.properties.insert(day(number)?, Value::Int32(i32::from(number % 7)));
    }
    let key = year.key.clone();
    let before = meter.report();
    years.insert(year).await?;
    println!("storage transactions to write it: {}", (meter.report() - before).total().transactions);

    // A patch writes the part that it names, and the head, which holds the version.
    let last = Properties::from_iter([(day(365)?, Value::Int32(99))]);
    years.patch(&key, &last, &IfMatch::Any).await?;

    let before = meter.report();
    if let Some(year) = years.get(&key).await? {
        println!("storage transactions to read it: {}", (meter.report() - before).total().transactions);
        println!("{} days, the last of them {:?}", year.properties.len(), year.get("Day365"));
    }
    Ok(())
}
