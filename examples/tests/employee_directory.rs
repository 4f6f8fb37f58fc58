//! The employee directory, run as its users run it.
#![expect(clippy::expect_used, reason = "helpers of tests")]

mod support;

use std::process::Command;

#[test]
fn without_arguments_it_walks_every_access_path() {
    let program = support::built().remove("employee_directory").expect("it is an example");
    let output = Command::new(program).output().expect("it starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    for class in ["point", "Range", "MultiRange", "PartitionScan", "TableScan", "refused"] {
        assert!(printed.lines().any(|line| line.starts_with(class)), "{class} is missing:\n{printed}");
    }
}
