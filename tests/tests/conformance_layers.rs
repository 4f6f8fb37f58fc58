//! What passes on a store passes behind its layers.

use table_conformance::{Harness, Suite};
use table_tests::stores;

/// Runs the whole suite, since a layer treats all cases alike and one failing says enough.
async fn keeps_the_contract(harness: Harness) {
    let report = Suite::all().run(harness).await;
    assert!(report.is_success(), "{report:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retried_store_keeps_the_contract() {
    keeps_the_contract(stores::memory_retried()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_metered_store_keeps_the_contract() {
    keeps_the_contract(stores::memory_metered()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_traced_store_keeps_the_contract() {
    keeps_the_contract(stores::memory_traced()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_behind_no_faults_keeps_the_contract() {
    keeps_the_contract(stores::memory_behind_no_faults()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_throttled_store_keeps_the_contract_behind_retries() {
    keeps_the_contract(stores::memory_throttled()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_behind_all_layers_keeps_the_contract() {
    keeps_the_contract(stores::memory_behind_all_layers()).await;
}
