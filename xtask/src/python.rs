//! A Python with the packages that a benchmark compares with, installed once for each list of them.
//!
//! The list is `benches/python/requirements.txt`. The packages go to an environment of their own in
//! `target/python/HASH`, where HASH is that of the list. One that was not completed is seen by its missing mark, and made anew.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{Outcome, read, succeeds};
use crate::workspace::Workspace;

/// The environment variable that tells the benchmarks which Python to start.
pub(crate) const VARIABLE: &str = "TABLE_PATTERNS_PYTHON";

/// What Python is called.
const NAMES: [&str; 2] = ["python3", "python"];

/// Finds the environment in the target folder, or installs it there, and answers its Python.
pub(crate) fn ensure(workspace: &Workspace) -> Outcome<PathBuf> {
    let list = workspace.root.join("benches/python/requirements.txt");
    let folder = workspace.target.join("python").join(hash(&list)?);
    // An environment holds its own path, so it can't be made elsewhere and take its name when it is complete.
    let complete = folder.join("complete");
    if !complete.is_file() {
        println!("    installing the Python SDK in {} (once)", folder.display());
        install(&list, &folder)?;
        fs::write(&complete, "").map_err(|error| format!("{} cannot be written: {error}", complete.display()))?;
    }
    Ok(python_in(&folder))
}

fn hash(list: &Path) -> Outcome<String> {
    let bytes = fs::read(list).map_err(|error| format!("{} cannot be read: {error}", list.display()))?;
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}

fn install(list: &Path, folder: &Path) -> Outcome {
    let python = find(&NAMES)?;
    read(Command::new(python).args(["-m", "venv", "--clear"]).arg(folder))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "-r"];
    read(Command::new(python_in(folder)).args(pip).arg(list))?;
    Ok(())
}

fn find(names: &[&'static str]) -> Outcome<&'static str> {
    let runs = |name: &&&'static str| succeeds(Command::new(name).args(["-c", "import venv, ensurepip"]));
    names.iter().find(runs).copied().ok_or_else(|| {
        "no Python 3 with `venv` was found. Install it from https://www.python.org, or your system's package python3-venv"
            .to_owned()
    })
}

fn python_in(folder: &Path) -> PathBuf {
    if cfg!(windows) { folder.join("Scripts/python.exe") } else { folder.join("bin/python") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_python_is_said_with_what_to_do() {
        let failure = find(&["no-such-python"]).unwrap_err();
        assert!(failure.contains("Install it from"), "{failure}");
    }

    #[test]
    fn another_list_is_installed_anew() {
        let folder = std::env::temp_dir().join(format!("xtask-python-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let list = |text: &str| {
            fs::write(folder.join("list"), text).unwrap();
            hash(&folder.join("list")).unwrap()
        };
        assert_ne!(list("azure-core==1"), list("azure-core==2"));
        fs::remove_dir_all(&folder).unwrap();
    }
}
