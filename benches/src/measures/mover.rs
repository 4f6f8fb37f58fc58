//! The mover beside a loop that receives and deletes messages of the same store.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};
use table_core::store::{ReceiveOptions, SendOptions};
use table_core::{QueueName, QueueStore};
use table_embedded::EmbeddedStore;
use table_patterns::eventually_consistent_transactions::{Mover, MoverOptions, Next, WorkItem};

use crate::Result;
use crate::bench::{Bench, Measure, Side};
use crate::fixtures::Fixtures;
use crate::measures::writers::rate_of_tasks;

/// Sends that are under way at once while a queue is filled.
const SENT_AT_ONCE: usize = 500;
/// Items in a round for each durable transaction of a writer: starting and ending the workers must not count.
const ITEMS_PER_COMMIT: usize = 4;
/// How long a message is hidden from others.
const LEASE: Duration = Duration::from_secs(60);

/// Work that takes no time, so that only the mover's own remains.
#[derive(Serialize, Deserialize)]
struct Nothing {
    number: usize,
}

impl WorkItem for Nothing {
    const KIND: &'static str = "bench/nothing";
}

pub(super) fn run(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    for (workers, label) in [(1, "1 worker"), (4, "4 workers")] {
        let measure = Measure::rate(format!("mover/items, {label}"), "receive and delete").at_least(0.5);
        bench.compare(measure, || Ok((mover(fixtures, workers)?, raw(fixtures, workers)?)))?;
    }
    Ok(())
}

fn mover(fixtures: &Fixtures, workers: usize) -> Result<Side<'_>> {
    let (runtime, items) = (&fixtures.runtime, fixtures.scale.commits * ITEMS_PER_COMMIT);
    let store = Arc::new(EmbeddedStore::open(fixtures.path(&format!("mover-{workers}.redb")))?);
    let options = MoverOptions::default().with_concurrency(workers).with_lease(LEASE);
    let builder = Mover::builder(store, "work")?.with_options(options);
    let mover = runtime.block_on(builder.on(|_: Nothing, _| async { Ok(Next::Done) }).build())?;
    Ok(Box::new(move |_| {
        runtime.block_on(async {
            let sends = (0..items).map(|number| {
                let mover = &mover;
                async move { mover.send(&Nothing { number }).await }
            });
            stream::iter(sends).buffer_unordered(SENT_AT_ONCE).try_for_each(|_| async { Ok(()) }).await?;
            let start = Instant::now();
            let running = mover.start();
            mover.drain().await?;
            let time = start.elapsed().as_secs_f64();
            running.shutdown().await;
            Ok(items as f64 / time)
        })
    }))
}

fn raw(fixtures: &Fixtures, workers: usize) -> Result<Side<'_>> {
    let (runtime, items) = (&fixtures.runtime, fixtures.scale.commits * ITEMS_PER_COMMIT);
    let store = EmbeddedStore::open(fixtures.path(&format!("raw-queue-{workers}.redb")))?;
    let queue = QueueName::new("work")?;
    runtime.block_on(store.create_queue(&queue))?;
    Ok(Box::new(move |_| {
        runtime.block_on(async {
            let sends =
                (0..items).map(|number| store.send(&queue, format!("nothing {number}").into(), SendOptions::default()));
            stream::iter(sends).buffer_unordered(SENT_AT_ONCE).try_for_each(|_| async { Ok(()) }).await
        })?;
        rate_of_tasks(runtime, vec![(); workers], |()| empty(store.clone(), queue.clone()))
    }))
}

/// Receives and deletes until there is nothing more.
async fn empty(store: EmbeddedStore, queue: QueueName) -> Result<usize> {
    let mut done = 0;
    loop {
        let received = store.receive(&queue, ReceiveOptions::default().with_visibility(LEASE)).await?;
        let Some(message) = received.first() else { return Ok(done) };
        store.delete_message(&queue, &message.receipt).await?;
        done += 1;
    }
}
