//! Lines: figures, ratio, budget, and whether it was kept.

use std::path::Path;

use serde_json::{Value, json};

use crate::Result;
use crate::bench::{Budget, Measure, Unit};

/// How far a figure may lie beyond its budget: two runs of the same program differ by as much.
const NOISE: f64 = 0.05;

/// One measured line.
#[derive(Debug)]
pub(crate) struct Line {
    measure: Measure,
    ours: f64,
    peer: f64,
}

impl Line {
    /// The medians of the rounds, each a pair of ours and the peer's.
    pub(crate) fn new(measure: Measure, rounds: &[(f64, f64)]) -> Self {
        let ours = median(rounds.iter().map(|(ours, _)| *ours).collect());
        let peer = median(rounds.iter().map(|(_, peer)| *peer).collect());
        Self { measure, ours, peer }
    }

    fn ratio(&self) -> f64 {
        self.ours / self.peer
    }

    /// Whether the budget was kept; none where there is no budget.
    fn kept(&self) -> Option<bool> {
        match self.measure.budget {
            Budget::None => None,
            Budget::AtMost(most) => Some(self.ratio() <= most * (1.0 + NOISE)),
            Budget::AtLeast(least) => Some(self.ratio() >= least * (1.0 - NOISE)),
            Budget::Within(limit) => Some(self.ours <= limit.as_secs_f64()),
        }
    }

    fn verdict(&self) -> &'static str {
        match self.kept() {
            None => "-",
            Some(true) => "ok",
            Some(false) => "MISS",
        }
    }

    fn budget(&self) -> String {
        match self.measure.budget {
            Budget::None => "-".to_owned(),
            Budget::AtMost(most) => format!("<= {most:.2}x"),
            Budget::AtLeast(least) => format!(">= {least:.2}x"),
            Budget::Within(limit) => format!("<= {}", shown(Unit::Time, limit.as_secs_f64())),
        }
    }

    fn name(&self) -> String {
        format!("{} vs {}", self.measure.name, self.measure.peer)
    }

    fn row(&self) -> String {
        let unit = self.measure.unit;
        format!(
            "{:<60} {:>12} {:>12} {:>8} {:>10}  {}",
            self.name(),
            shown(unit, self.ours),
            shown(unit, self.peer),
            format!("{:.2}x", self.ratio()),
            self.budget(),
            self.verdict()
        )
    }

    fn json(&self) -> Value {
        let unit = match self.measure.unit {
            Unit::Time => "seconds",
            Unit::Rate => "per second",
            Unit::Bytes => "bytes",
        };
        json!({
            "name": self.measure.name,
            "against": self.measure.peer,
            "unit": unit,
            "ours": self.ours,
            "peer": self.peer,
            "ratio": self.ratio(),
            "budget": self.budget(),
            "verdict": self.verdict(),
        })
    }
}

/// All lines so far. Each is printed as soon as it is known.
#[derive(Debug, Default)]
pub(crate) struct Report {
    lines: Vec<Line>,
}

impl Report {
    pub(crate) fn add(&mut self, line: Line) {
        if self.lines.is_empty() {
            println!("{:<60} {:>12} {:>12} {:>8} {:>10}  verdict", "name", "ours", "peer", "ratio", "budget");
        }
        println!("{}", line.row());
        self.lines.push(line);
    }

    /// Says how it went. A run without a line is a mistake in the filter.
    pub(crate) fn finish(self, json: Option<&Path>) -> Result {
        if self.lines.is_empty() {
            return Err("no line has that in its name".into());
        }
        let count = |wanted| self.lines.iter().filter(|line| line.kept() == wanted).count();
        println!("{} ok, {} missed, {} without a budget", count(Some(true)), count(Some(false)), count(None));
        if let Some(path) = json {
            let lines: Vec<Value> = self.lines.iter().map(Line::json).collect();
            std::fs::write(path, serde_json::to_string_pretty(&lines)? + "\n")?;
        }
        Ok(())
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
    use super::*;
    use std::time::Duration;

    fn line(measure: Measure, ours: f64, peer: f64) -> Line {
        Line::new(measure, &[(ours, peer)])
    }

    #[test]
    fn a_budget_allows_for_noise_and_no_more() {
        let time = |ours| line(Measure::time("a", "b").at_most(1.5), ours, 1.0).verdict();
        assert_eq!((time(1.57), time(1.58)), ("ok", "MISS"));
        let rate = |ours| line(Measure::rate("a", "b").at_least(4.0), ours, 1.0).verdict();
        assert_eq!((rate(3.81), rate(3.79)), ("ok", "MISS"));
        let open = |ours| line(Measure::time("a", "b").within(Duration::from_millis(100)), ours, 1.0).verdict();
        assert_eq!((open(0.1), open(0.101)), ("ok", "MISS"));
        assert_eq!(line(Measure::time("a", "b"), 9.0, 1.0).verdict(), "-");
    }

    #[test]
    fn one_slow_round_does_not_count() {
        let line = Line::new(Measure::time("a", "b"), &[(1.0, 2.0), (9.0, 2.0), (1.0, 8.0)]);
        assert!((line.ratio() - 0.5).abs() < f64::EPSILON);
    }

    #[test]
    fn figures_have_three_digits_and_a_unit() {
        assert_eq!(shown(Unit::Time, 0.001_234), "1.23 ms");
        assert_eq!(shown(Unit::Time, 123.4e-9), "123 ns");
        assert_eq!(shown(Unit::Rate, 45_678.0), "45.7 k/s");
        assert_eq!(shown(Unit::Bytes, 512.0), "512 B");
    }
}
