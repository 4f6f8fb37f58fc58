//! `cargo xtask bench`: the only command that compiles the peers.

use crate::run::{Outcome, cargo, run};
use crate::workspace::Workspace;

/// Builds the benchmarks with optimisations and runs them; the arguments go to the binary.
pub(crate) fn run_all(workspace: &Workspace, arguments: &[String]) -> Outcome {
    run(cargo(&workspace.root)
        .args(["run", "--quiet", "--release", "--package", "table-benches", "--"])
        .args(arguments))
}
