//! Several worker processes on Azurite, one of them killed. Without Azurite the test says that it did not run.

use std::path::Path;

use table_tests::soak::soak_azurite;

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_killed_leaves_its_work_to_the_others() {
    let child = Path::new(env!("CARGO_BIN_EXE_soak_child"));
    let Some(report) = soak_azurite(child, 20).await.unwrap() else { return };
    assert!(report.judgement.is_clean(), "{report}");
    assert!(report.done > 50, "{report}");
}
