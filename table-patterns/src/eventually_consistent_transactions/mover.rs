//! The mover: what is sent to it, who handles it, and how far it has come.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use table_core::store::{MessageReceipt, ReceiveOptions, SendOptions, TimeToLive};
use table_core::{Error, QueueName, QueueStore, Result, Timestamp};
use tokio::sync::Notify;

use super::delivery::{Delivery, Next};
use super::item::{Outgoing, WorkItem, handler_name};
use super::lease::{Held, Lease};
use super::options::MoverOptions;
use super::worker::{Worker, Workers};

type HandlerFuture = Pin<Box<dyn Future<Output = Result<Next>> + Send>>;
/// Runs an item; an error where it cannot be read.
type Handler = Box<dyn Fn(serde_json::Value, Delivery) -> Result<HandlerFuture> + Send + Sync>;

/// Sends work items to a queue and runs them until they are done.
///
/// Clones share everything. Several movers, in one process or many, may work on one queue.
///
/// See the [module](crate::eventually_consistent_transactions) for an example.
#[derive(Clone)]
pub struct Mover {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) queues: Arc<dyn QueueStore>,
    pub(super) queue: QueueName,
    pub(super) poison: QueueName,
    pub(super) options: MoverOptions,
    pub(super) handlers: HashMap<String, Handler>,
    pub(super) counters: Counters,
    /// Told when this process has sent something, or has ended something.
    pub(super) news: Notify,
    /// What was declared for each scope.
    declared: HashMap<String, Vec<String>>,
}

/// What this process has done so far.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) running: AtomicU64,
    pub(super) done: AtomicU64,
    pub(super) retried: AtomicU64,
    pub(super) blocked: AtomicU64,
    pub(super) unhandled: AtomicU64,
    pub(super) poisoned: AtomicU64,
}

/// How far a mover has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoverProgress {
    /// Items on the queue, hidden and running ones included.
    pub queued: u64,
    /// Items that this process runs now.
    pub running: u64,
    /// Items that this process has done.
    pub done: u64,
    /// Deliveries that this process gave back, to come again.
    pub retried: u64,
    /// Those of them that failed until an operator mends something: a table or queue that is missing, a permission.
    pub blocked: u64,
    /// Those of them that this process has no handler for, as another one may.
    pub unhandled: u64,
    /// Items that this process sent to the poison queue.
    pub poisoned: u64,
    /// For how long the oldest of the items that are due has waited.
    pub oldest: Option<Duration>,
}

/// A mover in the making: its queue, its options and its handlers.
///
/// See the [module](crate::eventually_consistent_transactions) for an example.
pub struct MoverBuilder {
    /// What was declared for each scope.
    declared: HashMap<String, Vec<String>>,
    queues: Arc<dyn QueueStore>,
    queue: QueueName,
    poison: QueueName,
    options: MoverOptions,
    handlers: HashMap<String, Handler>,
    /// Names for which a second handler was given.
    twice: BTreeSet<String>,
}

impl Mover {
    /// Begins a mover on a queue; its poison queue has the same name with `-poison` behind it.
    ///
    /// # Errors
    /// [`InvalidName`](table_core::ErrorKind::InvalidName) for a name that the service does not take.
    pub fn builder(queues: Arc<dyn QueueStore>, queue: &str) -> Result<MoverBuilder> {
        Ok(MoverBuilder {
            declared: HashMap::new(),
            queues,
            queue: QueueName::new(queue)?,
            poison: QueueName::new(format!("{queue}-poison"))?,
            options: MoverOptions::default(),
            handlers: HashMap::new(),
            twice: BTreeSet::new(),
        })
    }

    /// Sends an item. Once this has answered, the item is done some time, whoever dies.
    ///
    /// # Errors
    /// As [`Outgoing::of`], and those of reaching the store.
    pub async fn send<W: WorkItem>(&self, item: &W) -> Result<MessageReceipt> {
        self.send_later(&Outgoing::of(item)?, Duration::ZERO).await
    }

    /// Sends an item that is due after a while. The receipt can withdraw it before.
    ///
    /// # Errors
    /// As [`Mover::send`].
    pub async fn send_later(&self, item: &Outgoing, delay: Duration) -> Result<MessageReceipt> {
        let options = SendOptions::default().with_delay(delay).with_time_to_live(TimeToLive::Never);
        let receipt = self.shared.queues.send(&self.shared.queue, item.body.clone(), options).await?;
        self.shared.news.notify_waiters();
        Ok(receipt)
    }

    /// Takes back an item that nobody has received since it was sent.
    ///
    /// # Errors
    /// [`PreconditionFailed`](table_core::ErrorKind::PreconditionFailed) where somebody has, and those of reaching the store.
    pub async fn withdraw(&self, receipt: &MessageReceipt) -> Result<()> {
        self.shared.queues.delete_message(&self.shared.queue, receipt).await?;
        self.shared.news.notify_waiters();
        Ok(())
    }

    /// Puts another item in the place of one that nobody has received since it was sent, and gives its receipt.
    ///
    /// Whoever sends an item for the case that it dies, and then does the work itself, ends with this: there is no
    /// moment at which neither item is on the queue.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::Duration;
    /// use serde::{Deserialize, Serialize};
    /// use table_core::MemoryStore;
    /// use table_patterns::eventually_consistent_transactions::{Mover, Outgoing, WorkItem};
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Check(String);
    /// #[derive(Serialize, Deserialize)]
    /// struct Forget(String);
    ///
    /// impl WorkItem for Check {
    ///     const KIND: &'static str = "check";
    /// }
    /// impl WorkItem for Forget {
    ///     const KIND: &'static str = "forget";
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> table_core::Result<()> {
    /// let mover = Mover::builder(Arc::new(MemoryStore::new()), "moves")?.build().await?;
    /// let check = mover.send_later(&Outgoing::of(&Check("Jo".into()))?, Duration::from_secs(30)).await?;
    /// // Here the work is done.
    /// mover.exchange(&check, Outgoing::of(&Forget("Jo".into()))?, Duration::from_secs(3600)).await?;
    /// assert_eq!(mover.progress().await?.queued, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Mover::withdraw`].
    pub async fn exchange(&self, receipt: &MessageReceipt, item: Outgoing, due: Duration) -> Result<MessageReceipt> {
        let Shared { queues, queue, .. } = &*self.shared;
        queues.update_message(queue, receipt, due, Some(item.body)).await
    }

    /// Does work while an item that nobody has received stays hidden, renewed as a lease is; `None` where somebody
    /// received it, or the work took longer than it may: then the work was dropped.
    pub(crate) async fn while_hidden<T>(
        &self,
        receipt: &mut MessageReceipt,
        hidden: Duration,
        longest: Duration,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let Shared { queues, queue, .. } = &*self.shared;
        let options = MoverOptions::default().with_lease(hidden).with_longest_run(longest);
        let mut lease = Lease::new(&**queues, queue, receipt.clone());
        let held = lease.keep(&options, work, std::future::pending()).await;
        *receipt = lease.into_receipt();
        match held {
            Held::Through(done) => Some(done),
            Held::Lost | Held::Released => None,
        }
    }

    /// Whether this process handles items of a kind and a scope.
    pub(crate) fn handles<W: WorkItem>(&self, scope: &str) -> bool {
        self.shared.handlers.contains_key(&handler_name(W::KIND, scope))
    }

    /// What the handlers of a scope were made for.
    pub(crate) fn declared(&self, scope: &str) -> &[String] {
        self.shared.declared.get(scope).map_or(&[], Vec::as_slice)
    }

    /// Starts working in the background, until the workers are shut down or dropped.
    #[must_use = "dropping the workers stops them"]
    pub fn start(&self) -> Workers {
        Workers::start(self.clone())
    }

    /// Runs the items that are due now, on this task, and says how many it ran.
    ///
    /// # Errors
    /// Those of receiving; what a handler answers is not one.
    pub async fn run_due(&self) -> Result<usize> {
        let mut ran = 0;
        loop {
            let lease = ReceiveOptions::default().with_visibility(self.shared.options.lease);
            let messages = self.shared.queues.receive(&self.shared.queue, lease).await?;
            if messages.is_empty() {
                return Ok(ran);
            }
            for message in messages {
                Worker::new(&self.shared).deliver(message).await;
                ran += 1;
            }
        }
    }

    /// Waits until the queue is empty, hidden items included. Somebody must be working on it, with a handler for each item.
    ///
    /// # Errors
    /// Those of reaching the store.
    pub async fn drain(&self) -> Result<()> {
        loop {
            let news = self.shared.news.notified();
            if self.shared.queues.queue_length(&self.shared.queue).await? == 0 {
                return Ok(());
            }
            // Another process may be the one that empties it, so its word is not waited for alone.
            drop(tokio::time::timeout(self.shared.options.idle_wait, news).await);
        }
    }

    /// How far the mover has come.
    ///
    /// # Errors
    /// Those of reaching the store.
    pub async fn progress(&self) -> Result<MoverProgress> {
        let Shared { queues, queue, counters, .. } = &*self.shared;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let due = queues.peek(queue, 32).await?;
        let oldest = due.iter().map(|message| message.sent).min();
        Ok(MoverProgress {
            queued: queues.queue_length(queue).await?,
            running: read(&counters.running),
            done: read(&counters.done),
            retried: read(&counters.retried),
            blocked: read(&counters.blocked),
            unhandled: read(&counters.unhandled),
            poisoned: read(&counters.poisoned),
            oldest: oldest.map(|sent| Timestamp::now().saturating_since(sent)),
        })
    }
}

impl MoverBuilder {
    /// Sets how the mover works.
    #[must_use]
    pub fn with_options(mut self, options: MoverOptions) -> Self {
        self.options = options;
        self
    }

    /// Runs items of a kind with this handler. Its steps must be idempotent.
    ///
    /// What becomes of an item whose handler fails follows from the kind of its error:
    ///
    /// | error | the item |
    /// | --- | --- |
    /// | worth trying again, contention, outcome unknown | comes again, after waits that double |
    /// | permission denied, table or queue not found | the same, counted as [`blocked`](MoverProgress::blocked), until an operator has seen to it |
    /// | unsupported | comes again after the longest wait, counted as [`unhandled`](MoverProgress::unhandled): this process cannot do it, and another may |
    /// | any other | comes again, and goes to the poison queue after [`most_failures`](MoverOptions::most_failures) |
    /// | none: the item cannot be read as `W`, so the handler never ran | comes again after the longest wait, since a process of another version may read it, and goes to the poison queue after as many |
    ///
    /// An item without a handler in this process is unhandled too, so a new version can be rolled out beside the old one.
    #[must_use]
    pub fn on<W, F, R>(self, handler: F) -> Self
    where
        W: WorkItem,
        F: Fn(W, Delivery) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Next>> + Send + 'static,
    {
        self.on_scope("", handler)
    }

    /// Runs items of a kind and a scope with this handler. Both travel with the item, so what a scope is made of, such as
    /// a table's name and the name of an entity's type, is part of the wire format.
    pub(crate) fn on_scope<W, F, R>(mut self, scope: &str, handler: F) -> Self
    where
        W: WorkItem,
        F: Fn(W, Delivery) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Next>> + Send + 'static,
    {
        let run: Handler = Box::new(move |item, delivery| match serde_json::from_value::<W>(item) {
            Ok(item) => Ok(Box::pin(handler(item, delivery))),
            Err(error) => {
                let unread = "the work item cannot be read; it was sent by another version of the program";
                Err(Error::corrupted(unread).with_source(error))
            }
        });
        let name = handler_name(W::KIND, scope);
        if self.handlers.insert(name.clone(), run).is_some() {
            self.twice.insert(name);
        }
        self
    }

    /// Whether items of a kind and a scope have a handler.
    pub(crate) fn handles<W: WorkItem>(&self, scope: &str) -> bool {
        self.handlers.contains_key(&handler_name(W::KIND, scope))
    }

    /// A mover that only sends to the queue, for handlers that have more to tell than what their message becomes.
    pub(crate) fn sender(&self) -> Mover {
        Mover { shared: Arc::new(self.shared(HashMap::new())) }
    }

    fn shared(&self, handlers: HashMap<String, Handler>) -> Shared {
        Shared {
            queues: Arc::clone(&self.queues),
            queue: self.queue.clone(),
            poison: self.poison.clone(),
            options: self.options.clone(),
            handlers,
            counters: Counters::default(),
            news: Notify::new(),
            declared: self.declared.clone(),
        }
    }

    /// Notes what the handlers of a scope were made for, so that whoever sends to them can compare it with its own.
    pub(crate) fn declare(mut self, scope: &str, what: Vec<String>) -> Self {
        self.declared.insert(scope.to_owned(), what);
        self
    }

    /// Creates the queues unless they exist, and the mover.
    ///
    /// # Errors
    /// [`AlreadyExists`](table_core::ErrorKind::AlreadyExists) for two handlers of one name, and those of reaching the store.
    pub async fn build(mut self) -> Result<Mover> {
        if let Some(name) = self.twice.first() {
            return Err(Error::already_exists(format!(
                "two handlers were given for {name:?} of the queue {}; an item has one, so leave one out, or give their items different kinds",
                self.queue
            )));
        }
        self.queues.create_queue(&self.queue).await?;
        self.queues.create_queue(&self.poison).await?;
        let handlers = std::mem::take(&mut self.handlers);
        Ok(Mover { shared: Arc::new(self.shared(handlers)) })
    }
}

impl fmt::Debug for Mover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shared { queue, options, counters, .. } = &*self.shared;
        f.debug_struct("Mover")
            .field("queue", queue)
            .field("options", options)
            .field("counters", counters)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for MoverBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: Vec<_> = self.handlers.keys().collect();
        f.debug_struct("MoverBuilder").field("queue", &self.queue).field("kinds", &kinds).finish_non_exhaustive()
    }
}
