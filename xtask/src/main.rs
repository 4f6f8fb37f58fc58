//! One way to run everything: `cargo xtask test`, from any folder of the workspace.
//!
//! Nothing here is needed to use the crates. Each subcommand is a function on the [`Workspace`]
//! that either succeeds or says in one sentence what failed.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this program talks to people at a terminal")]

mod azurite;
mod bench;
mod python;
mod run;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use run::Outcome;
use workspace::Workspace;

const HELP: &str = "\
usage: cargo xtask <command>

  test               everything that CI runs: formatting, lints, tidy, tests, docs, examples, conformance
  tidy               checks what no lint does: file lengths, dependency direction, links in docs, ...
  conformance [...]  runs the store contract on every store, a line a store
  bench [--quick] [--list] [--json FILE] [--markdown FILE] [--plot FILE] [FILTER] | --from FILE ...
                     measures ours beside its peers, a line a measure: name, ours, peer, ratio, budget, ok or MISS
  faults [--only TEXT] [--random N] [--preemptions N] [--seed N] [--kills N] [--soak SECONDS] [--verbose] [--markdown FILE] | --replay EXECUTION
                     explores interleavings and crashes, kills processes, and counts what was lost, stale, orphaned or doubled
  azurite            installs and starts the emulator of Azure Storage, and prints its connection string
  help               this text
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Outcome {
    let (command, rest) = match arguments {
        [] => ("help", [].as_slice()),
        [command, rest @ ..] => (command.as_str(), rest),
    };
    match (command, rest) {
        ("test", []) => test::everything(&Workspace::load()?),
        ("tidy", []) => tidy::run(&Workspace::load()?),
        ("conformance", rest) => test::conformance(&Workspace::load()?, rest),
        ("azurite", []) => azurite::foreground(&Workspace::load()?),
        ("bench", rest) => bench::run_all(&Workspace::load()?, rest),
        ("faults", rest) => test::faults(&Workspace::load()?, rest),
        ("help" | "--help" | "-h", _) => {
            print!("{HELP}");
            Ok(())
        }
        ("test" | "tidy" | "azurite", [extra, ..]) => Err(format!("`{command}` takes no argument, not `{extra}`")),
        (unknown, _) => Err(format!("there is no command `{unknown}`; `cargo xtask help` lists them")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(arguments: &[&str]) -> String {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        dispatch(&arguments).unwrap_err()
    }

    #[test]
    fn an_unknown_command_points_to_the_help() {
        assert!(refusal(&["tset"]).contains("cargo xtask help"));
    }

    #[test]
    fn an_argument_that_would_be_ignored_is_refused() {
        assert!(refusal(&["tidy", "--fix"]).contains("--fix"));
    }
}
