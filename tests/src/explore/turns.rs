//! Where actors wait for their turn.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use table_core::{Error, ErrorKind, QueueName, Result};

use crate::gate::{Call, Turn};

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is made and answered.
    Pass,
    /// Its actor dies instead of making it. To die after a call is to die before the next one.
    Die,
    /// It never reaches the store, and the actor cannot know.
    LoseRequest,
    /// It is made, and the actor cannot know.
    LoseAnswer,
}

/// A call that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    ticket: u64,
    /// Whether the store can be another after it.
    pub(super) has_effect: bool,
    /// The queue, where it is a receive.
    pub(super) receives: Option<QueueName>,
    /// What it is, where somebody wants to read it.
    pub(super) described: String,
    /// Whom to wake when it may go on: code that makes several calls at once polls only who was woken.
    waker: Option<Waker>,
}

/// The calls that wait, of all actors of an execution.
#[derive(Debug, Default)]
pub(super) struct Turns {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    tickets: u64,
    described: bool,
    desks: Vec<Desk>,
}

#[derive(Debug, Default)]
struct Desk {
    waiting: Vec<Waiting>,
    granted: Option<(u64, Fate)>,
    answer_is_lost: bool,
}

impl Turns {
    /// Turns whose calls are described, for a trace.
    pub(super) fn described() -> Self {
        Self { state: Mutex::new(State { described: true, ..State::default() }) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for one more actor.
    pub(super) fn new_desk(self: &Arc<Self>) -> ActorTurn {
        let mut state = self.lock();
        state.desks.push(Desk::default());
        ActorTurn::Waits { turns: Arc::clone(self), actor: state.desks.len() - 1 }
    }

    /// Looks at one of the calls with which an actor waits.
    pub(super) fn look<T>(&self, actor: usize, call: usize, look: impl FnOnce(&Waiting) -> T) -> Option<T> {
        self.lock().desks.get(actor).and_then(|desk| desk.waiting.get(call)).map(look)
    }

    /// How many calls an actor waits with: several where it makes them side by side.
    pub(super) fn waiting(&self, actor: usize) -> usize {
        self.lock().desks.get(actor).map_or(0, |desk| desk.waiting.len())
    }

    /// Lets one of an actor's calls go on when the actor is polled next.
    pub(super) fn grant(&self, actor: usize, call: usize, fate: Fate) {
        if let Some(desk) = self.lock().desks.get_mut(actor)
            && let Some(waiting) = desk.waiting.get_mut(call)
        {
            desk.granted = Some((waiting.ticket, fate));
            if let Some(waker) = waiting.waker.take() {
                waker.wake();
            }
        }
    }
}

/// The turns of one actor.
#[derive(Debug, Clone)]
pub(super) enum ActorTurn {
    /// It need not wait: nothing is explored now.
    Free,
    /// It waits for its turn.
    Waits {
        /// Where.
        turns: Arc<Turns>,
        /// As whom.
        actor: usize,
    },
}

/// Takes a call out of the line when its future is dropped.
struct Ticket<'t> {
    turns: &'t Turns,
    actor: usize,
    number: u64,
}

impl<'t> Ticket<'t> {
    fn take(turns: &'t Turns, actor: usize, call: Call<'_>) -> Self {
        let mut state = turns.lock();
        state.tickets += 1;
        let number = state.tickets;
        let described = if state.described { describe(call) } else { String::new() };
        let receives = if call.name == "receive" { QueueName::new(call.place).ok() } else { None };
        let has_effect = !is_read(call);
        if let Some(desk) = state.desks.get_mut(actor) {
            desk.waiting.push(Waiting { ticket: number, has_effect, receives, described, waker: None });
        }
        Self { turns, actor, number }
    }

    fn poll(&self, context: &Context<'_>) -> Poll<Fate> {
        let mut state = self.turns.lock();
        let Some(desk) = state.desks.get_mut(self.actor) else { return Poll::Pending };
        match desk.granted {
            Some((ticket, fate)) if ticket == self.number => {
                desk.granted = None;
                desk.answer_is_lost = fate == Fate::LoseAnswer;
                Poll::Ready(fate)
            }
            _ => {
                let mut waiting = desk.waiting.iter_mut().filter(|waiting| waiting.ticket == self.number);
                if let Some(waiting) = waiting.next() {
                    waiting.waker = Some(context.waker().clone());
                }
                Poll::Pending
            }
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let mut state = self.turns.lock();
        if let Some(desk) = state.desks.get_mut(self.actor) {
            desk.waiting.retain(|waiting| waiting.ticket != self.number);
        }
    }
}

fn describe(call: Call<'_>) -> String {
    match call.key {
        Some(key) => format!("{} {} {}/{}", call.name, call.place, key.partition, key.row),
        None => format!("{} {}", call.name, call.place),
    }
}

impl Turn for ActorTurn {
    async fn before(&self, call: Call<'_>) -> Result<()> {
        let Self::Waits { turns, actor } = self else { return Ok(()) };
        // Nobody's turn depends on what only sets the stage or looks at it.
        if matches!(call.name, "create_table" | "create_queue" | "list_tables" | "peek" | "queue_length") {
            return Ok(());
        }
        let ticket = Ticket::take(turns, *actor, call);
        match std::future::poll_fn(|context| ticket.poll(context)).await {
            Fate::Pass | Fate::LoseAnswer => Ok(()),
            Fate::LoseRequest => Err(lost(call)),
            Fate::Die => std::future::pending().await,
        }
    }

    fn after(&self, call: Call<'_>) -> Result<()> {
        let Self::Waits { turns, actor } = self else { return Ok(()) };
        let lost_now = turns.lock().desks.get_mut(*actor).is_some_and(|desk| std::mem::take(&mut desk.answer_is_lost));
        if lost_now { Err(lost(call)) } else { Ok(()) }
    }
}

fn is_read(call: Call<'_>) -> bool {
    matches!(call.name, "get" | "query" | "get blob" | "list blobs")
}

/// Neither request nor answer tells which of them was lost; of a read that leaves no doubt.
fn lost(call: Call<'_>) -> Error {
    let doubtful = !is_read(call);
    Error::new(ErrorKind::Unavailable, "the call was lost on its way, as the explorer chose")
        .with_operation(call.name)
        .with_outcome_unknown(doubtful)
}
