//! The store contract on Azurite, with its named deviations.

use table_conformance::Suite;
use table_tests::azurite;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn azurite_keeps_the_contract_save_for_its_named_deviations() {
    let Some(harness) = azurite::harness() else {
        return;
    };
    let report = Suite::all().run(harness).await;
    assert!(report.is_success(), "{report:#}");
}
