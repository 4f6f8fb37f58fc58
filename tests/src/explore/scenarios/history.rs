//! What writers did, what they were told, and what may therefore be there.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use table_core::{Error, ErrorKind, Result};

use crate::explore::Answer;
use crate::explore::stage::answer_to;
use crate::gate::{Call, Turn};

/// What a writer did, and what it was told.
pub(super) type History<S> = Vec<(S, Answer)>;

/// Notes what a writer does.
#[derive(Debug)]
pub(super) struct Log<S>(Rc<RefCell<History<S>>>);

impl<S> Default for Log<S> {
    fn default() -> Self {
        Self(Rc::default())
    }
}

impl<S> Clone for Log<S> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<S: Clone> Log<S> {
    /// Does a step, and notes what comes of it.
    pub(super) async fn run(&self, step: S, work: impl Future<Output = Result<()>>) -> Result<()> {
        self.0.borrow_mut().push((step, Answer::None));
        let result = work.await;
        if let Some((_, answer)) = self.0.borrow_mut().last_mut() {
            *answer = answer_to(&result);
        }
        result
    }

    /// What was noted.
    pub(super) fn history(&self) -> History<S> {
        self.0.borrow().clone()
    }

    /// What was noted of the steps that are meant.
    pub(super) fn steps(&self, are_meant: impl Fn(&S) -> bool) -> History<S> {
        self.0.borrow().iter().filter(|(step, _)| are_meant(step)).cloned().collect()
    }
}

/// A step cannot succeed.
#[derive(Debug)]
pub(super) struct Impossible;

/// What a step makes of an entity, where it can succeed.
pub(super) type Applied<T> = std::result::Result<Option<T>, Impossible>;

/// All states that an entity can be in after some order of what the writers did.
pub(super) fn outcomes<S: Copy, T: Clone + PartialEq>(
    first: Option<T>,
    histories: &[History<S>],
    applied: &impl Fn(S, Option<&T>) -> Applied<T>,
) -> Vec<Option<T>> {
    let mut possible = Vec::new();
    explore(first, histories, &mut vec![0; histories.len()], applied, &mut possible);
    possible
}

fn explore<S: Copy, T: Clone + PartialEq>(
    state: Option<T>,
    histories: &[History<S>],
    at: &mut Vec<usize>,
    applied: &impl Fn(S, Option<&T>) -> Applied<T>,
    possible: &mut Vec<Option<T>>,
) {
    let mut ended = true;
    for writer in 0..histories.len() {
        let Some((step, answer)) = histories.get(writer).zip(at.get(writer)).and_then(|(log, at)| log.get(*at)) else {
            continue;
        };
        ended = false;
        let step_on = |at: &mut Vec<usize>, by: isize| {
            if let Some(at) = at.get_mut(writer) {
                *at = at.saturating_add_signed(by);
            }
        };
        step_on(at, 1);
        if *answer != Answer::Done {
            explore(state.clone(), histories, at, applied, possible);
        }
        if !matches!(answer, Answer::Refused(_))
            && let Ok(next) = applied(*step, state.as_ref())
        {
            explore(next, histories, at, applied, possible);
        }
        step_on(at, -1);
    }
    if ended && !possible.contains(&state) {
        possible.push(state);
    }
}

/// Dies after its first transaction.
#[derive(Debug, Default)]
pub(super) struct DiesAfterTransaction(AtomicBool);

impl Turn for DiesAfterTransaction {
    async fn before(&self, call: Call<'_>) -> Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(dead(call)) } else { Ok(()) }
    }

    fn after(&self, call: Call<'_>) -> Result<()> {
        self.0.fetch_or(call.name == "transact", Ordering::Relaxed);
        Ok(())
    }
}

fn dead(call: Call<'_>) -> Error {
    Error::new(ErrorKind::Unavailable, "the process is dead").with_operation(call.name).with_retryable(false)
}
