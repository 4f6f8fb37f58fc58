//! Log data: entries gathered into segments, one blob for many, and read by time.
//!
//! `cargo run --example log_data`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use object_store::memory::InMemory;
use table_core::Timestamp;
use table_patterns::LogData;
use table_patterns::log_data::LogOptions;

fn at(time: &str) -> table_core::Result<Timestamp> {
    format!("2014-07-31T{time}Z").parse()
}

#[tokio::main]
async fn main() -> table_core::Result<()> {
    // Any `object_store` will do: in memory, a folder, Azure, S3.
    let log = LogData::new(Arc::new(InMemory::new()), "queue")?;

    // Several writers may write to one log; each gathers entries until time or size is reached, or it is closed.
    for (writer, minute) in [("web1", 4), ("web2", 5)] {
        let entries = log.writer(LogOptions::default());
        for second in 0..60 {
            entries
                .append_at(at(&format!("18:{minute:02}:{second:02}"))?, format!("{writer}: request {second}"))
                .await?;
        }
        entries.append_at(at("19:00:00")?, format!("{writer}: good night")).await?;
        entries.close().await?;
    }

    // The hour stands in a blob's name, so reading a time range opens few blobs.
    for segment in log.segments(at("18:00:00")?..at("20:00:00")?).await? {
        println!("{}: {} entries", segment.path, segment.entries);
    }
    for entry in log.read(at("18:04:58")?..at("18:05:02")?).await? {
        println!("{} {}", entry.at, String::from_utf8_lossy(&entry.data));
    }
    Ok(())
}
