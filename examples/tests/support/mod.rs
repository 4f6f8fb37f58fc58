//! The examples as programs, built by the cargo that builds the tests.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

/// Every example by name, built as it is now.
pub(crate) fn built() -> BTreeMap<String, PathBuf> {
    let cargo = std::env::var_os("CARGO").expect("cargo runs the tests");
    let output = Command::new(cargo)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["build", "--quiet", "--examples", "--message-format=json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "the examples do not build");
    let messages = String::from_utf8(output.stdout).expect("JSON");
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| text(message, "/target/kind/0") == Some("example"))
        .filter_map(|message| {
            let name = text(&message, "/target/name")?.to_owned();
            Some((name, PathBuf::from(text(&message, "/executable")?)))
        })
        .collect()
}

fn text<'m>(message: &'m Value, place: &str) -> Option<&'m str> {
    message.pointer(place)?.as_str()
}
