//! Every crate takes the lints of the workspace.

use super::Complaint;
use super::tree::Tree;
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace, tree: &Tree) -> Vec<Complaint> {
    workspace
        .packages
        .iter()
        .filter_map(|package| {
            let path = workspace.manifest(package);
            let inherits = tree.text(&path).is_some_and(inherits_lints);
            (!inherits).then(|| {
                Complaint::file(&path, "the lints of the workspace are missing: `[lints]` needs `workspace = true`")
            })
        })
        .collect()
}

fn inherits_lints(manifest: &str) -> bool {
    let mut section = "";
    manifest.lines().map(str::trim).any(|line| {
        if line.starts_with('[') {
            section = line;
        }
        let setting: String = line.split_whitespace().collect();
        (section == "[lints]" && setting == "workspace=true")
            || (section.is_empty() && setting == "lints.workspace=true")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(manifest: &str) -> usize {
        let workspace = Workspace::parse(
            r#"{"workspace_root": "/r", "packages": [
                {"name": "p", "manifest_path": "/r/p/Cargo.toml", "dependencies": [], "targets": []}]}"#,
        )
        .unwrap();
        check(&workspace, &Tree::from([("p/Cargo.toml", manifest)])).len()
    }

    #[test]
    fn a_crate_that_inherits_the_lints_passes() {
        assert_eq!(count("[package]\nname = \"p\"\n\n[lints]\nworkspace = true\n"), 0);
        assert_eq!(count("lints.workspace = true\n\n[package]\nname = \"p\"\n"), 0);
    }

    #[test]
    fn a_crate_without_the_lints_is_seen() {
        assert_eq!(count("[package]\nname = \"p\"\n"), 1);
        assert_eq!(count("[package]\nworkspace = true\n\n[lints.rust]\nunsafe_code = \"forbid\"\n"), 1);
        assert_eq!(count("[lints]\nworkspace = false\n"), 1);
    }
}
