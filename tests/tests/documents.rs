//! The docs are complete: every kind of error has its section, and every page's code is run.
#![expect(clippy::panic, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn every_kind_of_error_has_a_section_in_troubleshooting() {
    let source = read("table-core/src/error.rs");
    let (_, rest) = source.split_once("pub enum ErrorKind {").expect("the kinds are there");
    let (kinds, _) = rest.split_once("\n}").expect("their end");
    let kinds: BTreeSet<&str> = kinds.lines().filter_map(|line| line.trim().strip_suffix(',')).collect();
    assert!(kinds.len() > 10, "only {kinds:?} were found");
    let page = read("docs/troubleshooting.md");
    let sections: BTreeSet<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let missing: Vec<_> = kinds.difference(&sections).collect();
    assert!(missing.is_empty(), "docs/troubleshooting.md says nothing of {missing:?}");
}

#[test]
fn the_rust_of_every_page_is_a_doc_test() {
    let included = read("tests/src/lib.rs");
    let pages = fs::read_dir(root().join("docs")).expect("the docs are there");
    for page in pages.map(|entry| entry.expect("a file").path()).chain([root().join("README.md")]) {
        let name = page.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let text = fs::read_to_string(&page).expect("a page");
        if text.contains("```rust") {
            assert!(included.contains(&format!("/{name}\"")), "{name} has code that tests/src/lib.rs does not run");
        }
    }
}
