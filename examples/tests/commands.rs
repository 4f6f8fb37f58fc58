//! Every command in README, CONTRIBUTING and docs is one that the tests know how to run, and does what it says.
#![expect(clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
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

/// The lines of shell blocks, and the words in backticks that begin with `cargo`, in their order; without remarks.
fn commands(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut shell = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), shell) {
            (Some(kind), None) => shell = Some(kind == "sh"),
            (Some(_), Some(_)) => shell = None,
            (None, Some(true)) => {
                commands.push(line.split(" #").next().unwrap_or_default().trim().to_owned());
            }
            (None, Some(false)) => {}
            (None, None) => {
                let spans = line.split('`').skip(1).step_by(2);
                commands.extend(spans.filter(|span| span.starts_with("cargo ")).map(str::to_owned));
            }
        }
    }
    commands.retain(|command| !command.is_empty());
    commands
}

#[test]
fn every_command_of_the_docs_can_be_run() {
    let built = support::built();
    let help = help();
    let mut seen = BTreeSet::new();
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        // What one command of a page keeps in a file, the next finds there.
        let folder = tempfile::tempdir().expect("a temporary folder");
        for command in commands(&text) {
            check(&command, &page.display().to_string(), &built, &help, folder.path());
            seen.insert(command);
        }
    }
    assert!(seen.len() > 8, "only {seen:?} were found");
}

/// Runs a command, or makes sure that another test does.
fn check(command: &str, page: &str, built: &BTreeMap<String, PathBuf>, help: &str, folder: &Path) {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words.as_slice() {
        ["cargo", "run", "--example", name, rest @ ..] => {
            let program = built.get(*name).unwrap_or_else(|| panic!("{page}: there is no example {name}"));
            if !SERVICES.contains(name) {
                run(program, rest.strip_prefix(&["--"]).unwrap_or(rest), page, folder);
            }
        }
        // `cargo test` runs this test, and the test below does what a newcomer does.
        ["cargo", "xtask", "help"] | ["cargo", "test", ..] | ["cargo", "new", "books"] | ["cargo", "run"] => {}
        ["cargo", "xtask", name, ..] => {
            assert!(help.lines().any(|line| line.split_whitespace().next() == Some(name)), "{page}: {command}");
        }
        _ => panic!("{page}: no test runs `{command}`"),
    }
}

fn run(program: &Path, arguments: &[&str], page: &str, folder: &Path) {
    let azurite = std::env::var("TABLE_PATTERNS_AZURITE").unwrap_or_default();
    if azurite.is_empty() && arguments.iter().any(|each| each.contains("$TABLE_PATTERNS_AZURITE")) {
        // `cargo xtask test` starts it, and names what needs it where it cannot.
        return;
    }
    let arguments = arguments.iter().map(|each| each.trim_matches('"').replace("$TABLE_PATTERNS_AZURITE", &azurite));
    let arguments: Vec<String> = arguments.collect();
    let output = Command::new(program).current_dir(folder).args(&arguments).output().expect("it starts");
    assert!(output.status.success(), "{page}: {}: {output:?}", program.display());
}

/// The first block of a kind below a heading.
fn block<'t>(text: &'t str, heading: &str, kind: &str) -> &'t str {
    let (_, section) = text.split_once(heading).expect("the section is there");
    let (_, block) = section.split_once(&format!("```{kind}\n")).expect("a block");
    block.split_once("```").expect("its end").0
}

#[test]
fn the_readme_shows_what_the_directory_prints() {
    let readme = fs::read_to_string(root().join("README.md")).expect("the page");
    let program = support::built().remove("employee_directory").expect("it is an example");
    let output = Command::new(program).args(["--store", "memory"]).output().expect("it starts");
    let printed = String::from_utf8(output.stdout).expect("text");
    // Without the time, which is another each time.
    let cut = |line: &str| {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        if matches!(words.last(), Some(&("µs" | "ms"))) {
            words.truncate(words.len() - 2);
        }
        words.join(" ")
    };
    let printed: BTreeSet<String> = printed.lines().map(cut).collect();
    let excerpt = block(&readme, "## Two commands", "text");
    assert!(excerpt.lines().count() > 5, "an excerpt");
    for line in excerpt.lines().filter(|line| line.trim() != "…") {
        assert!(printed.contains(&cut(line)), "it does not print {line:?}");
    }
}

#[test]
fn a_newcomer_gets_to_an_entity_with_an_index() {
    let readme = fs::read_to_string(root().join("README.md")).expect("the page");
    let heading = "## Your own entity with an index";
    let here = root().canonicalize().expect("the workspace");
    let crates = format!("{}/", here.display());
    let manifest = block(&readme, heading, "toml").replace("../table-patterns/", &crates);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    fs::create_dir(folder.path().join("src")).expect("a folder");
    write("Cargo.toml", &format!("[package]\nname = \"books\"\nedition = \"2024\"\n\n{manifest}"));
    write("src/main.rs", block(&readme, heading, "rust"));
    // The versions that are on this machine already.
    fs::copy(here.join("Cargo.lock"), folder.path().join("Cargo.lock")).expect("the lock file");
    let cargo = std::env::var_os("CARGO").expect("cargo runs the tests");
    let output = Command::new(cargo)
        .args(["run", "--quiet", "--offline"])
        .current_dir(folder.path())
        // Apart from the workspace's, which other tests build into meanwhile; and kept for the next time.
        .env("CARGO_TARGET_DIR", here.join("target").join("newcomer"))
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).expect("text");
    assert_eq!(printed, "The Fellowship of the Ring\n1 The Fellowship of the Ring\n");
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
    assert_eq!(found, ["cargo test", "cargo xtask tidy"]);
}
