//! The store contract on the embedded store, a test a case.

use table_conformance::Suite;
use table_tests::stores;

table_conformance::conformance_tests!(embedded, stores::embedded());

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_embedded_store_behind_all_layers_keeps_the_contract() {
    let report = Suite::all().run(stores::embedded_behind_all_layers()).await;
    assert!(report.is_success(), "{report:#}");
}
