//! The protocols as they are: a bounded share of what `cargo xtask faults` explores.

use table_tests::explore::{Explorer, Scenario, Search, scenarios};

fn explore(all: Vec<Scenario>, search: Search) -> u64 {
    let mut executions = 0;
    for scenario in all {
        let report = Explorer::new(scenario, search).run();
        assert!(report.counts.is_clean(), "{report}");
        executions += report.executions;
    }
    executions
}

#[test]
fn no_interleaving_of_two_actors_with_one_preemption_and_a_fault_breaks_anything() {
    // Where a worker is late and others work twice, an interruption more is left to `cargo xtask faults`.
    let (long, short): (Vec<_>, Vec<_>) =
        scenarios::pairs().into_iter().partition(|scenario| scenario.name.starts_with("copies: late worker"));
    let executions = explore(short, Search::Exhaustive { preemptions: 1 });
    assert!(executions > 9000, "only {executions}");
    explore(long, Search::Exhaustive { preemptions: 0 });
}

#[test]
fn no_random_schedule_of_a_crowd_breaks_anything() {
    explore(scenarios::crowds(), Search::Random { executions: 1000, seed: 7 });
}
