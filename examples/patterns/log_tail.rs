//! Log tail: the latest expense claims first, however many there are.
//!
//! `cargo run --example log_tail`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use table_core::{Entity, MemoryStore, Result, Table, Timestamp};
use table_patterns::LogTail;

/// `{at:desc}` is the time in inverted ticks; the number tells two claims of one moment apart.
#[derive(Entity)]
#[entity(partition = "{employee:06}", row = "{at:desc}_{number:06}")]
struct Claim {
    employee: u32,
    at: Timestamp,
    number: u32,
    cents: i64,
}

#[tokio::main]
async fn main() -> Result<()> {
    let table = Table::new(Arc::new(MemoryStore::new()), "Claims")?;
    table.create().await?;
    let claims = LogTail::<Claim>::new(table, Claim::range(123))?;
    for number in 1..=30 {
        let at = format!("2014-07-{number:02}T09:00:00Z").parse()?;
        claims.append(&Claim { employee: 123, at, number, cents: 1_000 + i64::from(number) }).await?;
    }

    for claim in claims.latest(3).await? {
        println!("latest: {} for {} cents", claim.at, claim.cents);
    }
    println!("since 28 July: {}", claims.since("2014-07-28T00:00:00Z".parse()?).await?.len());

    // Pages lead on into the past; a continuation is text that survives a restart.
    let first = claims.page(10, None).await?;
    let next = claims.page(10, first.next.as_ref()).await?;
    let number = |page: &[table_core::Versioned<Claim>]| page.first().map_or(0, |claim| claim.number);
    println!("pages begin with claims {} and {}", number(&first.items), number(&next.items));
    Ok(())
}
