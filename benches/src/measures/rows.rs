//! Structs to rows and back beside a conversion by hand.

use std::hint::black_box;
use std::time::{Duration, Instant};

use table_core::{DynamicEntity, ETag, Entity, FromRow, Result as CoreResult, Timestamp};

use crate::Result;
use crate::bench::{Bench, Measure, Side, time_per_call};
use crate::fixtures::Fixtures;
use crate::peers::by_hand;
use crate::workload::{Employee, employee, random_numbers};

/// Rows that are made before they are read.
const ROWS_AT_ONCE: usize = 100;

pub(super) fn run(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    let calls = fixtures.scale.calls;
    let employees: Vec<Employee> = random_numbers(fixtures.scale.rows, 1_000, 0).into_iter().map(employee).collect();
    let each = |number: usize| employees.get(number % employees.len()).ok_or("no employee");

    bench.compare(Measure::time("row/write", "by hand").at_most(1.2), || {
        let ours: Side<'_> = Box::new(|_| {
            time_per_call(calls, |number| {
                black_box(each(number)?.to_row()?);
                Ok(())
            })
        });
        let peer: Side<'_> = Box::new(|_| {
            time_per_call(calls, |number| {
                black_box(by_hand::to_row(each(number)?)?);
                Ok(())
            })
        });
        Ok((ours, peer))
    })?;

    bench.compare(Measure::time("row/read", "by hand").at_most(1.2), || {
        let of_peer = employees.clone();
        let ours: Side<'_> = Box::new(move |_| {
            time_per_row(calls, &employees, |row| {
                black_box(Employee::recognizes(&row));
                black_box(Employee::from_row(row)?);
                Ok(())
            })
        });
        let peer: Side<'_> = Box::new(move |_| {
            time_per_row(calls, &of_peer, |row| {
                black_box(by_hand::from_row(row).ok_or("no employee")?);
                Ok(())
            })
        });
        Ok((ours, peer))
    })
}

/// The seconds of a call that uses up a row. Rows are made a few at a time: with all at once, what is timed is how the
/// allocator gives ten megabytes back.
fn time_per_row(calls: usize, employees: &[Employee], mut call: impl FnMut(DynamicEntity) -> Result) -> Result<f64> {
    let mut time = Duration::ZERO;
    let mut rows = 0;
    for few in employees.chunks(ROWS_AT_ONCE).cycle().take(calls.div_ceil(ROWS_AT_ONCE)) {
        let few = few.iter().map(stored).collect::<CoreResult<Vec<DynamicEntity>>>()?;
        rows += few.len();
        let start = Instant::now();
        for row in few {
            call(row)?;
        }
        time += start.elapsed();
    }
    Ok(time.as_secs_f64() / rows as f64)
}

/// The row of an employee as a store gives it back.
fn stored(employee: &Employee) -> CoreResult<DynamicEntity> {
    let mut row = employee.to_row()?;
    row.etag = Some(ETag::from_timestamp(Timestamp::UNIX_EPOCH));
    row.timestamp = Some(Timestamp::UNIX_EPOCH);
    Ok(row)
}
