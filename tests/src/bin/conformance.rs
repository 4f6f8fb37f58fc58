//! Runs the store contract on every store: a line a store, and the details of what fails.

use std::process::ExitCode;

use table_conformance::Suite;
use table_tests::stores;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "the report is what the program is for")]
async fn main() -> ExitCode {
    let suite = Suite::all();
    let mut failed = false;
    for harness in stores::all() {
        let report = suite.run(harness).await;
        if report.is_success() {
            println!("{report}");
        } else {
            println!("{report:#}");
            failed = true;
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
