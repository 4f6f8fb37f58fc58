//! What a scenario sets up: the stores, the actors on them, and who judges in the end.

use std::cell::RefCell;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use table_core::{ErrorKind, ManualClock, MemoryStore, QueueStore, Result, TableStore, Timestamp};

use super::judgement::Judgement;
use super::sabotage::Sabotage;
use super::turns::{ActorTurn, Turns};
use crate::blobs::FaultyBlobs;
use crate::gate::{Gate, Turn};

/// A store of tables and queues.
pub trait AnyStore: TableStore + QueueStore + fmt::Debug {}

impl<S: TableStore + QueueStore + fmt::Debug> AnyStore for S {}

/// A store as one of the actors sees it.
pub type StoreHandle = Arc<dyn AnyStore>;

/// All stores as one of the actors sees them.
#[derive(Debug, Clone)]
pub struct Stores {
    /// Tables and queues.
    pub store: StoreHandle,
    /// Blobs.
    pub blobs: Arc<dyn ObjectStore>,
}

/// One execution before it begins: fresh stores, and what a scenario puts on them.
pub struct Stage {
    pub(super) memory: MemoryStore,
    blobs: Arc<InMemory>,
    pub(super) clock: Arc<ManualClock>,
    pub(super) turns: Arc<Turns>,
    pub(super) actors: Vec<Actor>,
    pub(super) judge: Option<LocalBoxFuture<'static, Judgement>>,
    sabotage: Option<Sabotage>,
}

/// Somebody who makes store calls: a process, or one task of it.
pub(super) struct Actor {
    pub(super) name: &'static str,
    pub(super) told: Told,
    pub(super) work: Pin<Box<dyn Future<Output = Result<()>>>>,
}

impl Stage {
    pub(super) fn new(turns: Turns, sabotage: Option<Sabotage>) -> Self {
        let clock = Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH));
        let memory = MemoryStore::with_clock(clock.clone());
        let (blobs, turns) = (Arc::new(InMemory::new()), Arc::new(turns));
        Self { memory, blobs, clock, turns, actors: Vec::new(), judge: None, sabotage }
    }

    /// The store itself: nobody waits, and nothing is sabotaged.
    #[must_use]
    pub fn memory(&self) -> MemoryStore {
        self.memory.clone()
    }

    /// The clock of the store.
    #[must_use]
    pub fn clock(&self) -> Arc<ManualClock> {
        Arc::clone(&self.clock)
    }

    /// All stores themselves: nobody waits, and nothing is sabotaged.
    #[must_use]
    pub fn bare(&self) -> Stores {
        Stores { store: Arc::new(self.memory()), blobs: self.blobs.clone() }
    }

    /// The stores as a process sees them that nobody interrupts, before or after the actors.
    #[must_use]
    pub fn undisturbed(&self) -> Stores {
        self.taking_turns(ActorTurn::Free)
    }

    /// The stores as the code under test sees them whose calls wait for these turns: sabotaged, where that is tried.
    pub fn taking_turns(&self, turn: impl Turn + Clone) -> Stores {
        let blobs = FaultyBlobs::gated(self.blobs.clone(), turn.clone());
        let store = Gate::new(self.memory.clone(), turn);
        match self.sabotage {
            None => Stores { store: Arc::new(store), blobs: Arc::new(blobs) },
            Some(sabotage) => sabotage.of(store, blobs),
        }
    }

    /// Adds an actor; each of its calls to tables and queues waits for its turn. Says later what it was told.
    pub fn actor<F>(&mut self, name: &'static str, work: impl FnOnce(StoreHandle) -> F) -> Told
    where
        F: Future<Output = Result<()>> + 'static,
    {
        self.actor_with_blobs(name, |stores| work(stores.store))
    }

    /// As [`actor`](Stage::actor), with blobs.
    pub fn actor_with_blobs<F>(&mut self, name: &'static str, work: impl FnOnce(Stores) -> F) -> Told
    where
        F: Future<Output = Result<()>> + 'static,
    {
        let told = Told::default();
        let work = work(self.taking_turns(self.turns.new_desk()));
        self.actors.push(Actor { name, told: told.clone(), work: Box::pin(work) });
        told
    }

    /// Says who looks at what is left when all actors have ended or died.
    pub fn judge(&mut self, judge: impl Future<Output = Judgement> + 'static) {
        self.judge = Some(Box::pin(judge));
    }
}

impl fmt::Debug for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let actors: Vec<_> = self.actors.iter().map(|actor| actor.name).collect();
        f.debug_struct("Stage").field("actors", &actors).finish_non_exhaustive()
    }
}

/// What an actor was told about its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answer {
    /// Nothing: it died before.
    #[default]
    None,
    /// It is done.
    Done,
    /// It is not done.
    Refused(ErrorKind),
    /// Nobody knows.
    Unknown,
}

impl Answer {
    /// Whether the work may have been done without the actor's knowing.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::None | Self::Unknown)
    }
}

/// Holds what an actor was told once it has ended.
#[derive(Debug, Clone, Default)]
pub struct Told(Rc<RefCell<Answer>>);

impl Told {
    /// What it was told so far.
    #[must_use]
    pub fn answer(&self) -> Answer {
        *self.0.borrow()
    }

    pub(super) fn note(&self, result: &Result<()>) {
        *self.0.borrow_mut() = answer_to(result);
    }
}

/// What a result tells whoever asked for the work.
pub(super) fn answer_to(result: &Result<()>) -> Answer {
    match result {
        Ok(()) => Answer::Done,
        Err(error) if error.outcome_unknown() => Answer::Unknown,
        Err(error) => Answer::Refused(error.kind()),
    }
}

/// Something that happens on a stage, explored in every order.
#[derive(Clone, Copy)]
pub struct Scenario {
    /// What happens.
    pub name: &'static str,
    /// The most preemptions that are explored unless more are asked for: its actors make so many calls that all
    /// executions with more would take hours.
    pub most_preemptions: u32,
    pub(super) play: for<'s> fn(&'s mut Stage) -> LocalBoxFuture<'s, ()>,
}

impl Scenario {
    /// A scenario that sets its stage like this.
    #[must_use]
    pub const fn new(name: &'static str, play: for<'s> fn(&'s mut Stage) -> LocalBoxFuture<'s, ()>) -> Self {
        Self { name, most_preemptions: u32::MAX, play }
    }

    /// The scenario, with a bound on the preemptions that are explored unless more are asked for.
    #[must_use]
    pub const fn with_most_preemptions(mut self, preemptions: u32) -> Self {
        self.most_preemptions = preemptions;
        self
    }
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scenario").field(&self.name).finish()
    }
}
