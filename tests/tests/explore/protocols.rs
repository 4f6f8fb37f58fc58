//! The protocols as they are: a bounded share of what `cargo xtask faults` explores.

use table_tests::explore::{Explorer, Scenario, Search, run_all, scenarios};

fn explore(all: Vec<Scenario>, search: Search) -> u64 {
    let searches = all.into_iter().map(|scenario| Explorer::new(scenario, search)).collect();
    let reports = run_all(searches, |_| {});
    for report in &reports {
        assert!(report.counts.is_clean(), "{report}");
    }
    reports.iter().map(|report| report.executions).sum()
}

/// Where a worker is late and others work twice, or where targets move in their index, every interruption is left to
/// `cargo xtask faults`.
fn is_long(name: &str) -> bool {
    name.starts_with("copies: late worker") || name.starts_with("copies by index")
}

#[test]
fn no_interleaving_of_two_actors_with_one_preemption_and_a_fault_breaks_anything() {
    let (long, short): (Vec<_>, Vec<_>) = scenarios::pairs().into_iter().partition(|scenario| is_long(scenario.name));
    let executions = explore(short, Search::Exhaustive { preemptions: 1 });
    assert!(executions > 9000, "only {executions}");
    explore(long, Search::Exhaustive { preemptions: 0 });
}

#[test]
fn no_random_schedule_of_a_crowd_breaks_anything() {
    explore(scenarios::crowds(), Search::Random { executions: 1000, seed: 7 });
}

/// A settler that dies right after it has put a fence for a change that was just done used to leave it for ever.
#[test]
fn no_three_preemptions_of_a_change_and_its_way_back_leave_a_fence() {
    let scenario = scenarios::named("index: change, and back by another").unwrap();
    let executions = explore(vec![scenario], Search::Exhaustive { preemptions: 3 });
    assert!(executions > 10_000, "only {executions}");
}
