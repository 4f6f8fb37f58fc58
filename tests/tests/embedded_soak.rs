//! A process with writers and workers of every protocol is killed at random moments; nothing is lost, stale, orphaned or doubled.

use std::path::Path;
use std::time::Duration;

use table_tests::soak::soak;

#[tokio::test(flavor = "multi_thread")]
async fn what_spans_partitions_and_stores_survives_kills() {
    let child = Path::new(env!("CARGO_BIN_EXE_soak_child"));
    let report = soak(child, Duration::from_secs(6), 7).await.unwrap();
    assert!(report.judgement.is_clean(), "{report}");
    // Enough was going on for a loss to be seen.
    assert!(report.kills >= 2 && report.done > 20, "{report}");
}
