//! The changelog has a place for what comes next, and its entries say what they are.

use super::Complaint;
use super::tree::Tree;

const PATH: &str = "CHANGELOG.md";
const TAGS: [&str; 4] = ["breaking", "added", "changed", "fixed"];

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let Some(text) = tree.text(PATH) else {
        return vec![Complaint::file(PATH, "there is no changelog")];
    };
    let mut complaints = untagged(text);
    if !text.lines().any(|line| matches!(line, "## Unreleased" | "## [Unreleased]")) {
        complaints.push(Complaint::file(PATH, "there is no section `## Unreleased` for the next entry"));
    }
    complaints
}

/// Entries stand in sections, and begin with a tag in bold.
fn untagged(text: &str) -> Vec<Complaint> {
    text.lines()
        .zip(1..)
        .skip_while(|(line, _)| !line.starts_with("## "))
        .filter(|(line, _)| line.starts_with("- "))
        .filter(|(line, _)| !TAGS.iter().any(|tag| line.starts_with(&format!("- **{tag}**"))))
        .map(|(_, number)| Complaint::line(PATH, number, format!("an entry begins with **{}**", TAGS.join("**, **"))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> usize {
        check(&Tree::from([(PATH, text)])).len()
    }

    #[test]
    fn a_tagged_entry_under_unreleased_passes() {
        assert_eq!(count("# Changelog\n- rules\n\n## Unreleased\n- **added** stores\n  in memory\n"), 0);
    }

    #[test]
    fn a_missing_changelog_or_section_is_seen() {
        assert_eq!(check(&Tree::default()).len(), 1);
        assert_eq!(count("# Changelog\n\n## 0.1.0\n"), 1);
    }

    #[test]
    fn an_untagged_entry_is_seen_on_its_line() {
        let complaints = check(&Tree::from([(PATH, "## Unreleased\n- **fixed** it\n- stores\n")]));
        assert_eq!(complaints.iter().map(|each| each.line).collect::<Vec<_>>(), [Some(3)]);
    }
}
