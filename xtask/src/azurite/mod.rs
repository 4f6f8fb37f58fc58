//! Azurite, the emulator of Azure Storage, for the tests that need it.
//!
//! [`Azurite::start`] installs it when it is not there yet, runs it on free loopback ports with its data in
//! memory, and answers once all three services do. It ends with its handle, or with this program, whichever
//! is first and however that came. Steps meet it through the variable [`VARIABLE`], which holds a connection
//! string; tests that use it have `azurite` in the name of their target.

mod install;
mod process;

use std::process::Command;

use crate::run::Outcome;
use crate::workspace::Workspace;
use process::Process;

/// The environment variable that tells tests and examples where Azurite is.
pub(crate) const VARIABLE: &str = "TABLE_PATTERNS_AZURITE";

/// The account that every Azurite has. It is published, and opens nothing else.
const ACCOUNT: &str = "devstoreaccount1";
const ACCOUNT_KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// An Azurite that steps can use.
#[derive(Debug)]
pub(crate) struct Azurite {
    connection_string: String,
    /// None for one that somebody else runs.
    _process: Option<Process>,
}

impl Azurite {
    /// The one that [`VARIABLE`] names, else one of our own.
    pub(crate) fn start(workspace: &Workspace) -> Outcome<Self> {
        if let Ok(connection_string) = std::env::var(VARIABLE) {
            println!("    {VARIABLE} is set, so that Azurite is used");
            return Ok(Self { connection_string, _process: None });
        }
        install::check_tools()?;
        let process = Process::start(&install::ensure(workspace)?)?;
        Ok(Self { connection_string: connection_string(process.ports()), _process: Some(process) })
    }

    /// Lets a command know where Azurite is.
    pub(crate) fn tell<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env(VARIABLE, &self.connection_string)
    }
}

/// Starts Azurite for steps that follow. Where Node is missing there is none, which is said plainly; in CI
/// that is a failure.
pub(crate) fn for_tests(workspace: &Workspace) -> Outcome<Option<Azurite>> {
    if std::env::var_os(VARIABLE).is_none()
        && let Err(missing) = install::check_tools()
    {
        let said = not_running(workspace, &missing);
        if in_ci(std::env::var("CI").ok().as_deref()) {
            return Err(said);
        }
        println!("    {said}");
        return Ok(None);
    }
    Azurite::start(workspace).map(Some)
}

/// `cargo xtask azurite`: runs it until it is interrupted.
pub(crate) fn foreground(workspace: &Workspace) -> Outcome {
    install::check_tools()?;
    let mut process = Process::start(&install::ensure(workspace)?)?;
    println!("Azurite runs, with its data in memory. Ctrl-C ends it. In another terminal:\n");
    println!("export {VARIABLE}='{}'", connection_string(process.ports()));
    process.wait()
}

/// What does not run without Azurite, by name.
fn not_running(workspace: &Workspace, missing: &str) -> String {
    let names: Vec<&str> = workspace.tests().filter(|name| name.contains("azurite")).collect();
    match names.as_slice() {
        [] => format!("Azurite does not run, so nothing is tested on it: {missing}"),
        names => format!(
            "Azurite does not run, nor what needs it ({}), and patterns run on the other stores alone: {missing}",
            names.join(", ")
        ),
    }
}

fn in_ci(variable: Option<&str>) -> bool {
    variable.is_some_and(|value| !matches!(value, "" | "0" | "false"))
}

fn connection_string([blob, queue, table]: [u16; 3]) -> String {
    let endpoint = |port: u16| format!("http://127.0.0.1:{port}/{ACCOUNT}");
    format!(
        "DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={ACCOUNT_KEY};BlobEndpoint={};\
         QueueEndpoint={};TableEndpoint={};",
        endpoint(blob),
        endpoint(queue),
        endpoint(table),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_connection_string_names_the_account_and_every_endpoint() {
        let text = connection_string([1, 2, 3]);
        assert!(text.contains("AccountName=devstoreaccount1;AccountKey=Eby8"), "{text}");
        for endpoint in ["Blob", "Queue", "Table"].into_iter().zip(1..) {
            let (service, port) = endpoint;
            assert!(text.contains(&format!("{service}Endpoint=http://127.0.0.1:{port}/devstoreaccount1;")), "{text}");
        }
    }

    #[test]
    fn ci_is_recognised_by_its_variable() {
        assert!(in_ci(Some("true")) && in_ci(Some("1")));
        assert!(!in_ci(None) && !in_ci(Some("")) && !in_ci(Some("false")));
    }

    #[test]
    fn the_tests_that_do_not_run_are_named() {
        let workspace = Workspace::parse(
            r#"{"workspace_root": "r", "packages": [{"name": "p", "manifest_path": "r/p/Cargo.toml", "dependencies": [],
                "targets": [{"name": "store_azurite", "kind": ["test"]}, {"name": "memory", "kind": ["test"]}]}]}"#,
        )
        .unwrap();
        let said = not_running(&workspace, "npm is missing");
        assert!(said.contains("(store_azurite)") && said.ends_with("npm is missing"), "{said}");
    }
}
