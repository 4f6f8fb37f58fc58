//! What a run of `cargo xtask faults` found, as the tables of docs/reliability.md.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use table_core::Timestamp;

use crate::crash::KillReport;
use crate::explore::{Counts, Report, Search, scenarios};
use crate::soak::SoakReport;

/// What stands before and after the tables in a page that holds them.
const BEGIN: &str = "<!-- begin of what `cargo xtask faults --markdown` writes -->";
const END: &str = "<!-- end of what `cargo xtask faults --markdown` writes -->";

/// What a run found. Parts that were not run are empty.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// The command that made them.
    pub command: String,
    /// What was explored.
    pub scenarios: Vec<Report>,
    /// How long that took.
    pub took: Duration,
    /// Protocols that were broken on purpose.
    pub sabotages: Vec<Report>,
    /// The embedded store alone, killed.
    pub kills: Option<KillReport>,
    /// Writers and workers, killed: of one process, and on Azurite where it ran.
    pub soaks: Vec<SoakReport>,
}

impl Figures {
    /// The page with these figures between its marks.
    ///
    /// # Errors
    /// Where the text has no marks.
    pub fn write_into(&self, page: &str) -> Result<String, String> {
        self.write_at(page, Timestamp::now())
    }

    fn write_at(&self, page: &str, now: Timestamp) -> Result<String, String> {
        let (before, after) = around(page)?;
        Ok(format!("{before}{BEGIN}\n{}{END}{after}", self.markdown(now)))
    }

    /// Writes them into a file.
    ///
    /// # Errors
    /// Where the file cannot be read or written, or has no marks.
    pub fn write_to(&self, path: &Path) -> Result<(), String> {
        let page = self.write_into(&read(path)?)?;
        std::fs::write(path, page).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Refuses a file that has no place for figures, before the run that makes them.
    ///
    /// # Errors
    /// Where the file cannot be read, or has no marks.
    pub fn check(path: &Path) -> Result<(), String> {
        around(&read(path)?).map(|_| ()).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn markdown(&self, now: Timestamp) -> String {
        let date: String = now.to_string().chars().take_while(|letter| *letter != 'T').collect();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let (system, kind) = (std::env::consts::OS, std::env::consts::ARCH);
        let mut text = format!("Made on {date} by `{}` on {cores} cores, {system} {kind}.\n", self.command);
        self.explored(&mut text);
        self.sabotaged(&mut text);
        self.killed(&mut text);
        text
    }

    fn explored(&self, text: &mut String) {
        if self.scenarios.is_empty() {
            return;
        }
        let executions: u64 = self.scenarios.iter().map(|report| report.executions).sum();
        let counts = self.scenarios.iter().fold(Counts::default(), |counts, report| counts.plus(report.counts));
        let (scenarios, took) = (self.scenarios.len(), self.took.as_secs());
        // Writing to a string can't fail, here and below.
        let _ =
            writeln!(text, "\n**{} executions of {scenarios} scenarios in {took} s: {counts}.**", grouped(executions));
        let (mut pairs, mut crowds) = (String::new(), String::new());
        for report in in_order(&self.scenarios) {
            let (scenario, executions, wrong) = (report.scenario, grouped(report.executions), cells(report.counts));
            let _ = match report.search {
                Search::Exhaustive { preemptions } => {
                    writeln!(pairs, "| {scenario} | {preemptions} | {executions} | {wrong}")
                }
                Search::Random { .. } => writeln!(crowds, "| {scenario} | {executions} | {wrong}"),
            };
        }
        let wrong = "lost | stale | orphaned | doubled | broken |";
        if !pairs.is_empty() {
            let _ = writeln!(text, "\n| two actors, every execution | preemptions | executions | {wrong}");
            let _ = write!(text, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n{pairs}");
        }
        if !crowds.is_empty() {
            let _ = writeln!(text, "\n| four actors, by chance | executions | {wrong}");
            let _ = write!(text, "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n{crowds}");
        }
    }

    fn sabotaged(&self, text: &mut String) {
        if self.sabotages.is_empty() {
            return;
        }
        text.push_str("\n| taken out on purpose | found by | after executions |\n| --- | --- | ---: |\n");
        for report in in_order(&self.sabotages) {
            let taken = report.sabotage.map(|sabotage| sabotage.to_string()).unwrap_or_default();
            let executions = grouped(report.executions);
            let _ = match report.failure {
                Some(_) => writeln!(text, "| {taken} | {} | {executions} |", report.scenario),
                None => writeln!(text, "| {taken} | **not found** by {} | {executions} |", report.scenario),
            };
        }
    }

    fn killed(&self, text: &mut String) {
        if self.kills.is_none() && self.soaks.is_empty() {
            return;
        }
        text.push_str("\n| killed with SIGKILL | kills | acknowledged | wrong |\n| --- | ---: | --- | --- |\n");
        if let Some(KillReport { kills, transactions, sent, deleted, lost, torn, resurrected, doubled }) = &self.kills {
            let [transactions, sent, deleted] = [transactions, sent, deleted].map(|number| grouped(*number as u64));
            let _ = writeln!(
                text,
                "| the embedded store | {kills} | {transactions} transactions, {sent} messages, {deleted} of them deleted | {lost} lost, {torn} torn, {resurrected} resurrected, {doubled} doubled |"
            );
        }
        for SoakReport { place, kills, done, refused, judgement } in &self.soaks {
            let mut counts = Counts::default();
            counts.add(judgement);
            let [done, refused] = [*done, *refused].map(grouped);
            let _ = writeln!(
                text,
                "| writers and workers: {place} | {kills} | {done} changes; {refused} were refused | {counts} |"
            );
        }
    }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// What stands before and after the marks.
fn around(page: &str) -> Result<(&str, &str), String> {
    let parts = page.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    parts.ok_or_else(|| format!("there are no marks to write between:\n{BEGIN}\n{END}"))
}

/// Reports in the order of the scenarios, and not in that in which they ended.
fn in_order(reports: &[Report]) -> Vec<&Report> {
    let names: Vec<_> = scenarios::pairs().into_iter().chain(scenarios::crowds()).map(|each| each.name).collect();
    let mut reports: Vec<_> = reports.iter().collect();
    reports.sort_by_key(|report| names.iter().position(|name| *name == report.scenario));
    reports
}

fn cells(counts: Counts) -> String {
    let Counts { lost, stale, orphaned, doubled, broken } = counts;
    format!("{lost} | {stale} | {orphaned} | {doubled} | {broken} |")
}

/// A number with a comma after each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::{ExecutionName, Failure, Judgement, Sabotage, Wrong};

    fn report(scenario: &'static str, search: Search) -> Report {
        let (counts, took) = (Counts::default(), Duration::ZERO);
        Report { scenario, search, sabotage: None, executions: 1_234_567, counts, failure: None, took }
    }

    fn pair(scenario: &'static str) -> Report {
        report(scenario, Search::Exhaustive { preemptions: 3 })
    }

    fn crowd(scenario: &'static str) -> Report {
        report(scenario, Search::Random { executions: 7, seed: 1 })
    }

    fn shown(figures: &Figures) -> String {
        figures.markdown(Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn scenarios_come_in_their_own_order_with_what_was_wrong() {
        let mut stale = pair("index: insert");
        stale.counts = Counts { stale: 2, broken: 1, ..Counts::default() };
        let scenarios = vec![crowd("items in a crowd"), stale, pair("archive")];
        let (command, took) = ("cargo xtask faults".to_owned(), Duration::from_millis(9500));
        let text = shown(&Figures { command, scenarios, took, ..Figures::default() });
        assert!(text.starts_with("Made on 1970-01-01 by `cargo xtask faults` on "), "{text}");
        let all = "**3,703,701 executions of 3 scenarios in 9 s: 0 lost, 2 stale, 0 orphaned, 0 doubled, 1 broken.**";
        assert!(text.contains(all), "{text}");
        let rows =
            "| archive | 3 | 1,234,567 | 0 | 0 | 0 | 0 | 0 |\n| index: insert | 3 | 1,234,567 | 0 | 2 | 0 | 0 | 1 |\n";
        assert!(text.contains(rows), "{text}");
        assert!(text.contains("---: |\n| items in a crowd | 1,234,567 | 0 | 0 | 0 | 0 | 0 |\n"), "{text}");
        assert!(!text.contains("SIGKILL") && !text.contains("taken out"), "what was not run has no table: {text}");
    }

    #[test]
    fn a_sabotage_that_nothing_found_stands_out() {
        let name: ExecutionName = "index: change:p3:1=1".parse().unwrap();
        let mut found = pair("index: change");
        found.sabotage = Some(Sabotage::NoFence);
        found.failure = Some(Failure { execution: name, story: String::new() });
        let mut missed = pair("archive");
        missed.sabotage = Some(Sabotage::ArchiveLeavesNoFence);
        let text = shown(&Figures { sabotages: vec![found, missed], ..Figures::default() });
        assert!(text.contains("| no fence | index: change | 1,234,567 |\n"), "{text}");
        assert!(text.contains("| archive without fence | **not found** by archive | 1,234,567 |\n"), "{text}");
    }

    #[test]
    fn killed_processes_have_a_row_each() {
        let kills =
            KillReport { kills: 200, transactions: 5226, sent: 1304, deleted: 821, torn: 1, ..KillReport::default() };
        let mut judgement = Judgement::default();
        judgement.find(Wrong::Orphaned, "a row");
        let soak = SoakReport { place: "embedded", kills: 52, done: 52_485, refused: 2724, judgement };
        let text = shown(&Figures { kills: Some(kills), soaks: vec![soak], ..Figures::default() });
        let store = "| the embedded store | 200 | 5,226 transactions, 1,304 messages, 821 of them deleted | 0 lost, 1 torn, 0 resurrected, 0 doubled |\n";
        assert!(text.contains(store), "{text}");
        let soak = "| writers and workers: embedded | 52 | 52,485 changes; 2,724 were refused | 0 lost, 0 stale, 1 orphaned, 0 doubled |\n";
        assert!(text.contains(soak), "{text}");
    }

    #[test]
    fn only_what_stands_between_the_marks_is_replaced() {
        let figures = Figures { scenarios: vec![pair("archive")], ..Figures::default() };
        let now = Timestamp::now();
        let page = figures.write_at(&format!("# Before\n\n{BEGIN}\nold\n{END}\n\nAfter.\n"), now).unwrap();
        assert!(page.starts_with(&format!("# Before\n\n{BEGIN}\nMade on ")), "{page}");
        assert!(page.ends_with(&format!("|\n{END}\n\nAfter.\n")) && !page.contains("old"), "{page}");
        assert_eq!(figures.write_at(&page, now).unwrap(), page, "a second time changes nothing");
        assert!(figures.write_into("somebody's notes").unwrap_err().contains(BEGIN));
    }

    #[test]
    fn the_page_has_a_place_for_them() {
        Figures::check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reliability.md")).unwrap();
    }
}
