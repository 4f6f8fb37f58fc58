//! Files end with one newline and lines with what is seen.

use super::Complaint;
use super::tree::{Tree, has_extension};

/// Texts that are kept byte for byte: what the compiler printed for the UI tests, and what is fed to a fuzz target.
fn is_kept_as_it_is(path: &str) -> bool {
    has_extension(path, "stderr") || path.starts_with("fuzz/seeds/")
}

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    tree.texts()
        .filter(|(path, text)| !text.is_empty() && !is_kept_as_it_is(path))
        .flat_map(|(path, text)| ends(path, text).into_iter().chain(lines(path, text)))
        .collect()
}

fn ends(path: &str, text: &str) -> Option<Complaint> {
    if !text.ends_with('\n') {
        Some(Complaint::file(path, "the last line has no newline"))
    } else if text.ends_with("\n\n") {
        Some(Complaint::file(path, "empty lines at the end"))
    } else {
        None
    }
}

fn lines(path: &str, text: &str) -> Vec<Complaint> {
    let rust = has_extension(path, "rs");
    let mut complaints = Vec::new();
    for (line, number) in text.split('\n').zip(1..) {
        if line.ends_with(char::is_whitespace) {
            complaints.push(Complaint::line(path, number, "white space at the end of the line"));
        }
        if rust && line.contains('\t') {
            complaints.push(Complaint::line(path, number, "a tab; indent with spaces, and write `\\t` in a text"));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(path: &str, text: &str) -> Vec<Option<usize>> {
        check(&Tree::from([(path, text)])).into_iter().map(|complaint| complaint.line).collect()
    }

    #[test]
    fn clean_and_empty_files_pass() {
        assert!(complaints("a.rs", "fn main() {}\n").is_empty());
        assert!(complaints("a.rs", "").is_empty());
        assert!(complaints("Makefile", "all:\n\ttrue\n").is_empty());
    }

    #[test]
    fn a_missing_newline_and_empty_lines_at_the_end_are_seen() {
        assert_eq!(complaints("a.md", "text"), [None]);
        assert_eq!(complaints("a.md", "text\n\n"), [None]);
    }

    #[test]
    fn trailing_white_space_is_seen_on_its_line() {
        assert_eq!(complaints("a.md", "one\ntwo  \n"), [Some(2)]);
        assert_eq!(complaints("a.md", "one\r\n"), [Some(1)]);
    }

    #[test]
    fn a_tab_in_rust_is_seen() {
        assert_eq!(complaints("a.rs", "fn main() {\n\tlet x = 1;\n}\n"), [Some(2)]);
    }

    #[test]
    fn what_is_kept_byte_for_byte_is_left_alone() {
        assert!(complaints("ui/a.stderr", "error: \n\n").is_empty());
        assert!(complaints("fuzz/seeds/parser/00", "Age eq 4 ").is_empty());
    }
}
