//! What writers have begun, and what they were told.

use std::collections::BTreeMap;

use crate::explore::{Judgement, Wrong};

/// What an entity is that is not there.
pub(super) const NOTHING: &str = "-";

/// What may be there, by what writers have told: each line is the word, the thing, and for `begin` its new state.
#[derive(Debug, Default)]
pub(super) struct Promises {
    things: BTreeMap<String, Thing>,
    counts: BTreeMap<String, (u32, u32)>,
    broken: Vec<String>,
    /// Changes that were acknowledged.
    pub(super) done: u64,
    /// Changes that were refused.
    pub(super) refused: u64,
}

/// What is known of one thing.
#[derive(Debug)]
struct Thing {
    settled: String,
    /// What was begun since, and may have happened.
    open: Vec<String>,
    /// Whether its move to the archive was asked for, and whether that was acknowledged.
    asked: (bool, bool),
}

impl Default for Thing {
    fn default() -> Self {
        Self { settled: NOTHING.to_owned(), open: Vec::new(), asked: (false, false) }
    }
}

impl Promises {
    /// Notes a line.
    pub(super) fn note(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["begin", thing, state] => self.thing(thing).open.push((*state).to_owned()),
            ["done", thing] => {
                self.done += 1;
                let thing = self.thing(thing);
                if let Some(state) = thing.open.pop() {
                    thing.settled = state;
                }
                thing.open.clear();
            }
            ["refused", thing] => {
                self.refused += 1;
                self.thing(thing).open.pop();
            }
            // Its state stays open.
            ["unknown", _] => {}
            ["asking", thing] => self.thing(thing).asked.0 = true,
            ["asked", thing] => {
                self.done += 1;
                self.thing(thing).asked.1 = true;
            }
            ["counting", thing] => self.counts.entry((*thing).to_owned()).or_default().0 += 1,
            ["counted", thing] => {
                self.done += 1;
                self.counts.entry((*thing).to_owned()).or_default().1 += 1;
            }
            _ => self.broken.push(line.to_owned()),
        }
    }

    fn thing(&mut self, name: &str) -> &mut Thing {
        self.things.entry(name.to_owned()).or_default()
    }

    /// Compares what is there with what was promised.
    pub(super) fn judge(&self, judgement: &mut Judgement, found: &Found) {
        for (name, thing) in &self.things {
            let state = found.states.get(name).map_or(NOTHING, String::as_str);
            let fits = state == thing.settled || thing.open.iter().any(|open| open == state);
            judgement.expect(fits, Wrong::Lost, || format!("{name} is {state}, and was promised as {thing:?}"));
            let archived = found.archived.contains(name);
            let (asked, promised) = thing.asked;
            judgement.expect(archived || !promised, Wrong::Lost, || format!("{name} was not moved"));
            judgement.expect(!archived || asked, Wrong::Doubled, || format!("{name} was moved, and nobody asked"));
        }
        for name in found.states.keys().filter(|name| !self.things.contains_key(*name)) {
            judgement.find(Wrong::Orphaned, format!("{name} is there, and nobody has begun it"));
        }
        for (name, (begun, done)) in &self.counts {
            let count = found.counts.get(name).copied().unwrap_or_default();
            judgement.expect(count >= *done, Wrong::Lost, || format!("{name} counts {count} of {done}"));
            judgement.expect(count <= *begun, Wrong::Doubled, || format!("{name} counts {count} of {begun}"));
        }
        for line in &self.broken {
            judgement.find(Wrong::Broken, line.clone());
        }
    }
}

/// What is there in the end.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Each thing with its state.
    pub(super) states: BTreeMap<String, String>,
    /// The things that are in the archive.
    pub(super) archived: std::collections::BTreeSet<String>,
    /// What was counted.
    pub(super) counts: BTreeMap<String, u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(state: &str, count: u32) -> Found {
        let mut found = Found::default();
        found.states.insert("a".to_owned(), state.to_owned());
        found.counts.insert("c".to_owned(), count);
        found
    }

    fn judged(lines: &[&str], found: &Found) -> Vec<Wrong> {
        let (mut promises, mut judgement) = (Promises::default(), Judgement::default());
        for line in lines {
            promises.note(line);
        }
        promises.judge(&mut judgement, found);
        judgement.findings().map(|(wrong, _)| *wrong).collect()
    }

    #[test]
    fn what_was_acknowledged_last_or_begun_after_it_may_be_there() {
        let lines =
            ["begin a 1", "done a", "begin a 2", "done a", "begin a 3", "counting c", "counted c", "counting c"];
        for (state, count) in [("2", 1), ("3", 2)] {
            assert_eq!(judged(&lines, &found(state, count)), []);
        }
        for (state, count, wrong) in [("1", 1, Wrong::Lost), ("2", 0, Wrong::Lost), ("3", 3, Wrong::Doubled)] {
            assert_eq!(judged(&lines, &found(state, count)), [wrong], "{state} {count}");
        }
    }

    #[test]
    fn what_was_refused_or_never_begun_must_not_be_there() {
        assert_eq!(judged(&["begin a 1", "done a", "begin a 2", "refused a"], &found("2", 0)), [Wrong::Lost]);
        assert_eq!(judged(&[], &found("1", 0)), [Wrong::Orphaned]);
        assert_eq!(judged(&["nonsense"], &Found::default()), [Wrong::Broken]);
    }

    #[test]
    fn what_was_asked_for_is_moved_and_nothing_else() {
        let mut moved = found("1", 0);
        moved.archived.insert("a".to_owned());
        assert_eq!(judged(&["begin a 1", "done a"], &moved), [Wrong::Doubled]);
        assert_eq!(judged(&["begin a 1", "done a", "asking a", "asked a"], &found("1", 0)), [Wrong::Lost]);
        assert_eq!(judged(&["begin a 1", "done a", "asking a"], &moved), []);
    }
}
