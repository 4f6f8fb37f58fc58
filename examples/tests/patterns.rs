//! Every example of a pattern prints what is written down beside it.
//!
//! `UPDATE_EXPECTED=1 cargo test -p table-examples --test patterns` writes down what they print now.
#![expect(clippy::expect_used, reason = "helpers of tests")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The examples that have tests of their own.
const APPS: [&str; 2] = ["department_service", "employee_directory"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("patterns")
}

/// The names of the files with an ending, in a folder.
fn names(folder: &Path, extension: &str) -> Vec<String> {
    let files = fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("a file").path());
    let mut names: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    names
}

#[test]
fn every_example_prints_what_is_written_down() {
    let update = std::env::var_os("UPDATE_EXPECTED").is_some();
    for (name, program) in support::built() {
        if APPS.contains(&name.as_str()) {
            continue;
        }
        let output = Command::new(program).output().expect("the example starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name} failed: {errors}");
        let printed = String::from_utf8(output.stdout).expect("text");
        let file = folder().join("expected").join(format!("{name}.txt"));
        if update {
            fs::write(&file, &printed).expect("the file can be written");
        }
        let expected = fs::read_to_string(&file).unwrap_or_default().replace("\r\n", "\n");
        assert_eq!(printed, expected, "{name} prints something else than {}", file.display());
    }
}

#[test]
fn every_file_is_an_example_with_an_expected_output() {
    let files = names(&folder(), "rs");
    let mut built: Vec<String> = support::built().into_keys().filter(|name| !APPS.contains(&name.as_str())).collect();
    built.sort();
    assert_eq!(files, built, "an example needs its `[[example]]` in Cargo.toml");
    assert_eq!(files, names(&folder().join("expected"), "txt"));
}

#[test]
fn every_pattern_has_an_example_and_stands_in_the_map() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../table-patterns/src/lib.rs");
    let source = fs::read_to_string(source).expect("the crate is there");
    let modules = source.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let mut modules: Vec<String> = modules.map(str::to_owned).collect();
    modules.sort();
    assert_eq!(modules, names(&folder(), "rs"), "a pattern has an example of its name");
    for module in modules {
        assert!(source.contains(&format!("| [`{module}`] |")), "the map on the front page lacks {module}");
    }
}
