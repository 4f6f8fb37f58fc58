//! Writes to stores and works on their queue for ever, until it is killed; started by the soaks.
//!
//! `embedded FILE FOLDER ROUND BEGAN AHEAD` has all writers and workers on one file, with blobs in the folder, and prints what it begins
//! and what comes of it. `azurite NAME` has workers only.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use object_store::local::LocalFileSystem;
use table_core::Timestamp;
use table_embedded::EmbeddedOptions;
use table_tests::azurite;
use table_tests::soak::{FastClock, Times, Watcher, World, Writers};

type AnyError = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["embedded", file, folder, round, began, ahead] => {
            let clock = FastClock::new(Timestamp::from_ticks(began.parse()?)?, Duration::from_secs(ahead.parse()?));
            let store = EmbeddedOptions::new().with_clock(Arc::new(clock)).open(file)?;
            let blobs = Arc::new(LocalFileSystem::new_with_prefix(folder)?);
            let (tables, queues) = (Arc::new(store.clone()), Arc::new(store));
            let world = World { name: "Soak".to_owned(), tables, queues, blobs, times: Times::default() };
            write_and_work(world, round.parse()?).await
        }
        ["azurite", name] => {
            let world = azurite::soak_world(name).await?.ok_or("azurite does not run")?;
            let _workers = world.mover().await?.start();
            report("working");
            std::future::pending().await
        }
        _ => Err("usage: soak_child embedded FILE FOLDER ROUND BEGAN AHEAD | azurite NAME".into()),
    }
}

async fn write_and_work(world: World, round: u32) -> Result<(), AnyError> {
    world.create().await?;
    // Two that know nothing of each other, as two processes would.
    let _workers = [world.mover().await?.start(), world.mover().await?.start()];
    let writers = Writers::new(world, Watcher::new(|line| report(&line)), round);
    loop {
        writers.run(1000).await?;
    }
}

/// One write to the pipe, so that a line is there whole or not at all.
fn report(line: &str) {
    let mut out = std::io::stdout().lock();
    if out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}
