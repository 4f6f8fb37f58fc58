//! What is asked of a run.

use std::path::PathBuf;

use clap::Parser;

use crate::workload::Scale;

/// Measures ours beside its peers, and prints a line a measure: name, ours, peer, ratio, budget, ok or MISS.
#[derive(Parser, Debug, Default, PartialEq, Eq)]
#[command(name = "cargo xtask bench")]
pub(crate) struct Args {
    /// Fewer rows and shorter rounds: 100,000 rows, not a million
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only names the lines
    #[arg(long)]
    pub(crate) list: bool,
    /// Measures nothing, and takes the lines of an earlier run from the JSON that it wrote
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "list", "json", "filter"])]
    pub(crate) from: Option<PathBuf>,
    /// Writes the lines as JSON too
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Writes the lines as a Markdown table too: into a new file, or between the marks of one
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Draws the lines as SVG too
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// What the name of a line must hold
    pub(crate) filter: Option<String>,
}

impl Args {
    pub(crate) const fn scale(&self) -> Scale {
        if self.quick { Scale::QUICK } else { Scale::FULL }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Args, clap::Error> {
        Args::try_parse_from(["bench"].iter().chain(arguments))
    }

    #[test]
    fn flags_and_filter_come_in_any_order() {
        let args = parse(&["embedded", "--json", "out.json", "--quick"]).unwrap();
        let expected =
            Args { quick: true, json: Some("out.json".into()), filter: Some("embedded".into()), ..Args::default() };
        assert_eq!(args, expected);
    }

    #[test]
    fn what_would_be_ignored_is_refused() {
        for arguments in [&["--fast"][..], &["--json"], &["keys", "rows"], &["--from", "out.json", "--quick"]] {
            assert!(parse(arguments).is_err(), "{arguments:?}");
        }
    }
}
