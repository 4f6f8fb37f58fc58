//! What several measures do to the embedded store: typed reads and inserts.

use std::hint::black_box;

use crate::Result;
use crate::bench::{Side, time_per_await};
use crate::fixtures::Fixtures;
use crate::workload::{DEPARTMENT, Employee, Order, department, employee, random_numbers};

/// Departments that a round scans.
pub(super) const SCANS: usize = 20;

/// The employees that a round reads.
pub(super) fn numbers(order: Order, rows: usize, count: usize, round: usize) -> Vec<usize> {
    match order {
        Order::Sequential => (0..count).map(|number| (round * count + number) % rows).collect(),
        Order::Random => random_numbers(rows, count, round),
    }
}

/// The time of a typed point read of an employee.
pub(super) fn gets(fixtures: &Fixtures, rows: usize, order: Order) -> Result<Side<'_>> {
    let (pair, calls) = (fixtures.pair(rows)?, fixtures.scale.calls);
    Ok(Box::new(move |round| {
        let mut numbers = numbers(order, rows, calls, round).into_iter();
        fixtures.runtime.block_on(time_per_await(calls, async |_| {
            let number = numbers.next().unwrap_or_default();
            black_box(pair.table.require(Employee::key(&department(number), u32::try_from(number)?)).await?);
            Ok(())
        }))
    }))
}

/// The time of reading a random department into structs.
pub(super) fn scans(fixtures: &Fixtures, rows: usize) -> Result<Side<'_>> {
    let pair = fixtures.pair(rows)?;
    Ok(Box::new(move |round| {
        let mut numbers = random_numbers(rows, SCANS, round).into_iter();
        fixtures.runtime.block_on(time_per_await(SCANS, async |_| {
            let department = department(numbers.next().unwrap_or_default());
            let found = pair.table.all(Employee::range(&department)).await?;
            complete(black_box(found).len(), DEPARTMENT)
        }))
    }))
}

/// The time of a durable insert of an employee that is new.
pub(super) fn inserts(fixtures: &Fixtures, rows: usize) -> Result<Side<'_>> {
    let (pair, commits) = (fixtures.pair(rows)?, fixtures.scale.commits);
    Ok(Box::new(move |_| {
        let start = fixtures.fresh(commits).start;
        fixtures.runtime.block_on(time_per_await(commits, async |number| {
            pair.table.insert(&employee(start + number)).await?;
            Ok(())
        }))
    }))
}

/// A read that found too little was no fair one.
pub(super) fn complete(found: usize, expected: usize) -> Result {
    if found == expected { Ok(()) } else { Err(format!("{found} rows were found, not {expected}").into()) }
}
