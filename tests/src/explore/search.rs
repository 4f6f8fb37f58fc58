//! Searching the executions of a scenario: all of them within bounds, or many by chance.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::choices::{Choices, Schedule};
use super::execution::{Bounds, Execution};
use super::judgement::{Counts, Judgement};
use super::sabotage::Sabotage;
use super::stage::{Scenario, Stage};
use super::turns::Turns;

/// How executions are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// Every execution with so many preemptions and one fault at most.
    Exhaustive {
        /// How often somebody is interrupted who could have gone on.
        preemptions: u32,
    },
    /// So many executions by chance, with up to three faults each.
    Random {
        /// How many.
        executions: u64,
        /// The first seed; each execution has the next one.
        seed: u64,
    },
}

impl Search {
    /// What an execution of this search may do. Random schedules have one set of bounds, so that a schedule means
    /// the same in every run.
    const fn bounds(self) -> Bounds {
        match self {
            Self::Exhaustive { preemptions } => Bounds { preemptions, faults: 1, expiries: 2, calls: 2000 },
            Self::Random { .. } => Bounds { preemptions: 1000, faults: 3, expiries: 4, calls: 4000 },
        }
    }

    const fn is_random(self) -> bool {
        matches!(self, Self::Random { .. })
    }

    /// The word for its bounds in the name of an execution.
    fn tag(self) -> String {
        match self {
            Self::Exhaustive { preemptions } => format!("p{preemptions}"),
            Self::Random { .. } => "r".to_owned(),
        }
    }
}

/// What a search found.
#[derive(Debug, Clone)]
pub struct Report {
    /// The scenario's name.
    pub scenario: &'static str,
    /// How it was searched.
    pub search: Search,
    /// What was broken on purpose.
    pub sabotage: Option<Sabotage>,
    /// How many executions were made.
    pub executions: u64,
    /// What was wrong, over all executions.
    pub counts: Counts,
    /// The first execution that went wrong, made as simple as possible.
    pub failure: Option<Failure>,
    /// How long it took.
    pub took: Duration,
}

/// An execution that went wrong.
#[derive(Debug, Clone)]
pub struct Failure {
    /// What replays it.
    pub execution: ExecutionName,
    /// What was wrong, and who did what before.
    pub story: String,
}

/// Names one execution: `archive:p3:12=1,15=3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionName {
    /// The scenario's name.
    pub scenario: String,
    /// By which search it was found.
    pub search: Search,
    /// Its choices.
    pub schedule: Schedule,
}

impl fmt::Display for ExecutionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.scenario, self.search.tag(), self.schedule)
    }
}

impl std::str::FromStr for ExecutionName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unclear = || format!("{text:?} names no execution; one looks like archive:p3:12=1,15=3");
        let mut parts = text.rsplitn(3, ':');
        let (Some(schedule), Some(tag), Some(scenario)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(unclear());
        };
        let search = match tag.strip_prefix('p') {
            Some(preemptions) => Search::Exhaustive { preemptions: preemptions.parse().map_err(|_| unclear())? },
            None if tag == "r" => Search::Random { executions: 1, seed: 0 },
            None => return Err(unclear()),
        };
        Ok(Self { scenario: scenario.to_owned(), search, schedule: schedule.parse()? })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.search {
            Search::Exhaustive { preemptions } => format!("all with up to {preemptions} preemptions"),
            Search::Random { .. } => "by chance".to_owned(),
        };
        let Self { scenario, executions, counts, took, .. } = self;
        write!(f, "{scenario}, {how}: {executions} executions: {counts} ({:.1} s)", took.as_secs_f64())?;
        if let Some(failure) = &self.failure {
            write!(f, "\n  replay with: cargo xtask faults --replay '{}'\n{}", failure.execution, failure.story)?;
        }
        Ok(())
    }
}

/// Makes searches side by side, as many as the machine has cores, and shows each report when it is there.
#[must_use]
pub fn run_all(searches: Vec<Explorer>, show: impl Fn(&Report) + Sync) -> Vec<Report> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (searches, reports) = (Mutex::new(VecDeque::from(searches)), Mutex::new(Vec::new()));
    let next = || searches.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(search) = next() {
                    let report = search.run();
                    let mut reports = reports.lock().unwrap_or_else(PoisonError::into_inner);
                    show(&report);
                    reports.push(report);
                }
            });
        }
    });
    reports.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// A search at work: one runtime for all its executions.
#[derive(Debug)]
pub struct Explorer {
    runtime: tokio::runtime::Runtime,
    scenario: Scenario,
    search: Search,
    sabotage: Option<Sabotage>,
    stops_early: bool,
}

impl Explorer {
    /// An explorer of a scenario.
    ///
    /// # Panics
    /// Where the machine has no room for a runtime.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a runtime without threads and sockets needs nothing that can fail")]
    pub fn new(scenario: Scenario, search: Search) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        Self { runtime: runtime.expect("a runtime"), scenario, search, sabotage: None, stops_early: false }
    }

    /// Breaks the protocol on purpose, and stops at the first execution that shows it.
    #[must_use]
    pub const fn sabotaged(mut self, sabotage: Sabotage) -> Self {
        self.sabotage = Some(sabotage);
        self.stops_early = true;
        self
    }

    /// Searches, and says what was found. What is broken on purpose mostly shows with few preemptions, which are soon
    /// explored: so then these come first.
    #[must_use]
    pub fn run(&self) -> Report {
        let (began, mut executions) = (Instant::now(), 0);
        if let (Some(sabotage), Search::Exhaustive { preemptions }) = (self.sabotage, self.search) {
            for preemptions in 0..preemptions {
                let report = Self::new(self.scenario, Search::Exhaustive { preemptions }).sabotaged(sabotage).search();
                executions += report.executions;
                if report.failure.is_some() {
                    return Report { executions, took: began.elapsed(), ..report };
                }
            }
        }
        let report = self.search();
        Report { executions: executions + report.executions, took: began.elapsed(), ..report }
    }

    fn search(&self) -> Report {
        let mut report = Report {
            scenario: self.scenario.name,
            search: self.search,
            sabotage: self.sabotage,
            executions: 0,
            counts: Counts::default(),
            failure: None,
            took: Duration::ZERO,
        };
        match self.search {
            Search::Exhaustive { .. } => {
                let mut choices = Choices::depth_first();
                while self.once(&mut choices, &mut report) && choices.advance() {}
            }
            Search::Random { executions, seed } => {
                for seed in seed..seed.saturating_add(executions) {
                    if !self.once(&mut Choices::random(seed), &mut report) {
                        break;
                    }
                }
            }
        }
        report
    }

    /// One execution; says whether to go on.
    fn once(&self, choices: &mut Choices, report: &mut Report) -> bool {
        let judgement = self.execute(choices, None);
        report.executions += 1;
        report.counts.add(&judgement);
        if judgement.is_clean() {
            return true;
        }
        if report.failure.is_none() {
            report.failure = Some(self.tell(choices.schedule()));
        }
        !self.stops_early
    }

    /// Runs one execution again, and tells what happens in it.
    #[must_use]
    pub fn replay(&self, schedule: &Schedule) -> (String, bool) {
        let mut trace = Vec::new();
        let judgement = self.execute(&mut Choices::replaying(schedule), Some(&mut trace));
        let steps: Vec<String> = trace.iter().map(|step| format!("  {step}\n")).collect();
        (format!("{}{judgement}", steps.concat()), judgement.is_clean())
    }

    /// Takes away what is not needed for the failure, and tells the rest.
    fn tell(&self, mut schedule: Schedule) -> Failure {
        let fails = |schedule: &Schedule| !self.execute(&mut Choices::replaying(schedule), None).is_clean();
        loop {
            let simpler = schedule.simpler().find(fails);
            match simpler {
                Some(simpler) => schedule = simpler,
                None => break,
            }
        }
        let (story, _) = self.replay(&schedule);
        let scenario = self.scenario.name.to_owned();
        Failure { execution: ExecutionName { scenario, search: self.search, schedule }, story }
    }

    fn execute(&self, choices: &mut Choices, trace: Option<&mut Vec<String>>) -> Judgement {
        // The code under test draws its waits by chance; each execution begins with the same luck.
        fastrand::seed(1);
        self.runtime.block_on(async {
            let turns = if trace.is_some() { Turns::described() } else { Turns::default() };
            let mut stage = Stage::new(turns, self.sabotage);
            (self.scenario.play)(&mut stage).await;
            let execution = Execution::new(stage, self.search.bounds(), choices, self.search.is_random());
            match trace {
                Some(trace) => execution.traced(trace).run().await,
                None => execution.run().await,
            }
        })
    }
}
