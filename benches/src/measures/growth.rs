//! The embedded store beside itself with fewer rows: what grows with the table.

use crate::Result;
use crate::bench::{Bench, Measure};
use crate::fixtures::Fixtures;
use crate::measures::indexed::whole_by_email;
use crate::measures::queues::receives;
use crate::measures::sides::{gets, inserts};
use crate::workload::Order;

/// Rows of the small table.
const FEW: usize = 10_000;
/// Rows of the large ones, as far as the run's scale goes.
const MANY: [(usize, &str); 2] = [(100_000, "100k"), (1_000_000, "1M")];

pub(super) fn run(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    let sizes = MANY.into_iter().filter(|(rows, _)| *rows <= fixtures.scale.rows);
    for (rows, label) in sizes {
        bench.compare(Measure::time(format!("growth/get of {label} rows"), "of 10k").at_most(2.0), || {
            Ok((gets(fixtures, rows, Order::Random)?, gets(fixtures, FEW, Order::Random)?))
        })?;
        bench.compare(Measure::time(format!("growth/insert into {label} rows"), "into 10k").at_most(2.0), || {
            Ok((inserts(fixtures, rows)?, inserts(fixtures, FEW)?))
        })?;
        bench.compare(Measure::time(format!("growth/get by index of {label} rows"), "of 10k").at_most(2.0), || {
            Ok((whole_by_email(fixtures, rows)?, whole_by_email(fixtures, FEW)?))
        })?;
        bench
            .compare(Measure::time(format!("growth/receive from {label} messages"), "from 10k").at_most(2.0), || {
                Ok((receives(fixtures, "growth", rows)?, receives(fixtures, "growth", FEW)?))
            })?;
    }
    Ok(())
}
