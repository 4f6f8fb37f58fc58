//! The Python SDK's client of Azure Tables, in a process of its own.

use std::cell::RefCell;
use std::env;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::Result;

/// The variable that names a Python which has `azure-data-tables`.
const VARIABLE: &str = "TABLE_PATTERNS_PYTHON";
const SCRIPT: &str = include_str!("../../python/azure_tables.py");

/// A Python that waits for requests.
#[derive(Debug)]
pub(crate) struct Python {
    child: Child,
    pipes: RefCell<(ChildStdin, BufReader<ChildStdout>)>,
}

impl Python {
    /// The Python that `cargo xtask bench` prepared; none where there is none.
    pub(crate) fn installed() -> Option<OsString> {
        env::var_os(VARIABLE)
    }

    /// Starts it.
    pub(crate) fn start(python: OsString) -> Result<Self> {
        let mut child = Command::new(python)
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("the Python that {VARIABLE} names did not start: {error}"))?;
        let pipes = child.stdin.take().zip(child.stdout.take()).ok_or("Python has no pipes")?;
        Ok(Self { child, pipes: RefCell::new((pipes.0, BufReader::new(pipes.1))) })
    }

    /// Has an operation done with each of some rows, or with a hundred at once; the CPU seconds of a call.
    pub(crate) fn cpu_per_call(&self, operation: &str, table: &str, rows: &[Value]) -> Result<f64> {
        let request = json!({ "operation": operation, "table": table, "rows": rows });
        let (requests, answers) = &mut *self.pipes.borrow_mut();
        writeln!(requests, "{request}")?;
        requests.flush()?;
        let mut answer = String::new();
        answers.read_line(&mut answer)?;
        Ok(answer.trim().parse().map_err(|_| format!("Python gave up on `{operation}`; what it said stands above"))?)
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // It may have ended already, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
