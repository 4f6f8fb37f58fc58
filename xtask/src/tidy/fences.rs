//! Every code example in the docs runs.

use super::Complaint;
use super::tree::{Tree, has_extension};

/// What makes rustdoc leave a code block out, or compile it without running it.
const EXCUSES: [&str; 2] = [concat!("no", "_run"), concat!("ig", "nore")];

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    tree.texts()
        .filter(|(path, _)| has_extension(path, "rs") || has_extension(path, "md"))
        .flat_map(|(path, text)| {
            text.lines().zip(1..).filter_map(move |(line, number)| {
                let excuse = excuse(line, has_extension(path, "rs"))?;
                Some(Complaint::line(path, number, format!("a code block marked `{excuse}`; make it run")))
            })
        })
        .collect()
}

fn excuse(line: &str, rust: bool) -> Option<&str> {
    let line = line.trim_start();
    let line = if rust { line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))? } else { line };
    let info = line.trim_start().strip_prefix("```")?;
    info.split([',', ' ', '{', '}', '`']).find(|word| EXCUSES.iter().any(|excuse| is_excuse(word, excuse)))
}

/// The bare word, or the word for one platform, such as the one that ends in `-windows`.
fn is_excuse(word: &str, excuse: &str) -> bool {
    word.strip_prefix(excuse).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&Tree::from([(path, text)])).len()
    }

    #[test]
    fn blocks_that_do_not_run_are_seen() {
        for excuse in [EXCUSES[0].to_owned(), EXCUSES[1].to_owned(), format!("{}-windows", EXCUSES[1])] {
            assert_eq!(count("a.rs", &format!("    /// ```{excuse}\n")), 1, "{excuse}");
            assert_eq!(count("a.rs", &format!("//! ```rust,{excuse}\n")), 1, "{excuse}");
            assert_eq!(count("a.md", &format!("```rust, {excuse}\n")), 1, "{excuse}");
        }
    }

    #[test]
    fn blocks_that_run_and_other_uses_of_the_words_pass() {
        assert_eq!(count("a.rs", "/// ```\n/// ```compile_fail\n/// ```text\n"), 0);
        assert_eq!(count("a.rs", &format!("// ```{}\n/// never {}\n", EXCUSES[0], EXCUSES[1])), 0);
    }
}
