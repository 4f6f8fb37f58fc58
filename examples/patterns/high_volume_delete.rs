//! High-volume delete: a table a day, dropped as a whole when its time is over.
//!
//! `cargo run --example high_volume_delete`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use table_core::{Entity, ManualClock, MemoryStore, Result, Timestamp};
use table_patterns::{Period, RollingTables};

#[derive(Entity)]
#[entity(partition = "{user}", row = "{at}")]
struct Login {
    user: String,
    at: Timestamp,
}

#[tokio::main]
async fn main() -> Result<()> {
    let clock = Arc::new(ManualClock::new("2014-07-31T12:00:00Z".parse()?));
    let store = Arc::new(MemoryStore::new());
    let logins = RollingTables::new(store, "Logins", Period::Day, 7)?.with_clock(clock.clone());
    for at in ["2014-07-29T08:00:00Z", "2014-07-30T08:00:00Z", "2014-07-31T08:00:00Z"] {
        let at = at.parse()?;
        logins.insert(at, &Login { user: "jo".into(), at }).await?;
    }

    // Reads go over the tables of a span of time.
    let since: Timestamp = "2014-07-30T00:00:00Z".parse()?;
    for login in logins.all(since.., Login::range("jo").query().allow_scan()).await? {
        println!("jo at {}", login.at);
    }

    // Nine days later, whole tables go, however many rows they have.
    clock.set("2014-08-08T12:00:00Z".parse()?);
    for table in logins.drop_expired().await? {
        println!("dropped {table}");
    }
    Ok(())
}
