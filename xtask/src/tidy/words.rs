//! Words that have no place in a tracked file.
//!
//! This file would be the first to hold them, so it writes each in two pieces.

use super::Complaint;
use super::tree::{Tree, has_extension};

/// A word, and what to do instead.
struct Word {
    text: &'static str,
    place: Place,
    advice: &'static str,
}

/// Where a word is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Anywhere in Rust sources.
    Rust,
    /// Where a path begins, in any file: not after a letter, a digit or another part of a path.
    PathStart,
}

const WORDS: [Word; 8] = [
    Word { text: concat!("to", "do!("), place: Place::Rust, advice: "unfinished code; finish it or leave it out" },
    Word {
        text: concat!("unimple", "mented!("),
        place: Place::Rust,
        advice: "unfinished code; finish it or leave it out",
    },
    Word { text: concat!("d", "bg!("), place: Place::Rust, advice: "left over from debugging" },
    Word {
        text: concat!("#[ig", "nore"),
        place: Place::Rust,
        advice: "a test that never runs; make it run, or delete it",
    },
    Word { text: concat!("/wo", "rk/"), place: Place::PathStart, advice: MACHINE },
    Word { text: concat!("/ho", "me/"), place: Place::PathStart, advice: MACHINE },
    Word { text: concat!("/ro", "ot/"), place: Place::PathStart, advice: MACHINE },
    Word {
        text: concat!("sha", "red/"),
        place: Place::PathStart,
        advice: "a path outside the repository; say here what it says there",
    },
];

const MACHINE: &str = "a path of one machine; make it relative";

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    tree.texts().flat_map(|(path, text)| WORDS.iter().flat_map(move |word| uses(path, text, word))).collect()
}

fn uses(path: &str, text: &str, word: &Word) -> Vec<Complaint> {
    if word.place == Place::Rust && !has_extension(path, "rs") {
        return Vec::new();
    }
    text.lines()
        .zip(1..)
        .filter(|(line, _)| {
            line.match_indices(word.text)
                .any(|(at, _)| word.place == Place::Rust || line.get(..at).is_some_and(begins_a_path))
        })
        .map(|(_, number)| Complaint::line(path, number, format!("`{}`: {}", word.text, word.advice)))
        .collect()
}

/// Whether a path can begin after this text; steps upwards belong to the path.
fn begins_a_path(before: &str) -> bool {
    let before = before.trim_end_matches("../");
    !before.ends_with(|each: char| each.is_alphanumeric() || "_-.~}>/".contains(each))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&Tree::from([(path, text)])).len()
    }

    #[test]
    fn every_word_is_found_in_a_rust_file() {
        for word in WORDS {
            assert_eq!(count("a.rs", &format!("// x\n    {} \n", word.text)), 1, "{}", word.text);
        }
    }

    #[test]
    fn macros_are_looked_for_in_rust_only() {
        assert_eq!(count("a.md", concat!("never write d", "bg!(x)\n")), 0);
        assert_eq!(count("a.md", concat!("see `/ho", "me/me/notes`\n")), 1);
    }

    #[test]
    fn a_longer_path_that_only_contains_the_word_passes() {
        assert_eq!(count("a.md", concat!("docs/wo", "rk/plan.md and https://example.com/ho", "me/\n")), 0);
        assert_eq!(count("a.md", concat!("un", "sha", "red/state and src/sha", "red/state\n")), 0);
        assert_eq!(count("a.md", concat!("see ../sha", "red/notes.md\n")), 1);
    }
}
