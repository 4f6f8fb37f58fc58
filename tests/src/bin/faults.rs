//! Explores crashes and interleavings, and says what they left. See `cargo xtask faults` in CONTRIBUTING.md.

use std::env::consts::EXE_EXTENSION;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use table_tests::explore::{Counts, ExecutionName, Explorer, Report, SABOTAGES, Scenario, Search, run_all, scenarios};
use table_tests::figures::Figures;
use table_tests::{crash, soak};

type AnyError = Box<dyn std::error::Error + Send + Sync>;

#[expect(clippy::print_stdout, reason = "the report is what the program is for")]
fn main() -> Result<ExitCode, AnyError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let options = Options::parse(arguments.iter().cloned())?;
    if let Some(name) = &options.replay {
        return replay(name);
    }
    if let Some(page) = &options.markdown {
        Figures::check(page)?;
    }
    let mut figures = Figures { command: command(&arguments), ..Figures::default() };
    let mut clean = explore(&options, &mut figures);
    clean &= sabotage(&options, &mut figures);
    let save = |figures: &Figures| options.markdown.as_ref().map_or(Ok(()), |page| figures.write_to(page));
    save(&figures)?;
    let child =
        |name: &str| Ok::<_, AnyError>(std::env::current_exe()?.with_file_name(name).with_extension(EXE_EXTENSION));
    let runtime = tokio::runtime::Runtime::new()?;
    if options.kills > 0 && options.wants("kill") {
        let report = runtime.block_on(crash::kill_repeatedly(&child("crash_child")?, options.kills, options.seed))?;
        println!("{report}");
        clean &= report.is_clean();
        figures.kills = Some(report);
        save(&figures)?;
    }
    if options.soak > Duration::ZERO && options.wants("soak") {
        let report = runtime.block_on(soak::soak(&child("soak_child")?, options.soak, options.seed))?;
        println!("{report}");
        clean &= report.judgement.is_clean();
        figures.soaks.push(report);
        save(&figures)?;
        if let Some(report) = runtime.block_on(soak::soak_azurite(&child("soak_child")?, 60))? {
            println!("{report}");
            clean &= report.judgement.is_clean();
            figures.soaks.push(report);
            save(&figures)?;
        }
    }
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// How to make the same figures again, wherever they are written.
fn command(arguments: &[String]) -> String {
    let mut words = vec!["cargo xtask faults".to_owned()];
    let mut arguments = arguments.iter();
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "--markdown" => drop(arguments.next()),
            _ if word.contains(' ') => words.push(format!("'{word}'")),
            _ => words.push(word.clone()),
        }
    }
    words.join(" ")
}

/// What was asked for.
#[derive(Debug)]
struct Options {
    replay: Option<ExecutionName>,
    only: Option<String>,
    seed: u64,
    kills: u32,
    soak: Duration,
    random: u64,
    preemptions: Option<u32>,
    verbose: bool,
    /// The page to write the figures into.
    markdown: Option<PathBuf>,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, AnyError> {
        let mut options = Self {
            replay: None,
            only: None,
            seed: 1,
            kills: 200,
            soak: Duration::from_secs(60),
            random: 100_000,
            preemptions: None,
            verbose: false,
            markdown: None,
        };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--replay" => options.replay = Some(value()?.parse()?),
                "--only" => options.only = Some(value()?),
                "--seed" => options.seed = value()?.parse()?,
                "--kills" => options.kills = value()?.parse()?,
                "--soak" => options.soak = Duration::from_secs(value()?.parse()?),
                "--random" => options.random = value()?.parse()?,
                "--verbose" => options.verbose = true,
                "--preemptions" => options.preemptions = Some(value()?.parse()?),
                "--markdown" => options.markdown = Some(value()?.into()),
                _ => return Err(format!("unknown argument {argument:?}; see `cargo xtask help`").into()),
            }
        }
        Ok(options)
    }

    /// Whether something of this name is to be run.
    fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| name.contains(only.as_str()))
    }
}

/// Explores every scenario, and says what was found in each and in all.
#[expect(clippy::print_stdout, reason = "the report is what the program is for")]
fn explore(options: &Options, figures: &mut Figures) -> bool {
    let exhaustive = |scenario: &Scenario| Search::Exhaustive {
        preemptions: options.preemptions.unwrap_or_else(|| scenario.most_preemptions.min(3)),
    };
    let random = Search::Random { executions: options.random, seed: options.seed };
    let pairs = scenarios::pairs().into_iter().map(|scenario| (scenario, exhaustive(&scenario)));
    let crowds = scenarios::crowds().into_iter().map(|scenario| (scenario, random));
    let searches = pairs.chain(crowds).filter(|(scenario, _)| options.wants(scenario.name));
    let searches: Vec<_> = searches.map(|(scenario, search)| Explorer::new(scenario, search)).collect();
    if searches.is_empty() {
        return true;
    }
    let began = Instant::now();
    let reports = run_all(searches, |report| println!("{report}"));
    let executions: u64 = reports.iter().map(|report| report.executions).sum();
    let counts = reports.iter().fold(Counts::default(), |counts, report| counts.plus(report.counts));
    let (scenarios, took) = (reports.len(), began.elapsed().as_secs_f64());
    println!("in all {scenarios} scenarios: {executions} executions: {counts} ({took:.1} s)");
    (figures.scenarios, figures.took) = (reports, began.elapsed());
    counts.is_clean()
}

/// Breaks the protocols on purpose, each in one way, and says whether that was noticed by the scenarios that are wanted.
#[expect(clippy::print_stdout, reason = "the report is what the program is for")]
fn sabotage(options: &Options, figures: &mut Figures) -> bool {
    let wanted = SABOTAGES.iter().filter(|(_, name)| options.wants("sabotage") || options.wants(name));
    let known = wanted.clone().filter_map(|(sabotage, name)| Some((sabotage, scenarios::named(name)?)));
    let searches: Vec<_> = known.map(|(sabotage, scenario)| sabotage.search(scenario)).collect();
    let all = searches.len() == wanted.count();
    let reports = run_all(searches, |report| {
        let Report { scenario, executions, sabotage, failure, .. } = report;
        let sabotage = sabotage.map(|sabotage| sabotage.to_string()).unwrap_or_default();
        match failure {
            Some(_) => println!("sabotage, {sabotage}: found by {scenario:?} after {executions} executions"),
            None => println!("sabotage, {sabotage}: NOT FOUND by {scenario:?} in {executions} executions"),
        }
        if options.verbose {
            println!("{report}");
        }
    });
    let found = reports.iter().all(|report| report.failure.is_some());
    figures.sabotages = reports;
    all && found
}

#[expect(clippy::print_stdout, reason = "the report is what the program is for")]
fn replay(name: &ExecutionName) -> Result<ExitCode, AnyError> {
    let scenario =
        scenarios::named(&name.scenario).ok_or_else(|| format!("there is no scenario {:?}", name.scenario))?;
    let (story, clean) = Explorer::new(scenario, name.search).replay(&name.schedule);
    print!("{story}");
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
