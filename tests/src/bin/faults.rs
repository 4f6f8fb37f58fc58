//! Explores crashes and interleavings, and says what they left. See `cargo xtask faults` in CONTRIBUTING.md.

use std::process::ExitCode;

use table_tests::crash;
use table_tests::explore::{ExecutionName, Explorer, Report, SABOTAGES, Search, scenarios};

type AnyError = Box<dyn std::error::Error + Send + Sync>;

#[expect(clippy::print_stdout, reason = "the report is what the program is for")]
fn main() -> Result<ExitCode, AnyError> {
    let options = Options::parse(std::env::args().skip(1))?;
    if let Some(name) = &options.replay {
        return replay(name);
    }
    let mut clean = explore(&options);
    clean &= sabotage(&options);
    if options.kills > 0 {
        let child = std::env::current_exe()?.with_file_name(format!("crash_child{}", std::env::consts::EXE_SUFFIX));
        let runtime = tokio::runtime::Runtime::new()?;
        let report = runtime.block_on(crash::kill_repeatedly(&child, options.kills, options.seed))?;
        println!("{report}");
        clean &= report.is_clean();
    }
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What was asked for.
#[derive(Debug)]
struct Options {
    replay: Option<ExecutionName>,
    only: Option<String>,
    seed: u64,
    kills: u32,
    random: u64,
    preemptions: u32,
    verbose: bool,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, AnyError> {
        let mut options =
            Self { replay: None, only: None, seed: 1, kills: 200, random: 100_000, preemptions: 3, verbose: false };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--replay" => options.replay = Some(value()?.parse()?),
                "--only" => options.only = Some(value()?),
                "--seed" => options.seed = value()?.parse()?,
                "--kills" => options.kills = value()?.parse()?,
                "--random" => options.random = value()?.parse()?,
                "--verbose" => options.verbose = true,
                "--preemptions" => options.preemptions = value()?.parse()?,
                _ => return Err(format!("unknown argument {argument:?}; see `cargo xtask help`").into()),
            }
        }
        Ok(options)
    }
}

#[expect(clippy::print_stdout, reason = "the report is what the program is for")]
fn explore(options: &Options) -> bool {
    let exhaustive = Search::Exhaustive { preemptions: options.preemptions };
    let random = Search::Random { executions: options.random, seed: options.seed };
    let pairs = scenarios::pairs().into_iter().map(|scenario| (scenario, exhaustive));
    let crowds = scenarios::crowds().into_iter().map(|scenario| (scenario, random));
    let mut clean = true;
    for (scenario, search) in pairs.chain(crowds) {
        if options.only.as_ref().is_some_and(|only| !scenario.name.contains(only.as_str())) {
            continue;
        }
        let report = Explorer::new(scenario, search).run();
        println!("{report}");
        clean &= report.counts.is_clean();
    }
    clean
}

/// Breaks the protocols on purpose, each in one way, and says whether that was noticed by the scenarios that are wanted.
#[expect(clippy::print_stdout, reason = "the report is what the program is for")]
fn sabotage(options: &Options) -> bool {
    let mut noticed = true;
    for (sabotage, names) in SABOTAGES {
        let is_wanted = |only: &String| "sabotage".contains(only.as_str()) || names.contains(only.as_str());
        if !options.only.as_ref().is_none_or(is_wanted) {
            continue;
        }
        let scenario = scenarios::named(names);
        let Some(report) = scenario.map(|scenario| sabotage.search(scenario)) else { continue };
        let Report { scenario, executions, .. } = &report;
        if report.failure.is_some() {
            println!("sabotage, {sabotage}: found by {scenario:?} after {executions} executions");
        } else {
            println!("sabotage, {sabotage}: NOT FOUND by {scenario:?} in {executions} executions");
            noticed = false;
        }
        if options.verbose {
            println!("{report}");
        }
    }
    noticed
}

#[expect(clippy::print_stdout, reason = "the report is what the program is for")]
fn replay(name: &ExecutionName) -> Result<ExitCode, AnyError> {
    let scenario =
        scenarios::named(&name.scenario).ok_or_else(|| format!("there is no scenario {:?}", name.scenario))?;
    let (story, clean) = Explorer::new(scenario, name.search).replay(&name.schedule);
    print!("{story}");
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
