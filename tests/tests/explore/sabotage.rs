//! Whoever takes a part out of a protocol is found out: each part is needed, and the explorer is not blind.

use table_tests::explore::{SABOTAGES, scenarios};

#[test]
fn every_sabotage_is_found() {
    for (sabotage, name) in SABOTAGES {
        let scenario = scenarios::named(name).unwrap_or_else(|| panic!("there is no scenario {name:?}"));
        let report = sabotage.search(scenario);
        assert!(report.failure.is_some(), "nobody noticed {sabotage}: {report}");
    }
}
