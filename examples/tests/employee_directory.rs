//! The employee directory, run as its users run it.
#![expect(clippy::expect_used, reason = "helpers of tests")]

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program, and the folder of its file.
struct Tool {
    program: PathBuf,
    folder: tempfile::TempDir,
}

impl Tool {
    fn new() -> Self {
        let program = support::built().remove("employee_directory").expect("it is an example");
        Self { program, folder: tempfile::tempdir().expect("a temporary folder") }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("company.redb")
    }

    /// Runs it on the kept file.
    fn run(&self, arguments: &str) -> Output {
        self.run_on(&format!("embedded:{}", self.file().display()), arguments)
    }

    fn run_on(&self, store: &str, arguments: &str) -> Output {
        let mut command = Command::new(&self.program);
        command.args(["--store", store]).args(arguments.split_whitespace()).output().expect("it starts")
    }

    /// What it prints when all goes well.
    fn says(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Its message for input that it cannot take.
    fn refuses(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {output:?}");
        String::from_utf8(output.stderr).expect("text")
    }
}

fn has_every_path(printed: &str) -> bool {
    let classes = ["Point", "Range", "MultiRange", "PartitionScan", "TableScan", "refused", "write"];
    classes.iter().all(|class| printed.lines().any(|line| line.starts_with(class)))
}

#[test]
fn without_arguments_it_fills_a_temporary_file_and_walks_every_access_path() {
    let tool = Tool::new();
    let output = Command::new(&tool.program).current_dir(tool.folder.path()).output().expect("it starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(has_every_path(&printed), "{printed}");
    assert!(printed.contains("managed by Jo Johnson"), "the copy must follow its source:\n{printed}");
    let left = std::fs::read_dir(tool.folder.path()).expect("the folder").count();
    assert_eq!(left, 0, "nothing is left where it was started");
}

#[test]
fn the_same_walk_runs_in_memory_and_again_on_a_kept_file() {
    let tool = Tool::new();
    let printed = tool.run_on("memory", "").stdout;
    assert!(has_every_path(&String::from_utf8_lossy(&printed)));
    assert!(has_every_path(&tool.says("")));
    let before = tool.says("stats");
    assert!(has_every_path(&tool.says("")));
    assert_eq!(tool.says("stats"), before, "a second walk adds nothing");
    assert!(before.contains("Sales: 40 employees, 120 reviews, 1 department"), "{before}");
}

#[test]
fn what_was_added_is_found_by_every_way_after_a_restart() {
    let tool = Tool::new();
    tool.says("add Sales 7 Jo Jones jo@contoso.com 41");
    tool.says("add Legal 8 Al Smith al@contoso.com 30");
    assert!(Path::is_file(&tool.file()));
    let jo = "Sales 000007  Jo Jones, 41, jo@contoso.com\n";
    for way in [
        "--email jo@contoso.com",
        "--department Sales --id 7",
        "--department Sales --last-name Jones",
        "--department Sales",
    ] {
        assert_eq!(tool.says(&format!("find {way}")), jo, "{way}");
    }
}

#[test]
fn reviews_and_managers_show_in_the_report() {
    let tool = Tool::new();
    tool.says("add Sales 7 Jo Jones jo@contoso.com 41");
    assert!(tool.says("reviews Sales 7 --add 2014 5").contains("2014: *****"));
    tool.says("appoint Sales 7");
    let report = tool.says("report Sales");
    assert!(report.contains("managed by Jo Jones") && report.contains("2014: 5"), "{report}");
}

#[test]
fn bad_input_is_refused_with_what_to_do() {
    let tool = Tool::new();
    tool.says("add Sales 7 Jo Jones jo@contoso.com 41");
    for (arguments, hint) in [
        ("fnd", "find"),
        ("find", "--email"),
        ("find --id 7", "--department"),
        ("find --email nobody@contoso.com", "nobody was found"),
        ("add Legal 9 Al Smith jo@contoso.com 30", "unique index directory"),
        ("add Sales 7 Al Smith al@contoso.com 30", "already exists"),
        ("add Sales 1234567 Al Smith al@contoso.com 30", "6 digits"),
        ("add Sales seven Al Smith al@contoso.com 30", "seven"),
        ("reviews Sales 7 --add 2014 9", "1 to 5"),
        ("reviews Sales 99 --add 2014 5", "not found"),
        ("reviews Sales 99", "no employee 99"),
        ("report Nowhere", "not found"),
    ] {
        let said = tool.refuses(arguments);
        assert!(said.contains(hint), "{arguments} must mention {hint:?}: {said}");
    }
}

#[test]
fn an_unknown_store_is_refused_with_the_choices() {
    let output = Tool::new().run_on("cloud", "stats");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("memory, embedded"), "{output:?}");
}

#[test]
fn a_command_needs_a_store_that_is_kept() {
    let tool = Tool::new();
    for store in ["memory", "embedded"] {
        let output = tool.run_on(store, "stats");
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("embedded:company.redb"), "{output:?}");
    }
}
