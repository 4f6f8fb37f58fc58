//! Writes to an embedded store for ever and reports each acknowledgement, until it is killed.
//!
//! Started by the crash tests with the file and a number that makes its rows its own.
//! Each line it prints is something that the store has promised:
//! `row ROUND WRITER NUMBER`, `sent ID`, `deleted ID`; but for `deleting ID`, which comes before.

use std::io::Write;

use table_core::store::{ReceiveOptions, SendOptions};
use table_core::{QueueStore, TableStore};
use table_embedded::EmbeddedStore;
use table_tests::crash;

/// Tasks that write rows at once, so that commits hold several transactions.
const WRITERS: u32 = 4;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), Some(round)) = (arguments.next(), arguments.next()) else {
        return Err("usage: crash_child FILE ROUND".into());
    };
    let round: u32 = round.parse()?;
    let store = EmbeddedStore::open(path)?;
    match store.create_table(&crash::table()?).await {
        Err(error) if error.kind() != table_core::ErrorKind::AlreadyExists => return Err(error.into()),
        _ => store.create_queue(&crash::queue()?).await?,
    }
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        tasks.spawn(write_rows(store.clone(), round, writer));
    }
    tasks.spawn(send_messages(store.clone(), round));
    tasks.spawn(delete_messages(store));
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    Ok(())
}

/// One write to the pipe, so that a line is there whole or not at all.
fn report(line: &str) {
    let mut out = std::io::stdout().lock();
    if out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}

async fn write_rows(store: EmbeddedStore, round: u32, writer: u32) -> table_core::Result<()> {
    for number in 0.. {
        store.transact(&crash::table()?, crash::transaction(round, writer, number)?).await?;
        report(&format!("row {round} {writer} {number}"));
    }
    Ok(())
}

async fn send_messages(store: EmbeddedStore, round: u32) -> table_core::Result<()> {
    for number in 0_u32.. {
        let body = format!("{round}-{number}");
        store.send(&crash::queue()?, body.clone().into(), SendOptions::default()).await?;
        report(&format!("sent {body}"));
    }
    Ok(())
}

async fn delete_messages(store: EmbeddedStore) -> table_core::Result<()> {
    loop {
        for message in store.receive(&crash::queue()?, ReceiveOptions::default().with_count(2)).await? {
            let id = String::from_utf8_lossy(&message.body);
            report(&format!("deleting {id}"));
            store.delete_message(&crash::queue()?, &message.receipt).await?;
            report(&format!("deleted {id}"));
        }
    }
}
