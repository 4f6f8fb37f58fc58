//! Ours and a peer in turns, and what comes of it.
//!
//! The invariant: both sides of a line were measured in the same minutes, round by round, so that
//! whatever else the machine did met both.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::Result;
use crate::report::{Line, Report};

/// Rounds that count. One more goes before them, to warm up.
const ROUNDS: usize = 7;

/// What a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Seconds: less is better.
    Time,
    /// So many a second: more is better.
    Rate,
    /// Bytes: fewer are better.
    Bytes,
}

/// What a line promises.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Budget {
    /// Nothing: the line only tells.
    None,
    /// Ours is at most so many times the peer.
    AtMost(f64),
    /// Ours is at least so many times the peer.
    AtLeast(f64),
    /// Ours takes at most so long, whatever the peer does.
    Within(Duration),
}

/// One line of the table, before it is measured.
#[derive(Debug, Clone)]
pub(crate) struct Measure {
    pub(crate) name: String,
    pub(crate) peer: &'static str,
    pub(crate) unit: Unit,
    pub(crate) budget: Budget,
}

impl Measure {
    const fn new(name: String, peer: &'static str, unit: Unit) -> Self {
        Self { name, peer, unit, budget: Budget::None }
    }

    /// A line of times.
    pub(crate) fn time(name: impl Into<String>, peer: &'static str) -> Self {
        Self::new(name.into(), peer, Unit::Time)
    }

    /// A line of rates.
    pub(crate) fn rate(name: impl Into<String>, peer: &'static str) -> Self {
        Self::new(name.into(), peer, Unit::Rate)
    }

    /// A line of sizes.
    pub(crate) fn bytes(name: impl Into<String>, peer: &'static str) -> Self {
        Self::new(name.into(), peer, Unit::Bytes)
    }

    /// Promises at most so many times the peer.
    pub(crate) fn at_most(self, ratio: f64) -> Self {
        Self { budget: Budget::AtMost(ratio), ..self }
    }

    /// Promises at least so many times the peer.
    pub(crate) fn at_least(self, ratio: f64) -> Self {
        Self { budget: Budget::AtLeast(ratio), ..self }
    }

    /// Promises to take at most so long.
    pub(crate) fn within(self, limit: Duration) -> Self {
        Self { budget: Budget::Within(limit), ..self }
    }
}

/// One round of one side, by the round's number: its figure in the unit of the measure.
pub(crate) type Side<'s> = Box<dyn FnMut(usize) -> Result<f64> + 's>;

/// The lines that are wanted, as they are measured.
#[derive(Debug)]
pub(crate) struct Bench {
    filter: String,
    report: Report,
}

impl Bench {
    pub(crate) fn new(filter: Option<&str>) -> Self {
        Self { filter: filter.unwrap_or_default().to_owned(), report: Report::default() }
    }

    /// Measures a line, if it is wanted: only then is anything prepared.
    pub(crate) fn compare<'s>(
        &mut self,
        measure: Measure,
        prepare: impl FnOnce() -> Result<(Side<'s>, Side<'s>)>,
    ) -> Result {
        if !measure.name.contains(&self.filter) {
            return Ok(());
        }
        let (mut ours, mut peer) = prepare().map_err(|error| format!("{}: {error}", measure.name))?;
        let mut figures = Vec::with_capacity(ROUNDS);
        for round in 0..=ROUNDS {
            // Who goes second finds the machine warmer, so the sides take turns at that too.
            let pair = if round % 2 == 0 {
                ours(round).and_then(|ours| Ok((ours, peer(round)?)))
            } else {
                peer(round).and_then(|peer| Ok((ours(round)?, peer)))
            };
            let pair = pair.map_err(|error| format!("{}: {error}", measure.name))?;
            if round > 0 {
                figures.push(pair);
            }
        }
        self.report.add(Line::new(measure, &figures));
        Ok(())
    }

    /// Says how many lines kept their budget, and writes them to a file if asked to.
    pub(crate) fn finish(self, json: Option<&Path>) -> Result {
        self.report.finish(json)
    }
}

/// The seconds of one call, out of so many in a row.
pub(crate) fn time_per_call(calls: usize, mut call: impl FnMut(usize) -> Result) -> Result<f64> {
    let start = Instant::now();
    for number in 0..calls {
        call(number)?;
    }
    Ok(start.elapsed().as_secs_f64() / calls as f64)
}

/// The seconds of one call, out of so many awaited in a row.
pub(crate) async fn time_per_await(calls: usize, mut call: impl AsyncFnMut(usize) -> Result) -> Result<f64> {
    let start = Instant::now();
    for number in 0..calls {
        call(number).await?;
    }
    Ok(start.elapsed().as_secs_f64() / calls as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_not_wanted_prepares_nothing() {
        let mut bench = Bench::new(Some("memory"));
        bench.compare(Measure::time("embedded/get", "redb"), || Err("prepared".into())).unwrap();
        assert!(bench.compare(Measure::time("memory/get", "map"), || Err("prepared".into())).is_err());
    }

    #[test]
    fn both_sides_run_every_round() {
        let rounds = std::cell::RefCell::new(Vec::new());
        let side = |who: &'static str| -> Side<'_> {
            let rounds = &rounds;
            Box::new(move |round| {
                rounds.borrow_mut().push((round, who));
                Ok(1.0)
            })
        };
        let mut bench = Bench::new(None);
        bench.compare(Measure::time("a", "b"), || Ok((side("ours"), side("peer")))).unwrap();
        let rounds = rounds.borrow();
        assert_eq!(rounds.len(), 2 * (ROUNDS + 1));
        assert_eq!(rounds[..4], [(0, "ours"), (0, "peer"), (1, "peer"), (1, "ours")]);
    }
}
