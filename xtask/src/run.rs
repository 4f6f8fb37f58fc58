//! Running other programs, and saying how it went.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Success, or one sentence on what failed.
pub(crate) type Outcome<T = ()> = Result<T, String>;

/// The cargo that started this program, or the one on the path.
pub(crate) fn cargo(root: &Path) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.current_dir(root);
    command
}

/// Runs a program with its output on the terminal.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let shown = shown(command);
    let status = command.status().map_err(|error| format!("`{shown}` did not start: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{shown}` failed with {status}")) }
}

/// Runs a program and returns what it printed.
pub(crate) fn read(command: &mut Command) -> Outcome<String> {
    let shown = shown(command);
    let output = command.output().map_err(|error| format!("`{shown}` did not start: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "`{shown}` failed with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end()
        ));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("`{shown}` printed something that is not UTF-8"))
}

/// Whether a program runs and succeeds, with its output thrown away.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Announces a step, does it, and says how long it took.
pub(crate) fn step<T>(name: &str, work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    println!("==> {name}");
    let start = Instant::now();
    let outcome = work();
    let seconds = start.elapsed().as_secs_f64();
    match outcome {
        Ok(result) => {
            println!("    {name}: ok in {seconds:.1} s");
            Ok(result)
        }
        Err(failure) => Err(format!("{name} failed after {seconds:.1} s: {failure}")),
    }
}

/// A command as one would type it.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_stem().unwrap_or(command.get_program());
    std::iter::once(program)
        .chain(command.get_args())
        .map(|part| part.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_program_is_named_with_its_arguments() {
        let failure = run(cargo(Path::new(".")).args(["no-such-subcommand", "-q"]).stderr(Stdio::null())).unwrap_err();
        assert!(failure.contains("`cargo no-such-subcommand -q` failed"), "{failure}");
    }

    #[test]
    fn a_failing_step_is_named() {
        let failure = step("docs", || Outcome::<()>::Err("no docs".to_owned())).unwrap_err();
        assert!(failure.starts_with("docs failed after") && failure.ends_with("no docs"), "{failure}");
    }
}
