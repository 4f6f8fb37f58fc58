//! What is asked of a run.

use std::path::PathBuf;

use crate::Result;
use crate::workload::Scale;

const USAGE: &str = "usage: cargo xtask bench [--quick] [--json FILE] [FILTER]";

/// The arguments of a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Args {
    /// Fewer rows and shorter rounds.
    pub(crate) quick: bool,
    /// Where the lines go as JSON too.
    pub(crate) json: Option<PathBuf>,
    /// What the name of a line must hold.
    pub(crate) filter: Option<String>,
}

impl Args {
    /// Reads the arguments, and refuses what would be ignored.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self> {
        let mut args = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--quick" => args.quick = true,
                "--json" => {
                    let file = rest.next().ok_or_else(|| format!("`--json` needs a file; {USAGE}"))?;
                    args.json = Some(PathBuf::from(file));
                }
                flag if flag.starts_with('-') => return Err(format!("there is no flag `{flag}`; {USAGE}").into()),
                filter if args.filter.is_none() => args.filter = Some(filter.to_owned()),
                extra => return Err(format!("one filter is enough, not `{extra}` too; {USAGE}").into()),
            }
        }
        Ok(args)
    }

    pub(crate) const fn scale(&self) -> Scale {
        if self.quick { Scale::QUICK } else { Scale::FULL }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Args> {
        Args::parse(&arguments.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn flags_and_filter_come_in_any_order() {
        let args = parse(&["embedded", "--json", "out.json", "--quick"]).unwrap();
        assert_eq!(args, Args { quick: true, json: Some("out.json".into()), filter: Some("embedded".into()) });
    }

    #[test]
    fn what_would_be_ignored_is_refused() {
        for arguments in [&["--fast"][..], &["--json"], &["keys", "rows"]] {
            assert!(parse(arguments).is_err(), "{arguments:?}");
        }
    }
}
