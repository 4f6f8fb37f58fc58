//! The employee directory on the emulator of Azure Storage: the same program, another store.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use std::process::Command;

#[test]
fn the_same_program_walks_every_access_path_on_azure() {
    let Ok(connection_string) = std::env::var("TABLE_PATTERNS_AZURITE") else {
        eprintln!("azurite did not run: `cargo xtask test` starts it");
        return;
    };
    let program = support::built().remove("employee_directory").expect("it is an example");
    let run = |arguments: &[&str]| {
        let store = format!("azure:{connection_string}");
        let output = Command::new(&program).args(["--store", &store]).args(arguments).output().expect("it starts");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let printed = run(&[]);
    for found in ["Jo ", "4 of 40 employees", "messages in", "from a blob", "in the archive", "scan refused"] {
        assert!(printed.contains(found), "{found} is missing:\n{printed}");
    }
    let stats = run(&["stats"]);
    assert!(stats.contains("Sales: 40 employees, 120 reviews"), "{stats}");
}
