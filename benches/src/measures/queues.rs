//! A long queue beside a short one.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use table_core::store::{ReceiveOptions, SendOptions};
use table_core::{QueueName, QueueStore};
use table_embedded::EmbeddedStore;

use crate::Result;
use crate::bench::{Bench, Measure, Side, time_per_await};
use crate::fixtures::Fixtures;

/// Messages of the short queue.
const FEW: usize = 1_000;
/// Messages that a round receives; all rounds together leave some in the short queue.
const RECEIVED: usize = 50;
/// Sends that are under way at once while a queue is filled.
const SENT_AT_ONCE: usize = 1_000;

pub(super) fn run(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    let messages = fixtures.scale.messages;
    let measure = Measure::time(format!("queue/receive from {messages} messages"), "from 1,000").at_most(2.0);
    bench.compare(measure, || Ok((receives(fixtures, "queue", messages)?, receives(fixtures, "queue", FEW)?)))
}

/// The time of taking one message from a queue of so many.
pub(super) fn receives<'f>(fixtures: &'f Fixtures, measure: &str, messages: usize) -> Result<Side<'f>> {
    let store = EmbeddedStore::open(fixtures.path(&format!("{measure}-{messages}.redb")))?;
    let queue = QueueName::new("work")?;
    fixtures.runtime.block_on(fill(&store, &queue, messages))?;
    Ok(Box::new(move |_| {
        fixtures.runtime.block_on(time_per_await(RECEIVED, async |_| {
            let options = ReceiveOptions::default().with_visibility(Duration::from_secs(3600));
            let received = store.receive(&queue, options).await?;
            if received.len() == 1 { Ok(()) } else { Err("the queue ran out of messages".into()) }
        }))
    }))
}

async fn fill(store: &EmbeddedStore, queue: &QueueName, messages: usize) -> Result {
    store.create_queue(queue).await?;
    let sends = (0..messages).map(|number| async move {
        store.send(queue, format!("archive employee {number:07}").into(), SendOptions::default()).await
    });
    stream::iter(sends).buffer_unordered(SENT_AT_ONCE).try_for_each(|_| async { Ok(()) }).await?;
    Ok(())
}
