//! Workers: they take what is due, run it under a lease, and settle it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use table_core::store::{Message, ReceiveOptions, SendOptions, TimeToLive};
use table_core::{Error, ErrorKind, Result, limits};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use super::delivery::{Delivery, Next};
use super::failure::{Failed, Fault, not_here};
use super::item::Envelope;
use super::lease::{Held, Lease};
use super::mover::{Mover, Shared};

/// The shortest time between two looks at an empty queue.
const SHORTEST_IDLE_WAIT: Duration = Duration::from_millis(10);

/// One delivery at work.
pub(super) struct Worker<'m> {
    shared: &'m Arc<Shared>,
    /// Turns true when the worker is to let go of its message.
    release: Option<watch::Receiver<bool>>,
}

impl<'m> Worker<'m> {
    pub(super) const fn new(shared: &'m Arc<Shared>) -> Self {
        Self { shared, release: None }
    }

    const fn releasable(shared: &'m Arc<Shared>, release: watch::Receiver<bool>) -> Self {
        Self { shared, release: Some(release) }
    }

    /// Comes when the worker is to let go of its message.
    async fn released(&self) {
        match &self.release {
            Some(release) if release.clone().wait_for(|release| *release).await.is_ok() => {}
            _ => std::future::pending().await,
        }
    }

    /// Runs a message's handler and settles the message. What cannot be settled comes again.
    pub(super) async fn deliver(&self, message: Message) {
        let counters = &self.shared.counters;
        counters.running.fetch_add(1, Ordering::Relaxed);
        let id = message.receipt.id.clone();
        if let Err(error) = self.run_and_settle(message).await {
            tracing::warn!(message = %id, %error, "the message could not be settled and comes again");
            counters.retried.fetch_add(1, Ordering::Relaxed);
        }
        counters.running.fetch_sub(1, Ordering::Relaxed);
        self.shared.news.notify_waiters();
    }

    async fn run_and_settle(&self, message: Message) -> Result<()> {
        let Shared { queues, queue, options, .. } = &**self.shared;
        let mut lease = Lease::new(&**queues, queue, message.receipt.clone());
        let mut envelope = match Envelope::decode(&message.body) {
            Ok(envelope) => envelope,
            Err(error) => {
                tracing::error!(message = %message.receipt.id, %error, "poisoned");
                return self.poison(lease, message.body).await;
            }
        };
        if self.is_deadly(&envelope, &message) {
            let error =
                Error::new(ErrorKind::Contention, "no worker that took the item lived to say what became of it");
            tracing::error!(message = %message.receipt.id, %error, "poisoned");
            envelope.note("begin", &error);
            return self.put_aside(lease, envelope, &message).await;
        }
        envelope.answered = envelope.answered.saturating_add(1);
        let mover = Mover { shared: Arc::clone(self.shared) };
        let delivery = Delivery::new(&message.receipt.id, message.dequeue_count, mover);
        let run = AssertUnwindSafe(self.handle(&envelope, delivery.clone())).catch_unwind();
        let result = match lease.keep(options, run, self.released()).await {
            Held::Lost => {
                self.shared.counters.retried.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            }
            Held::Released => return lease.hide(Duration::ZERO, envelope.encode_again()?).await,
            Held::Through(Ok(result)) => result,
            Held::Through(Err(_)) => Err(Error::corrupted("the handler panicked").into()),
        };
        match result {
            Ok(next) => match self.settle(&mut lease, next, &envelope).await {
                Err(error) if is_refused(&error) => self.fail(lease, envelope, &message, "settle", error.into()).await,
                settled => settled,
            },
            Err(failed) => self.fail(lease, envelope, &message, delivery.current_step(), failed).await,
        }
    }

    /// Whether so many workers died with an item that it is taken for their end.
    fn is_deadly(&self, envelope: &Envelope, message: &Message) -> bool {
        let before = message.dequeue_count.saturating_sub(1);
        before.saturating_sub(envelope.answered) >= self.shared.options.most_deliveries
    }

    async fn handle(&self, envelope: &Envelope, delivery: Delivery) -> Result<Next, Failed> {
        let Some(handler) = self.shared.handlers.get(envelope.kind.as_str()) else {
            let kind = &envelope.kind;
            return Err(not_here(format!("no handler for items of the kind {kind:?} is registered here")).into());
        };
        match handler(envelope.item.clone(), delivery) {
            Ok(run) => Ok(run.await?),
            Err(error) => Err(Failed { fault: Fault::Reading, error }),
        }
    }

    async fn settle(&self, lease: &mut Lease<'_>, next: Next, envelope: &Envelope) -> Result<()> {
        let counters = &self.shared.counters;
        match next {
            Next::Done => {
                lease.delete().await?;
                counters.done.fetch_add(1, Ordering::Relaxed);
            }
            Next::Become(item, due) => {
                // The message is the same, and so are its deliveries so far.
                let next = Envelope::decode(&item.body)?.afresh(envelope.answered);
                lease.hide(due, Some(next.encode()?)).await?;
                counters.done.fetch_add(1, Ordering::Relaxed);
            }
            Next::Later(due) => {
                let later = Envelope { in_a_row: 0, ..envelope.clone() };
                lease.hide(due, later.encode_again()?).await?;
                counters.retried.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Gives an item back that failed, or puts it aside where that is its own fault and has happened too often.
    async fn fail(
        &self,
        mut lease: Lease<'_>,
        mut envelope: Envelope,
        message: &Message,
        step: &str,
        Failed { fault, error }: Failed,
    ) -> Result<()> {
        let Shared { options, counters, .. } = &**self.shared;
        tracing::warn!(message = %message.receipt.id, step, %error, ?fault, "failed");
        let is_noted = matches!(fault, Fault::Item | Fault::Reading);
        if is_noted {
            envelope.note(step, &error);
        }
        if fault != Fault::Process {
            envelope.in_a_row = envelope.in_a_row.saturating_add(1);
        }
        let body = envelope.encode_again()?;
        // Where the message has no room for another failure nobody could count them.
        if is_noted && (envelope.failed >= options.most_failures || body.is_none()) {
            return self.put_aside(lease, envelope, message).await;
        }
        counters.retried.fetch_add(1, Ordering::Relaxed);
        let waiting = match fault {
            Fault::Passing | Fault::Item => options.wait_after(envelope.in_a_row),
            Fault::Operator => {
                counters.blocked.fetch_add(1, Ordering::Relaxed);
                options.wait_after(envelope.in_a_row)
            }
            Fault::Process => {
                counters.unhandled.fetch_add(1, Ordering::Relaxed);
                options.longest_wait
            }
            // A process of the version that can read it may be there by then.
            Fault::Reading => options.longest_wait,
        };
        lease.hide(waiting, body).await
    }

    /// Puts an item aside, with its id, so that two copies of it can be told from two items.
    async fn put_aside(&self, lease: Lease<'_>, mut envelope: Envelope, message: &Message) -> Result<()> {
        envelope.poisoned = Some(message.receipt.id.clone());
        let body = envelope.encode_again()?.unwrap_or_else(|| message.body.clone());
        self.poison(lease, body).await
    }

    /// Puts a message aside: first there, then no longer here.
    async fn poison(&self, lease: Lease<'_>, body: bytes::Bytes) -> Result<()> {
        let for_ever = SendOptions::default().with_time_to_live(TimeToLive::Never);
        self.shared.queues.send(&self.shared.poison, body, for_ever).await?;
        self.shared.counters.poisoned.fetch_add(1, Ordering::Relaxed);
        lease.delete().await
    }
}

/// Whether the queue refuses what a handler answered and will always do so: a wait beyond its limit. A message that
/// somebody else has by now is another matter.
fn is_refused(error: &Error) -> bool {
    let is_lost = matches!(error.kind(), ErrorKind::PreconditionFailed | ErrorKind::NotFound);
    !is_lost && Fault::of(error) == Fault::Item
}

/// Workers in the background. Dropping them stops them at once; what they held comes again later.
///
/// See the [module](crate::eventually_consistent_transactions) for an example.
#[derive(Debug)]
pub struct Workers {
    stop: watch::Sender<bool>,
    task: Option<JoinHandle<()>>,
}

impl Workers {
    pub(super) fn start(mover: Mover) -> Self {
        let (stop, stopped) = watch::channel(false);
        Self { stop, task: Some(tokio::spawn(work(mover, stopped))) }
    }

    /// Takes no more items, waits for those that run, and releases those that take too long, so that
    /// another worker has them at once.
    pub async fn shutdown(mut self) {
        self.stop.send_replace(true);
        if let Some(task) = self.task.take() {
            drop(task.await);
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}

/// Takes items while there is room, until told to stop.
async fn work(mover: Mover, mut stopped: watch::Receiver<bool>) {
    let options = &mover.shared.options;
    let (release, released) = watch::channel(false);
    let mut running = JoinSet::new();
    let mut idle = SHORTEST_IDLE_WAIT;
    while !*stopped.borrow() {
        while running.try_join_next().is_some() {}
        let room = options.concurrency.max(1).saturating_sub(running.len());
        if room == 0 {
            tokio::select! {
                _ = running.join_next() => {}
                _ = stopped.changed() => {}
            }
            continue;
        }
        let receive =
            ReceiveOptions::default().with_count(room.min(limits::RECEIVE_MESSAGES)).with_visibility(options.lease);
        let received = mover.shared.queues.receive(&mover.shared.queue, receive).await;
        let messages = received.inspect_err(|error| tracing::warn!(%error, "receive")).unwrap_or_default();
        if messages.is_empty() {
            let news = mover.shared.news.notified();
            tokio::select! {
                () = tokio::time::sleep(idle) => idle = (idle * 2).min(options.idle_wait),
                () = news => idle = SHORTEST_IDLE_WAIT,
                _ = stopped.changed() => {}
            }
            continue;
        }
        idle = SHORTEST_IDLE_WAIT;
        for message in messages {
            let (shared, released) = (Arc::clone(&mover.shared), released.clone());
            running.spawn(async move { Worker::releasable(&shared, released).deliver(message).await });
        }
    }
    let finished = async { while running.join_next().await.is_some() {} };
    if tokio::time::timeout(options.shutdown_wait, finished).await.is_err() {
        release.send_replace(true);
        while running.join_next().await.is_some() {}
    }
}
