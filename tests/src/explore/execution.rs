//! One execution: at every store call somebody is chosen to go on, and what becomes of the call.

use std::panic::AssertUnwindSafe;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt;
use table_core::QueueStore;

use super::choices::Choices;
use super::judgement::{Judgement, Wrong};
use super::stage::{Actor, Stage};
use super::turns::{Fate, Turns};

/// How long a lease has been over when it is over: longer than any lease and any wait before a repetition.
const LATE: Duration = Duration::from_secs(60);
/// How long an actor that sleeps is waited for at once.
const SHORT_SLEEP: Duration = Duration::from_secs(1);
/// How long all actors may sleep before somebody must go on.
const LONGEST_SLEEP: Duration = Duration::from_secs(3600);

/// What an execution may do to its actors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    /// How often somebody is interrupted who could have gone on.
    pub preemptions: u32,
    /// How many actors die, and calls are lost, together.
    pub faults: u32,
    /// How often all leases run out.
    pub expiries: u32,
    /// Store calls after which an execution is taken not to end.
    pub calls: u32,
}

/// What may happen next.
#[derive(Debug, Clone, Copy)]
struct Step {
    actor: usize,
    call: usize,
    fate: Fate,
    leases_are_over: bool,
    weight: u32,
}

/// One execution under way.
pub(super) struct Execution<'e> {
    stage: Stage,
    left: Bounds,
    choices: &'e mut Choices,
    /// Whether chance decides, which may also mix up the calls that one actor makes side by side.
    by_chance: bool,
    current: Option<usize>,
    options: Vec<Step>,
    weights: Vec<u32>,
    trace: Option<&'e mut Vec<String>>,
}

impl<'e> Execution<'e> {
    pub(super) fn new(stage: Stage, bounds: Bounds, choices: &'e mut Choices, by_chance: bool) -> Self {
        let (options, weights) = (Vec::with_capacity(16), Vec::with_capacity(16));
        Self { stage, left: bounds, choices, by_chance, current: None, options, weights, trace: None }
    }

    pub(super) fn traced(mut self, trace: &'e mut Vec<String>) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Runs all actors to their ends, and has the outcome judged.
    pub(super) async fn run(mut self) -> Judgement {
        let mut actors: Vec<Option<Actor>> = self.stage.actors.drain(..).map(Some).collect();
        for actor in &mut actors {
            if let Err(broken) = step(actor).await {
                return broken;
            }
        }
        loop {
            self.list_options(&actors);
            if self.options.is_empty() {
                if actors.iter().all(Option::is_none) {
                    break;
                }
                // Whoever is left sleeps. With tokio's clock paused this ends when the first wakes up.
                match tokio::time::timeout(LONGEST_SLEEP, wake(&mut actors, 0, &self.stage.turns)).await {
                    Ok(Ok(())) => continue,
                    Ok(Err(broken)) => return broken,
                    Err(_) => return broken("an actor waits for something that never comes".to_owned()),
                }
            }
            if self.left.calls == 0 {
                return broken("the execution does not end".to_owned());
            }
            self.left.calls -= 1;
            if let Err(broken) = self.go_on(&mut actors).await {
                return broken;
            }
        }
        drop(actors);
        match self.stage.judge.take() {
            Some(judge) => match AssertUnwindSafe(judge).catch_unwind().await {
                Ok(judgement) => judgement,
                Err(panic) => broken(format!("the judge panicked: {}", said(&*panic))),
            },
            None => Judgement::default(),
        }
    }

    /// Chooses what happens next, and lets it happen.
    async fn go_on(&mut self, actors: &mut [Option<Actor>]) -> Result<(), Judgement> {
        self.weights.clear();
        self.weights.extend(self.options.iter().map(|option| option.weight));
        let chosen = self.choices.choose(&self.weights);
        let Some(option) = self.options.get(chosen).copied() else { return Ok(()) };
        let Some(place) = actors.get_mut(option.actor) else { return Ok(()) };
        self.account(&option, place.as_ref().map_or("", |actor| actor.name));
        if option.leases_are_over {
            self.stage.clock.advance(LATE);
        }
        self.current = Some(option.actor);
        if option.fate == Fate::Die {
            // Dropping the future is what a process that dies looks like from its stores.
            *place = None;
            return Ok(());
        }
        self.stage.turns.grant(option.actor, option.call, option.fate);
        step(place).await?;
        let sleeps = place.is_some() && self.stage.turns.waiting(option.actor) == 0;
        if sleeps {
            // A short wait, as before a repetition, is over before anybody else does anything.
            let short =
                tokio::time::timeout(SHORT_SLEEP, wake(std::slice::from_mut(place), option.actor, &self.stage.turns));
            short.await.unwrap_or(Ok(()))?;
        }
        Ok(())
    }

    fn account(&mut self, option: &Step, name: &str) {
        if self.current.is_some_and(|current| current != option.actor && self.stage.turns.waiting(current) > 0) {
            self.left.preemptions = self.left.preemptions.saturating_sub(1);
        }
        self.left.faults -= u32::from(option.fate != Fate::Pass);
        self.left.expiries -= u32::from(option.leases_are_over);
        if let Some(trace) = &mut self.trace {
            let what = self.stage.turns.look(option.actor, option.call, |waiting| waiting.described.clone());
            let fate = match option.fate {
                Fate::Pass => "",
                Fate::Die => ": dies before it",
                Fate::LoseRequest => ": the request is lost",
                Fate::LoseAnswer => ": the answer is lost",
            };
            let late = if option.leases_are_over { " (all leases have run out)" } else { "" };
            trace.push(format!("{name}: {}{late}{fate}", what.unwrap_or_default()));
        }
    }

    /// Lists what may happen next; the first is that whoever was at work goes on.
    fn list_options(&mut self, actors: &[Option<Actor>]) {
        self.options.clear();
        let ready = |actor: &usize| self.stage.turns.waiting(*actor) > 0;
        let current = self.current.filter(ready);
        let others = (0..actors.len()).filter(|actor| Some(*actor) != current).filter(ready);
        for actor in current.into_iter().chain(others).collect::<Vec<_>>() {
            let preempts = current.is_some_and(|current| current != actor);
            if preempts && self.left.preemptions == 0 {
                continue;
            }
            let calls = if self.by_chance { self.stage.turns.waiting(actor) } else { 1 };
            for call in 0..calls {
                self.list_options_of(actor, call, preempts);
            }
        }
    }

    fn list_options_of(&mut self, actor: usize, call: usize, preempts: bool) {
        let looked = self.stage.turns.look(actor, call, |waiting| (waiting.has_effect, waiting.receives.clone()));
        let Some((has_effect, receives)) = looked else { return };
        let may_expire = self.left.expiries > 0 && receives.is_some_and(|queue| self.hides_messages(&queue));
        let often = if preempts { 10 } else { 30 };
        let option = |fate, leases_are_over, weight| Step { actor, call, fate, leases_are_over, weight };
        self.options.push(option(Fate::Pass, false, often));
        if may_expire {
            self.options.push(option(Fate::Pass, true, often));
        }
        if self.left.faults == 0 {
            return;
        }
        // Dying at a read is dying at the next call that has an effect; and whoever is chosen over somebody
        // else only to die might as well die later.
        if has_effect && !preempts {
            self.options.push(option(Fate::Die, false, 1));
        }
        self.options.push(option(Fate::LoseRequest, false, 1));
        if has_effect {
            self.options.push(option(Fate::LoseAnswer, false, 1));
        }
    }

    /// Whether a queue has messages that nobody can receive now.
    fn hides_messages(&self, queue: &table_core::QueueName) -> bool {
        let length = self.stage.memory.queue_length(queue).now_or_never().and_then(Result::ok).unwrap_or_default();
        let visible = self.stage.memory.peek(queue, 32).now_or_never().and_then(Result::ok).unwrap_or_default();
        length > visible.len() as u64
    }
}

/// Lets an actor go on up to its next call.
async fn step(place: &mut Option<Actor>) -> Result<(), Judgement> {
    std::future::poll_fn(|context| Poll::Ready(poll(place, context))).await
}

/// Waits until one of the actors that sleep has ended or makes a call.
async fn wake(actors: &mut [Option<Actor>], first: usize, turns: &Turns) -> Result<(), Judgement> {
    std::future::poll_fn(|context| {
        let mut woken = false;
        for (number, place) in actors.iter_mut().enumerate().filter(|(_, place)| place.is_some()) {
            if let Err(broken) = poll(place, context) {
                return Poll::Ready(Err(broken));
            }
            woken |= place.is_none() || turns.waiting(first + number) > 0;
        }
        if woken { Poll::Ready(Ok(())) } else { Poll::Pending }
    })
    .await
}

/// Polls an actor, and takes it away when it has ended.
fn poll(place: &mut Option<Actor>, context: &mut Context<'_>) -> Result<(), Judgement> {
    let Some(actor) = place else { return Ok(()) };
    match std::panic::catch_unwind(AssertUnwindSafe(|| actor.work.as_mut().poll(context))) {
        Ok(Poll::Pending) => Ok(()),
        Ok(Poll::Ready(result)) => {
            actor.told.note(&result);
            *place = None;
            Ok(())
        }
        Err(panic) => Err(broken(format!("{} panicked: {}", actor.name, said(&*panic)))),
    }
}

fn broken(what: String) -> Judgement {
    let mut judgement = Judgement::default();
    judgement.find(Wrong::Broken, what);
    judgement
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("something that is no text").to_owned()
}
