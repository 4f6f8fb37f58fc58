//! A soak on Azurite: writers here, and worker processes of which one is killed.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use table_core::SystemClock;
use uuid::Uuid;

use super::{Promises, SoakReport, Watcher, Writers, judge};
use crate::azurite;

type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// Worker processes at first.
const WORKERS: u32 = 3;
/// The longest time until the queue is empty.
const LONGEST_DRAIN: Duration = Duration::from_secs(240);

/// A worker process, which ends with its handle.
struct Worker(Child);

impl Worker {
    /// Starts one, and waits until it works.
    fn start(program: &Path, name: &str) -> Result<Self, AnyError> {
        let mut worker = Self(Command::new(program).args(["azurite", name]).stdout(Stdio::piped()).spawn()?);
        let (mut line, output) = (String::new(), worker.0.stdout.take().ok_or("the worker has no output")?);
        BufReader::new(output).read_line(&mut line)?;
        if line == "working\n" { Ok(worker) } else { Err("the worker did not begin to work".into()) }
    }
}

impl Drop for Worker {
    /// With SIGKILL: it is told nothing.
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Lets several worker processes share a queue on Azurite, kills one of them while writers go on, and looks at
/// everything once the queue is empty; none where Azurite does not run.
///
/// # Errors
/// Where a worker cannot be run, the stores do not answer, or the queue does not become empty.
pub async fn soak_azurite(child: &Path, changes: u64) -> Result<Option<SoakReport>, AnyError> {
    let name = format!("S{:.12}", Uuid::new_v4().simple().to_string());
    let Some(world) = azurite::soak_world(&name).await? else { return Ok(None) };
    world.create().await?;
    let promises = Arc::new(Mutex::new(Promises::default()));
    let heard = Arc::clone(&promises);
    let watcher = Watcher::new(move |line| heard.lock().unwrap_or_else(PoisonError::into_inner).note(&line));
    let mut workers = (0..WORKERS).map(|_| Worker::start(child, &name)).collect::<Result<Vec<_>, _>>()?;
    let writers = Writers::new(world.clone(), watcher, 0);
    writers.run(changes / 2).await?;
    // It is in the middle of something: messages are due all the time.
    drop(workers.pop());
    writers.run(changes / 2).await?;

    let (mover, began) = (world.mover().await?, Instant::now());
    while mover.progress().await?.queued > 0 {
        if began.elapsed() > LONGEST_DRAIN {
            return Err(format!("the queue does not become empty: {:?}", mover.progress().await?).into());
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    drop(workers);
    let promises = std::mem::take(&mut *promises.lock().unwrap_or_else(PoisonError::into_inner));
    let judgement = judge(&world, &promises, Arc::new(SystemClock)).await?;
    world.drop_tables().await?;
    let (done, refused) = (promises.done, promises.refused);
    Ok(Some(SoakReport { place: "azurite, one of three workers", kills: 1, done, refused, judgement }))
}
