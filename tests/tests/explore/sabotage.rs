//! Whoever takes a part out of a protocol is found out: each part is needed, and the explorer is not blind.

use table_tests::explore::{SABOTAGES, run_all, scenarios};

#[test]
fn every_sabotage_is_found() {
    let searches = SABOTAGES.iter().map(|(sabotage, name)| {
        sabotage.search(scenarios::named(name).unwrap_or_else(|| panic!("there is no scenario {name:?}")))
    });
    for report in run_all(searches.collect(), |_| {}) {
        assert!(report.failure.is_some(), "nobody noticed {:?}: {report}", report.sabotage);
    }
}
