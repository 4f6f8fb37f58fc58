//! `cargo xtask test`: everything, in the order in which mistakes are cheapest to find.

use std::process::Command;

use crate::azurite::{self, Azurite};
use crate::run::{Outcome, cargo, run, step, succeeds};
use crate::tidy;
use crate::workspace::Workspace;

/// Runs every step, and stops at the first that fails.
pub(crate) fn everything(workspace: &Workspace) -> Outcome {
    let cargo = |arguments: &[&str]| run(cargo(&workspace.root).args(arguments));
    step("format", || cargo(&["fmt", "--all", "--check"]))?;
    step("tidy", || tidy::run(workspace))?;
    // The default members: the benchmarks would bring their peers along.
    step("clippy", || cargo(&["clippy", "--all-targets", "--all-features", "--", "--deny", "warnings"]))?;
    // Ends when this function does, whatever comes of the steps.
    let azurite = step("azurite", || azurite::for_tests(workspace))?;
    step("tests", || run_with(azurite.as_ref(), &mut tests(workspace)))?;
    step("doc tests", || cargo(&["test", "--all-features", "--doc"]))?;
    step("docs", || run(&mut docs(workspace)))?;
    step("conformance", || run_with(azurite.as_ref(), &mut contract(workspace, &[])))?;
    println!("everything passed");
    Ok(())
}

/// Runs the store contract on every store; the arguments go to the binary.
pub(crate) fn conformance(workspace: &Workspace, arguments: &[String]) -> Outcome {
    let azurite = azurite::for_tests(workspace)?;
    run_with(azurite.as_ref(), &mut contract(workspace, arguments))
}

fn contract(workspace: &Workspace, arguments: &[String]) -> Command {
    let mut command = cargo(&workspace.root);
    command.args(["run", "--quiet", "--package", "table-tests", "--bin", "conformance", "--"]).args(arguments);
    command
}

/// Runs a program that finds Azurite in its environment, where there is one.
fn run_with(azurite: Option<&Azurite>, command: &mut Command) -> Outcome {
    if let Some(azurite) = azurite {
        azurite.tell(command);
    }
    run(command)
}

/// Crashes disks in tests of their own, then explores interleavings and crashes processes; the arguments go to the
/// binary that does that.
pub(crate) fn faults(workspace: &Workspace, arguments: &[String]) -> Outcome {
    let cargo = || cargo(&workspace.root);
    let everything = !arguments.iter().any(|argument| matches!(argument.as_str(), "--replay" | "--only"));
    // Of the parts only the soak has workers on Azurite.
    let soaks = everything || arguments.iter().any(|argument| argument == "soak");
    let azurite = if soaks { azurite::for_tests(workspace)? } else { None };
    if everything {
        run(cargo().args(["test", "--quiet", "--package", "table-embedded", "--lib", "fault_tests"]))?;
    }
    run(cargo().args(["build", "--quiet", "--release", "--package", "table-tests", "--bins"]))?;
    let mut faults = cargo();
    faults.args(["run", "--quiet", "--release", "--package", "table-tests", "--bin", "faults", "--"]).args(arguments);
    run_with(azurite.as_ref(), &mut faults)
}

/// Nextest is faster and optional; both run the same tests of the default members.
fn tests(workspace: &Workspace) -> Command {
    let mut command = cargo(&workspace.root);
    if succeeds(cargo(&workspace.root).args(["nextest", "--version"])) {
        command.args(["nextest", "run", "--all-features", "--no-fail-fast", "--status-level", "fail"]);
    } else {
        command.args(["test", "--all-features", "--lib", "--bins", "--tests", "--no-fail-fast"]);
    }
    command
}

fn docs(workspace: &Workspace) -> Command {
    let mut command = cargo(&workspace.root);
    command.args(["doc", "--no-deps", "--all-features"]).env("RUSTDOCFLAGS", "--deny warnings");
    command
}
