//! One line of the table: figures, ratio, budget, and whether it was kept.

use serde::{Deserialize, Serialize};

use crate::bench::{Budget, Measure, Unit};

/// How far a figure may lie beyond its budget: two runs of the same program differ by as much.
const NOISE: f64 = 0.05;

/// One measured line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) against: String,
    pub(crate) unit: Unit,
    pub(crate) ours: f64,
    pub(crate) peer: f64,
    pub(crate) ratio: f64,
    pub(crate) budget: Budget,
    pub(crate) verdict: Verdict,
}

/// Whether a line kept its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Verdict {
    #[serde(rename = "ok")]
    Kept,
    #[serde(rename = "MISS")]
    Missed,
    #[serde(rename = "-")]
    NoBudget,
}

impl Verdict {
    pub(crate) const fn shown(self) -> &'static str {
        match self {
            Self::Kept => "ok",
            Self::Missed => "MISS",
            Self::NoBudget => "-",
        }
    }
}

impl Line {
    /// The medians of the rounds of both sides.
    pub(crate) fn new(measure: Measure, ours: Vec<f64>, peer: Vec<f64>) -> Self {
        let (ours, peer) = (median(ours), median(peer));
        let ratio = ours / peer;
        let verdict = match measure.budget {
            Budget::None => None,
            Budget::AtMost(most) => Some(ratio <= most * (1.0 + NOISE)),
            Budget::AtLeast(least) => Some(ratio >= least * (1.0 - NOISE)),
            Budget::WithinSeconds(limit) => Some(ours <= limit),
        };
        let verdict = match verdict {
            None => Verdict::NoBudget,
            Some(true) => Verdict::Kept,
            Some(false) => Verdict::Missed,
        };
        let Measure { name, peer: against, unit, budget } = measure;
        Self { name, against: against.to_owned(), unit, ours, peer, ratio, budget, verdict }
    }

    pub(crate) fn title(&self) -> String {
        format!("{} vs {}", self.name, self.against)
    }

    pub(crate) fn shown_ours(&self) -> String {
        shown(self.unit, self.ours)
    }

    pub(crate) fn shown_peer(&self) -> String {
        shown(self.unit, self.peer)
    }

    pub(crate) fn shown_ratio(&self) -> String {
        format!("{:.2}x", self.ratio)
    }

    pub(crate) fn shown_budget(&self) -> String {
        match self.budget {
            Budget::None => "-".to_owned(),
            Budget::AtMost(most) => format!("<= {most:.2}x"),
            Budget::AtLeast(least) => format!(">= {least:.2}x"),
            Budget::WithinSeconds(limit) => format!("<= {}", shown(Unit::Time, limit)),
        }
    }

    /// How much of its budget a line takes: all of it at 1, and more where it is missed.
    pub(crate) fn taken(&self) -> Option<f64> {
        match self.budget {
            Budget::None => None,
            Budget::AtMost(most) => Some(self.ratio / most),
            Budget::AtLeast(least) => Some(least / self.ratio),
            Budget::WithinSeconds(limit) => Some(self.ours / limit),
        }
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A figure with three digits and its unit.
fn shown(unit: Unit, figure: f64) -> String {
    let steps: &[(f64, &str)] = match unit {
        Unit::Time => &[(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")],
        Unit::Rate => &[(1e6, "M/s"), (1e3, "k/s"), (1.0, "/s")],
        Unit::Bytes => &[(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")],
    };
    let fitting = steps.iter().find(|(size, _)| figure >= *size).or(steps.last());
    let (size, name) = fitting.copied().unwrap_or((1.0, ""));
    let scaled = figure / size;
    let decimals = if scaled >= 100.0 {
        0
    } else if scaled >= 10.0 {
        1
    } else {
        2
    };
    format!("{scaled:.decimals$} {name}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn line(measure: Measure, ours: f64, peer: f64) -> Line {
        Line::new(measure, vec![ours], vec![peer])
    }

    #[test]
    fn a_budget_allows_for_noise_and_no_more() {
        let time = |ours| line(Measure::time("a", "b").at_most(1.5), ours, 1.0).verdict.shown();
        assert_eq!((time(1.57), time(1.58)), ("ok", "MISS"));
        let rate = |ours| line(Measure::rate("a", "b").at_least(4.0), ours, 1.0).verdict.shown();
        assert_eq!((rate(3.81), rate(3.79)), ("ok", "MISS"));
        let open = |ours| line(Measure::time("a", "b").within(Duration::from_millis(100)), ours, 1.0).verdict.shown();
        assert_eq!((open(0.1), open(0.101)), ("ok", "MISS"));
        assert_eq!(line(Measure::time("a", "b"), 9.0, 1.0).verdict.shown(), "-");
    }

    #[test]
    fn what_a_line_takes_of_its_budget_grows_as_it_gets_worse() {
        let taken = |measure: Measure, ours| line(measure, ours, 1.0).taken();
        assert_eq!(taken(Measure::time("a", "b").at_most(2.0), 3.0), Some(1.5));
        assert_eq!(taken(Measure::rate("a", "b").at_least(2.0), 4.0), Some(0.5));
        assert_eq!(taken(Measure::rate("a", "b"), 4.0), None);
    }

    #[test]
    fn one_slow_round_does_not_count() {
        let line = Line::new(Measure::time("a", "b"), vec![1.0, 9.0, 1.0], vec![2.0, 2.0, 8.0]);
        assert!((line.ratio - 0.5).abs() < f64::EPSILON);
    }

    #[test]
    fn figures_have_three_digits_and_a_unit() {
        assert_eq!(shown(Unit::Time, 0.001_234), "1.23 ms");
        assert_eq!(shown(Unit::Time, 123.4e-9), "123 ns");
        assert_eq!(shown(Unit::Rate, 45_678.0), "45.7 k/s");
        assert_eq!(shown(Unit::Bytes, 512.0), "512 B");
    }
}
