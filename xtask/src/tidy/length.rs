//! No source file is longer than one sitting.

use super::Complaint;
use super::tree::Tree;

const MOST_LINES: usize = 500;

/// Tests count too: a long test file hides its subject as well as any other.
pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    tree.with_extension("rs")
        .filter_map(|(path, text)| {
            let lines = text.lines().count();
            (lines > MOST_LINES).then(|| {
                Complaint::file(path, format!("{lines} lines, where {MOST_LINES} are the most; split it by subject"))
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_hundred_lines_are_the_most() {
        let (most, more) = ("\n".repeat(500), "\n".repeat(501));
        let tree = Tree::from([("fits.rs", most.as_str()), ("long.rs", &more), ("long.md", &more)]);
        let complaints = check(&tree);
        assert_eq!(complaints.len(), 1);
        assert_eq!(complaints[0].path, "long.rs");
    }
}
