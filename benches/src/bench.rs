//! Ours and a peer in turns, and what comes of it.
//!
//! The invariant: both sides of a line were measured in the same minutes, round by round, so that
//! whatever else the machine did met both.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::args::Args;
use crate::line::Line;
use crate::report::Report;

/// Rounds that count. One more goes before them, to warm up.
const ROUNDS: usize = 7;

/// What a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Unit {
    /// Seconds: less is better.
    #[serde(rename = "seconds")]
    Time,
    /// So many a second: more is better.
    #[serde(rename = "per second")]
    Rate,
    /// Bytes: fewer are better.
    #[serde(rename = "bytes")]
    Bytes,
}

/// What a line promises.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Budget {
    /// Nothing: the line only tells.
    None,
    /// Ours is at most so many times the peer.
    AtMost(f64),
    /// Ours is at least so many times the peer.
    AtLeast(f64),
    /// Ours takes at most so long, whatever the peer does.
    WithinSeconds(f64),
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
        Self { budget: Budget::WithinSeconds(limit.as_secs_f64()), ..self }
    }
}

/// One round of one side, by the round's number: its figure in the unit of the measure.
pub(crate) type Side<'s> = Box<dyn FnMut(usize) -> Result<f64> + 's>;

/// The lines that are wanted, as they are measured.
#[derive(Debug)]
pub(crate) struct Bench {
    filter: String,
    only_names: bool,
    report: Report,
}

impl Bench {
    pub(crate) fn new(args: &Args) -> Self {
        Self {
            filter: args.filter.clone().unwrap_or_default(),
            only_names: args.list,
            report: Report::new(args.scale().rows),
        }
    }

    /// Measures a line, if it is wanted: only then is anything prepared.
    pub(crate) fn compare<'s>(
        &mut self,
        measure: Measure,
        prepare: impl FnOnce() -> Result<(Side<'s>, Side<'s>)>,
    ) -> Result {
        self.compare_each(vec![measure], || prepare().map(|(ours, peer)| (ours, vec![peer])))
    }

    /// Measures ours once beside several peers: a line for each, all of one name.
    pub(crate) fn compare_each<'s>(
        &mut self,
        measures: Vec<Measure>,
        prepare: impl FnOnce() -> Result<(Side<'s>, Vec<Side<'s>>)>,
    ) -> Result {
        let name = measures.first().map(|measure| measure.name.clone()).unwrap_or_default();
        if !self.wants(&name) {
            return Ok(());
        }
        let failed = |error| format!("{name}: {error}");
        let (ours, peers) = prepare().map_err(failed)?;
        let mut sides: Vec<Side<'s>> = std::iter::once(ours).chain(peers).collect();
        let mut figures = rounds(&mut sides).map_err(failed)?.into_iter();
        let ours = figures.next().unwrap_or_default();
        for (measure, peer) in measures.into_iter().zip(figures) {
            self.report.add(Line::new(measure, ours.clone(), peer));
        }
        Ok(())
    }

    /// Whether a line of this name is to be measured. Where only names are asked for, it is named instead.
    pub(crate) fn wants(&self, name: &str) -> bool {
        let wanted = name.contains(&self.filter);
        if wanted && self.only_names {
            println!("{name}");
        }
        wanted && !self.only_names
    }

    /// Says why a line is not measured.
    pub(crate) fn leave_out(&mut self, name: &str, reason: &str) {
        self.report.leave_out(format!("{name}: {reason}"));
    }

    /// Says how many lines kept their budget, and writes the files that are wanted.
    pub(crate) fn finish(self, args: &Args) -> Result {
        if self.only_names { Ok(()) } else { self.report.finish(args) }
    }
}

/// The figures of each side, round by round.
fn rounds(sides: &mut [Side<'_>]) -> Result<Vec<Vec<f64>>> {
    let mut figures = vec![Vec::with_capacity(ROUNDS); sides.len()];
    let count = sides.len();
    for round in 0..=ROUNDS {
        let mut turns: Vec<_> = sides.iter_mut().zip(&mut figures).collect();
        // Who goes later finds the machine warmer, so the sides take turns at that too.
        turns.rotate_left(round % count);
        for (side, figures) in turns {
            let figure = side(round)?;
            if round > 0 {
                figures.push(figure);
            }
        }
    }
    Ok(figures)
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

    fn bench(filter: &str) -> Bench {
        Bench::new(&Args { filter: Some(filter.to_owned()), ..Args::default() })
    }

    #[test]
    fn a_line_that_is_not_wanted_prepares_nothing() {
        let mut bench = bench("memory");
        bench.compare(Measure::time("embedded/get", "redb"), || Err("prepared".into())).unwrap();
        assert!(bench.compare(Measure::time("memory/get", "map"), || Err("prepared".into())).is_err());
    }

    #[test]
    fn a_list_prepares_nothing() {
        let mut bench = Bench::new(&Args { list: true, ..Args::default() });
        bench.compare(Measure::time("memory/get", "map"), || Err("prepared".into())).unwrap();
    }

    #[test]
    fn all_sides_run_every_round_and_take_turns() {
        let rounds = std::cell::RefCell::new(Vec::new());
        let side = |who: &'static str, figure: f64| -> Side<'_> {
            let rounds = &rounds;
            Box::new(move |round| {
                rounds.borrow_mut().push((round, who));
                Ok(figure)
            })
        };
        let mut bench = bench("");
        let measures = ["b", "c"].map(|peer| Measure::time("a", peer)).to_vec();
        bench.compare_each(measures, || Ok((side("ours", 1.0), vec![side("b", 2.0), side("c", 4.0)]))).unwrap();
        let ratios: Vec<_> = bench.report.lines.iter().map(|line| (line.against.as_str(), line.ratio)).collect();
        assert_eq!(ratios, [("b", 0.5), ("c", 0.25)]);
        let rounds = rounds.borrow();
        assert_eq!(rounds.len(), 3 * (ROUNDS + 1));
        assert_eq!(rounds[..6], [(0, "ours"), (0, "b"), (0, "c"), (1, "b"), (1, "c"), (1, "ours")]);
    }
}
