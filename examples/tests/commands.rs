//! Every command in README, CONTRIBUTING and docs is one that the tests know how to run, and does what it says.
#![expect(clippy::expect_used, reason = "helpers of tests")]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Examples that serve until they are stopped; their own tests run them.
const SERVICES: [&str; 1] = ["department_service"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The pages that show commands.
fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(root().join("docs")).expect("the docs are there");
    let docs =
        docs.map(|entry| entry.expect("a file").path()).filter(|path| path.extension().is_some_and(|end| end == "md"));
    [root().join("README.md"), root().join("CONTRIBUTING.md")].into_iter().chain(docs).collect()
}

/// The lines of shell blocks, and the words in backticks that begin with `cargo`; without remarks.
fn commands(text: &str) -> BTreeSet<String> {
    let mut commands = BTreeSet::new();
    let mut shell = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), shell) {
            (Some(kind), None) => shell = Some(kind == "sh"),
            (Some(_), Some(_)) => shell = None,
            (None, Some(true)) => {
                commands.insert(line.split(" #").next().unwrap_or_default().trim().to_owned());
            }
            (None, Some(false)) => {}
            (None, None) => {
                let spans = line.split('`').skip(1).step_by(2);
                commands.extend(spans.filter(|span| span.starts_with("cargo ")).map(str::to_owned));
            }
        }
    }
    commands.remove("");
    commands
}

#[test]
fn every_command_of_the_docs_can_be_run() {
    let built = support::built();
    let help = help();
    let mut seen = BTreeSet::new();
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        seen.extend(commands(&text).into_iter().map(|command| (command, page.display().to_string())));
    }
    assert!(seen.len() > 8, "only {seen:?} were found");
    for (command, page) in seen {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words.as_slice() {
            ["cargo", "run", "--example", name, rest @ ..] => {
                let program = built.get(*name).unwrap_or_else(|| panic!("{page}: there is no example {name}"));
                if !SERVICES.contains(name) {
                    run(program, rest.strip_prefix(&["--"]).unwrap_or(rest), &page);
                }
            }
            // The second is the command that runs this test.
            ["cargo", "xtask", "help"] | ["cargo", "test", ..] => {}
            ["cargo", "xtask", name, ..] => {
                assert!(help.lines().any(|line| line.split_whitespace().next() == Some(name)), "{page}: {command}");
            }
            _ => panic!("{page}: no test runs `{command}`"),
        }
    }
}

fn run(program: &Path, arguments: &[&str], page: &str) {
    let azurite = std::env::var("TABLE_PATTERNS_AZURITE").unwrap_or_default();
    if azurite.is_empty() && arguments.iter().any(|each| each.contains("$TABLE_PATTERNS_AZURITE")) {
        // `cargo xtask test` starts it, and names what needs it where it cannot.
        return;
    }
    let arguments = arguments.iter().map(|each| each.trim_matches('"').replace("$TABLE_PATTERNS_AZURITE", &azurite));
    let arguments: Vec<String> = arguments.collect();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = Command::new(program).current_dir(folder.path()).args(&arguments).output().expect("it starts");
    assert!(output.status.success(), "{page}: {}: {output:?}", program.display());
}

fn help() -> String {
    let cargo = std::env::var_os("CARGO").expect("cargo runs the tests");
    let output = Command::new(cargo).current_dir(root()).args(["xtask", "help"]).output().expect("cargo starts");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn commands_are_found_in_blocks_and_in_lines() {
    let page = "See `cargo test` and `Table`.\n```sh\ncargo xtask tidy   # what no lint checks\n\n```\n```rust\nlet cargo = 1;\n```\n";
    let found = commands(page);
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), ["cargo test", "cargo xtask tidy"]);
}
