//! What writers did and were told, and what can have come of it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use table_core::{Error, ErrorKind};

use crate::explore::Answer;
use crate::explore::stage::answer_to;
use crate::gate::{Call, Turn};

/// What a writer did, and what it was told.
#[derive(Debug)]
pub(super) struct Log<S>(Rc<RefCell<Vec<(S, Answer)>>>);

impl<S: Copy> Log<S> {
    pub(super) async fn run(
        &self,
        step: S,
        work: impl Future<Output = table_core::Result<()>>,
    ) -> table_core::Result<()> {
        self.0.borrow_mut().push((step, Answer::None));
        let result = work.await;
        if let Some((_, answer)) = self.0.borrow_mut().last_mut() {
            *answer = answer_to(&result);
        }
        result
    }

    /// The steps that fit, with their answers.
    pub(super) fn steps(&self, which: impl Fn(&S) -> bool) -> Vec<(S, Answer)> {
        self.0.borrow().iter().filter(|(step, _)| which(step)).copied().collect()
    }
}

impl<S> Clone for Log<S> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<S> Default for Log<S> {
    fn default() -> Self {
        Self(Rc::default())
    }
}

/// A step that cannot succeed.
#[derive(Debug)]
pub(super) struct Impossible;

/// All states that something can be in after some order of what the writers did. `applied` says what a step makes of
/// a state, and an error where it cannot succeed.
pub(super) fn outcomes<S: Copy, T: Clone + PartialEq>(
    state: Option<T>,
    histories: &[Vec<(S, Answer)>],
    applied: &impl Fn(S, Option<&T>) -> Result<Option<T>, Impossible>,
) -> Vec<Option<T>> {
    let mut possible = Vec::new();
    walk(state, histories, &mut vec![0; histories.len()], applied, &mut possible);
    possible
}

fn walk<S: Copy, T: Clone + PartialEq>(
    state: Option<T>,
    histories: &[Vec<(S, Answer)>],
    at: &mut Vec<usize>,
    applied: &impl Fn(S, Option<&T>) -> Result<Option<T>, Impossible>,
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
            walk(state.clone(), histories, at, applied, possible);
        }
        if !matches!(answer, Answer::Refused(_))
            && let Ok(next) = applied(*step, state.as_ref())
        {
            walk(next, histories, at, applied, possible);
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
    async fn before(&self, call: Call<'_>) -> table_core::Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(dead(call)) } else { Ok(()) }
    }

    fn after(&self, call: Call<'_>) -> table_core::Result<()> {
        self.0.fetch_or(call.name == "transact", Ordering::Relaxed);
        Ok(())
    }
}

fn dead(call: Call<'_>) -> Error {
    Error::new(ErrorKind::Unavailable, "the process is dead").with_operation(call.name).with_retryable(false)
}
