//! All lines of a run, on paper and in files.

use std::path::Path;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::Result;
use crate::args::Args;
use crate::line::{Line, Verdict};
use crate::machine::Machine;
use crate::{markdown, plot};

/// A run, with what a reader of its figures wants to know.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) date: String,
    pub(crate) machine: Machine,
    pub(crate) rows: usize,
    pub(crate) lines: Vec<Line>,
    /// What was not measured, and why.
    pub(crate) left_out: Vec<String>,
}

impl Report {
    /// An empty one, of today on this machine.
    pub(crate) fn new(rows: usize) -> Self {
        let date = OffsetDateTime::now_utc().date().to_string();
        Self { date, machine: Machine::here(), rows, lines: Vec::new(), left_out: Vec::new() }
    }

    /// That of an earlier run.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text =
            std::fs::read_to_string(path).map_err(|error| format!("{} can't be read: {error}", path.display()))?;
        let report = serde_json::from_str(&text);
        Ok(report.map_err(|error| format!("{} is not the JSON of a run: {error}", path.display()))?)
    }

    /// Takes a line, and prints it at once.
    pub(crate) fn add(&mut self, line: Line) {
        if self.lines.is_empty() {
            println!("{:<66} {:>10} {:>10} {:>8} {:>10}  verdict", "name", "ours", "peer", "ratio", "budget");
        }
        println!(
            "{:<66} {:>10} {:>10} {:>8} {:>10}  {}",
            line.title(),
            line.shown_ours(),
            line.shown_peer(),
            line.shown_ratio(),
            line.shown_budget(),
            line.verdict.shown()
        );
        self.lines.push(line);
    }

    /// Says that something is not measured.
    pub(crate) fn leave_out(&mut self, what: String) {
        println!("left out: {what}");
        self.left_out.push(what);
    }

    /// Says how it went, and writes the files that are wanted. A run without a line is a mistake in the filter.
    pub(crate) fn finish(&self, args: &Args) -> Result {
        if self.lines.is_empty() && self.left_out.is_empty() {
            return Err("no line has that in its name; `--list` names them".into());
        }
        println!("{}", self.summary());
        let write = |path: &Path, text: String| {
            std::fs::write(path, text).map_err(|error| format!("{} can't be written: {error}", path.display()))
        };
        if let Some(path) = &args.json {
            write(path, serde_json::to_string_pretty(self)? + "\n")?;
        }
        if let Some(path) = &args.markdown {
            write(path, markdown::file(path, self)?)?;
        }
        if let Some(path) = &args.plot {
            write(path, plot::svg(self))?;
        }
        Ok(())
    }

    /// How many lines kept their budget.
    pub(crate) fn summary(&self) -> String {
        let count = |verdict| self.lines.iter().filter(|line| line.verdict == verdict).count();
        let (kept, missed, open) = (count(Verdict::Kept), count(Verdict::Missed), count(Verdict::NoBudget));
        let left_out = match self.left_out.len() {
            0 => String::new(),
            count => format!(", {count} left out"),
        };
        format!("{kept} ok, {missed} missed, {open} without a budget{left_out}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Measure;

    #[test]
    fn a_report_is_read_as_it_was_written() {
        let mut report = Report::new(100);
        let measure = Measure::time("open", "b").within(std::time::Duration::from_millis(100));
        report.add(Line::new(measure, vec![0.5], vec![1.0]));
        report.leave_out("the rest".to_owned());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        report.finish(&Args { json: Some(path.clone()), ..Args::default() }).unwrap();
        let read = Report::read(&path).unwrap();
        assert_eq!((read.lines, read.left_out, read.rows), (report.lines, report.left_out, 100));
    }

    #[test]
    fn a_run_without_a_line_is_refused() {
        assert!(Report::new(1).finish(&Args::default()).is_err());
    }
}
