//! What cargo knows of the workspace.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::run::{Outcome, cargo, read};

/// The workspace that holds the current folder.
#[derive(Debug, Deserialize)]
pub(crate) struct Workspace {
    #[serde(rename = "workspace_root")]
    pub(crate) root: PathBuf,
    /// Where everything goes that is built or installed.
    #[serde(rename = "target_directory", default)]
    pub(crate) target: PathBuf,
    pub(crate) packages: Vec<Package>,
}

/// One member of the workspace.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) targets: Vec<Target>,
}

/// What a package depends on.
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `dev` or `build`; none for a normal dependency.
    pub(crate) kind: Option<String>,
}

/// Something that a package builds.
#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: Vec<String>,
}

impl Workspace {
    /// Asks cargo, which finds the workspace from any folder inside it.
    pub(crate) fn load() -> Outcome<Self> {
        let json = read(cargo(Path::new(".")).args(["metadata", "--no-deps", "--format-version", "1"]))?;
        Self::parse(&json)
    }

    pub(crate) fn parse(json: &str) -> Outcome<Self> {
        serde_json::from_str(json).map_err(|error| format!("the answer of `cargo metadata` cannot be read: {error}"))
    }

    /// A package's manifest, by its path from the root with `/` between names.
    pub(crate) fn manifest(&self, package: &Package) -> String {
        let path = package.manifest_path.strip_prefix(&self.root).unwrap_or(&package.manifest_path);
        path.to_string_lossy().replace('\\', "/")
    }

    /// Every integration test by its name.
    pub(crate) fn tests(&self) -> impl Iterator<Item = &str> {
        let targets = self.packages.iter().flat_map(|package| &package.targets);
        targets.filter(|target| target.kind.iter().any(|kind| kind == "test")).map(|target| target.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_found_from_inside_a_member() {
        let workspace = Workspace::load().unwrap();
        assert!(workspace.packages.iter().any(|package| package.name == "xtask"));
        assert!(workspace.root.join("Cargo.toml").is_file());
    }

    #[test]
    fn only_tests_are_listed_as_tests() {
        let workspace = Workspace::parse(
            r#"{"workspace_root": "r", "packages": [{"name": "p", "manifest_path": "r/p/Cargo.toml", "dependencies": [],
                "targets": [{"name": "p", "kind": ["lib"]}, {"name": "directory", "kind": ["test"]}]}]}"#,
        )
        .unwrap();
        assert_eq!(workspace.tests().collect::<Vec<_>>(), ["directory"]);
    }
}
