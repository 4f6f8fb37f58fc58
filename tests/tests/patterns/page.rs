//! The page of patterns and the crate's front page leave none out.

use std::fs;
use std::path::Path;

use table_tests::pattern::documented_patterns;

const FRONT_PAGE: &str = include_str!("../../../table-patterns/src/lib.rs");

fn modules() -> Vec<&'static str> {
    FRONT_PAGE.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect()
}

#[test]
fn every_module_has_one_row() {
    let (mut rows, mut modules) = (documented_patterns(), modules());
    rows.sort_unstable();
    modules.sort_unstable();
    assert_eq!(rows, modules, "give each pattern a row in docs/patterns.md");
}

#[test]
fn every_row_is_counted_by_a_test() {
    let mut tests = String::new();
    read_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"), &mut tests);
    for pattern in documented_patterns() {
        assert!(tests.contains(&format!("Costs::of(\"{pattern}\"")), "no test counts what {pattern} takes");
    }
}

#[test]
fn the_front_page_says_what_each_module_is_for() {
    for module in modules() {
        let rows =
            FRONT_PAGE.lines().filter(|line| line.starts_with("//! |") && line.contains(&format!("[`{module}`]")));
        assert_eq!(rows.count(), 1, "say in table-patterns/src/lib.rs what {module} is for");
    }
}

fn read_all(folder: &Path, into: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_all(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}
