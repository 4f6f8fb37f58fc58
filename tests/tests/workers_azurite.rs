//! Several worker processes on Azurite, one of them killed. Without Azurite the test says that it did not run.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use table_core::SystemClock;
use table_tests::azurite;
use table_tests::soak::{Promises, Watcher, Writers, judge};
use uuid::Uuid;

/// A worker process, which ends with its handle.
struct Worker(Child);

impl Worker {
    /// Starts one, and waits until it works.
    fn start(name: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_soak_child"));
        let mut child = command.args(["azurite", name]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "working\n");
        Self(child)
    }
}

impl Drop for Worker {
    /// With SIGKILL: it is told nothing.
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_killed_leaves_its_work_to_the_others() {
    let name = format!("S{}", &Uuid::new_v4().simple().to_string()[..12]);
    let Some(world) = azurite::soak_world(&name).await.unwrap() else { return };
    world.create().await.unwrap();
    let promises = Arc::new(Mutex::new(Promises::default()));
    let heard = Arc::clone(&promises);
    let watcher = Watcher::new(move |line| heard.lock().unwrap().note(&line));
    let mut workers: Vec<Worker> = (0..3).map(|_| Worker::start(&name)).collect();
    let writers = Writers::new(world.clone(), watcher, 0);
    writers.run(10).await.unwrap();
    // It is in the middle of something: messages are due all the time.
    drop(workers.pop());
    writers.run(10).await.unwrap();

    let (mover, began) = (world.mover().await.unwrap(), Instant::now());
    while mover.progress().await.unwrap().queued > 0 {
        assert!(began.elapsed() < Duration::from_secs(240), "{:?}", mover.progress().await);
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    drop(workers);
    let promises = std::mem::take(&mut *promises.lock().unwrap());
    let judgement = judge(&world, &promises, Arc::new(SystemClock)).await.unwrap();
    assert!(judgement.is_clean(), "{judgement}");
    assert!(promises.done > 50, "only {} changes", promises.done);
    world.drop_tables().await.unwrap();
}
