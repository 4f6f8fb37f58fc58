//! `cargo xtask bench`: the only command that compiles the peers.

use std::process::Command;

use crate::azurite::Azurite;
use crate::python;
use crate::run::{Outcome, cargo, read, run};
use crate::workspace::Workspace;

/// How the lines begin that are measured on the emulator of Azure Storage.
const ON_AZURITE: &str = "azure/";

/// Builds the benchmarks with optimisations and runs them; the arguments go to the binary.
pub(crate) fn run_all(workspace: &Workspace, arguments: &[String]) -> Outcome {
    let cargo = || cargo(&workspace.root);
    run(cargo().args(["build", "--quiet", "--release", "--package", "table-benches"]))?;
    let bench = |list: &[&str]| {
        let mut command = cargo();
        command.args(["run", "--quiet", "--release", "--package", "table-benches", "--"]).args(list).args(arguments);
        // With it every error, also one that is only looked at, costs its stack.
        command.env_remove("RUST_BACKTRACE").env_remove("RUST_LIB_BACKTRACE");
        command
    };
    // Whatever is wrong with the arguments is said by the run itself.
    let lines = read(&mut bench(&["--list"])).unwrap_or_default();
    let mut command = bench(&[]);
    // Ends when this function does.
    let _azurite = if lines.lines().any(|line| line.starts_with(ON_AZURITE)) {
        let azurite = said(Azurite::start(workspace));
        if let Some(azurite) = &azurite {
            azurite.tell(&mut command);
            tell_python(workspace, &mut command);
        }
        azurite
    } else {
        None
    };
    run(&mut command)
}

fn tell_python(workspace: &Workspace, command: &mut Command) {
    if let Some(python) = said(python::ensure(workspace)) {
        command.env(python::VARIABLE, python);
    }
}

/// What a machine lacks only costs the lines that need it, and the run names those.
fn said<T>(outcome: Outcome<T>) -> Option<T> {
    outcome.map_err(|missing| println!("    {missing}")).ok()
}
