//! What a scenario sets up: the stores, the actors on them, and who judges in the end.

use std::cell::RefCell;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use object_store::ObjectStore;
use table_core::{ErrorKind, ManualClock, MemoryStore, QueueStore, Result, TableStore, Timestamp};

use super::judgement::Judgement;
use super::sabotage::Sabotage;
use super::turns::{ActorTurn, Turns};
use crate::blobs::FaultyBlobs;
use crate::gate::Gate;

/// A store of tables and queues.
pub trait AnyStore: TableStore + QueueStore {}

impl<S: TableStore + QueueStore> AnyStore for S {}

/// A store as one of the actors sees it.
pub type StoreHandle = Arc<dyn AnyStore>;

/// One execution before it begins: fresh stores, and what a scenario puts on them.
pub struct Stage {
    pub(super) memory: MemoryStore,
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
        Self { memory, clock, turns: Arc::new(turns), actors: Vec::new(), judge: None, sabotage }
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

    /// The store as a process sees it that nobody interrupts, before or after the actors.
    #[must_use]
    pub fn undisturbed(&self) -> StoreHandle {
        self.handle(ActorTurn::Free)
    }

    /// A store as the code under test sees it: sabotaged, where that is tried.
    #[must_use]
    pub fn sabotaged(&self, store: impl AnyStore) -> StoreHandle {
        match self.sabotage {
            None => Arc::new(store),
            Some(sabotage) => sabotage.of(store),
        }
    }

    fn handle(&self, turn: ActorTurn) -> StoreHandle {
        self.sabotaged(Gate::new(self.memory.clone(), turn))
    }

    /// Adds an actor; each of its store calls waits for its turn. Says later what it was told.
    pub fn actor<F>(&mut self, name: &'static str, work: impl FnOnce(StoreHandle) -> F) -> Told
    where
        F: Future<Output = Result<()>> + 'static,
    {
        let told = Told::default();
        let work = work(self.handle(self.turns.new_desk()));
        self.actors.push(Actor { name, told: told.clone(), work: Box::pin(work) });
        told
    }

    /// As [`actor`](Stage::actor), with a blob store whose calls wait for their turn too.
    pub fn actor_with_blobs<F>(
        &mut self,
        name: &'static str,
        blobs: &Arc<dyn ObjectStore>,
        work: impl FnOnce(StoreHandle, Arc<dyn ObjectStore>) -> F,
    ) -> Told
    where
        F: Future<Output = Result<()>> + 'static,
    {
        let told = Told::default();
        let turn = self.turns.new_desk();
        let blobs = Arc::new(FaultyBlobs::gated(Arc::clone(blobs), turn.clone()));
        let work = work(self.handle(turn), blobs);
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
    pub(super) play: for<'s> fn(&'s mut Stage) -> LocalBoxFuture<'s, ()>,
}

impl Scenario {
    /// A scenario that sets its stage like this.
    #[must_use]
    pub const fn new(name: &'static str, play: for<'s> fn(&'s mut Stage) -> LocalBoxFuture<'s, ()>) -> Self {
        Self { name, play }
    }
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scenario").field(&self.name).finish()
    }
}
