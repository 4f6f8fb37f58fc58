//! Structs to rows and back beside a conversion by hand.

use std::hint::black_box;

use table_core::{DynamicEntity, ETag, Entity, FromRow, Result as CoreResult, Timestamp};

use crate::Result;
use crate::bench::{Bench, Measure, Side, time_per_call};
use crate::fixtures::Fixtures;
use crate::peers::by_hand;
use crate::workload::{Employee, employee, random_numbers};

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
        let rows = move || stored(calls, &employees);
        let (fresh, more) = (rows.clone(), rows);
        let ours: Side<'_> = Box::new(move |_| {
            let mut rows = fresh()?.into_iter();
            time_per_call(calls, |_| {
                let row = rows.next().ok_or("no row")?;
                black_box(Employee::recognizes(&row));
                black_box(Employee::from_row(row)?);
                Ok(())
            })
        });
        let peer: Side<'_> = Box::new(move |_| {
            let mut rows = more()?.into_iter();
            time_per_call(calls, |_| {
                let row = rows.next().ok_or("no row")?;
                black_box(by_hand::from_row(row).ok_or("no employee")?);
                Ok(())
            })
        });
        Ok((ours, peer))
    })
}

/// Rows as a store gives them back.
fn stored(count: usize, employees: &[Employee]) -> CoreResult<Vec<DynamicEntity>> {
    let stored = employees.iter().cycle().take(count).map(|employee| {
        let mut row = employee.to_row()?;
        row.etag = Some(ETag::from_timestamp(Timestamp::UNIX_EPOCH));
        row.timestamp = Some(Timestamp::UNIX_EPOCH);
        Ok(row)
    });
    stored.collect()
}
