//! Speed and size of the toolkit beside its peers, in one run.
//!
//! Every measure runs ours and its peer in turns on the same data, and prints a line: name, ours,
//! peer, ratio, budget, ok or MISS. `cargo xtask bench` runs it; `docs/benchmarks.md` says how to
//! read it.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this program talks to people at a terminal")]
#![expect(clippy::cast_precision_loss, reason = "figures are printed with three digits")]

mod args;
mod bench;
mod crash;
mod fixtures;
mod line;
mod machine;
mod markdown;
mod measures;
mod peers;
mod plot;
mod report;
mod workload;

use std::process::ExitCode;

use args::Args;
use bench::Bench;
use clap::Parser;
use fixtures::Fixtures;
use report::Report;

/// Anything that stops the run; what is only slow does not.
pub(crate) type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(victim) = crash::Victim::parse(&arguments) {
        return victim.run();
    }
    let args = Args::parse();
    if let Some(path) = &args.from {
        return Report::read(path)?.finish(&args);
    }
    let mut bench = Bench::new(&args);
    let fixtures = Fixtures::new(args.scale())?;
    measures::run(&mut bench, &fixtures)?;
    bench.finish(&args)
}
