//! Arrows between the crates go one way.

use super::Complaint;
use crate::workspace::{Package, Workspace};

/// What a crate may use of its siblings.
enum May {
    Only(&'static [&'static str]),
    Everything,
}

/// Every crate of the workspace has its place here.
const ARROWS: [(&str, May); 10] = [
    ("table-derive", May::Only(&[])),
    ("table-core", May::Only(&["table-derive"])),
    ("table-patterns", May::Only(&["table-core"])),
    ("table-embedded", May::Only(&["table-core"])),
    ("table-azure", May::Only(&["table-core"])),
    ("table-conformance", May::Only(&["table-core"])),
    ("table-examples", May::Everything),
    ("table-tests", May::Everything),
    ("table-benches", May::Everything),
    ("xtask", May::Only(&[])),
];

/// Development dependencies are free: a test may look at anything.
pub(super) fn check(workspace: &Workspace) -> Vec<Complaint> {
    workspace.packages.iter().flat_map(|package| package_arrows(package, workspace)).collect()
}

fn package_arrows(package: &Package, workspace: &Workspace) -> Vec<Complaint> {
    let complaint = |message: String| Complaint::file(&workspace.manifest(package), message);
    let Some((_, may)) = ARROWS.iter().find(|(name, _)| *name == package.name) else {
        return vec![complaint("the crate has no place in the dependency direction; give it one in tidy".to_owned())];
    };
    let May::Only(allowed) = may else {
        return Vec::new();
    };
    package
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind.as_deref() != Some("dev"))
        .filter(|dependency| workspace.packages.iter().any(|sibling| sibling.name == dependency.name))
        .filter(|dependency| !allowed.contains(&dependency.name.as_str()))
        .map(|dependency| complaint(format!("must not depend on {}; arrows go one way", dependency.name)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dependency's name and kind.
    type Arrow = (&'static str, Option<&'static str>);

    /// What is wrong with a workspace of packages and their dependencies.
    fn complaints(packages: &[(&str, &[Arrow])]) -> Vec<String> {
        let packages: Vec<_> = packages
            .iter()
            .map(|(name, dependencies)| {
                let dependencies: Vec<_> =
                    dependencies.iter().map(|(name, kind)| serde_json::json!({ "name": name, "kind": kind })).collect();
                serde_json::json!({ "name": name, "manifest_path": "m", "dependencies": dependencies, "targets": [] })
            })
            .collect();
        let json = serde_json::json!({ "workspace_root": "r", "packages": packages }).to_string();
        check(&Workspace::parse(&json).unwrap()).into_iter().map(|complaint| complaint.message).collect()
    }

    #[test]
    fn arrows_that_go_the_right_way_pass() {
        let found = complaints(&[
            ("table-derive", &[("syn", None)]),
            ("table-core", &[("table-derive", None), ("table-conformance", Some("dev"))]),
            ("table-conformance", &[("table-core", None)]),
            ("table-tests", &[("table-core", None), ("table-conformance", None)]),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn an_arrow_against_the_direction_is_seen() {
        for kind in [None, Some("build")] {
            let found = complaints(&[("table-derive", &[("table-core", kind)]), ("table-core", &[])]);
            assert_eq!(found.len(), 1);
            assert!(found[0].contains("must not depend on table-core"));
        }
    }

    #[test]
    fn siblings_on_one_level_do_not_use_each_other() {
        let found = complaints(&[("table-patterns", &[("table-embedded", None)]), ("table-embedded", &[])]);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn a_crate_without_a_place_is_seen() {
        assert_eq!(complaints(&[("table-extras", &[])]).len(), 1);
    }
}
