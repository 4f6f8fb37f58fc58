//! A process is killed with SIGKILL at random moments; what it had acknowledged must be there.

use std::path::Path;

use table_tests::crash::kill_repeatedly;

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_survives_fifty_kills() {
    let report = kill_repeatedly(Path::new(env!("CARGO_BIN_EXE_crash_child")), 50, 7).await.unwrap();
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.kills, 50);
    // Enough was going on for a loss to be seen.
    assert!(report.transactions > 200 && report.deleted > 20, "{report}");
}
