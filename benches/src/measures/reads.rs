//! Reads of the embedded store beside raw redb, which gives the bytes of the same rows.

use std::hint::black_box;

use table_core::{Query, SortKey};

use crate::Result;
use crate::bench::{Bench, Measure, Side, time_per_await, time_per_call};
use crate::fixtures::Fixtures;
use crate::measures::sides::{SCANS, complete, gets, numbers, scans};
use crate::peers::stored_row::name_of_old;
use crate::workload::{DEPARTMENT, Employee, Order, department, random_numbers};

/// The filter of a scan keeps the few who are at least as old.
const OLD: i32 = 65;

pub(super) fn run(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    let (rows, calls) = (fixtures.scale.rows, fixtures.scale.calls);

    for order in Order::BOTH {
        let name = format!("embedded/get, {}", order.name());
        bench.compare(Measure::time(name, "redb bytes").at_most(1.5), || {
            let pair = fixtures.pair(rows)?;
            let peer: Side<'_> = Box::new(move |round| {
                let mut numbers = numbers(order, rows, calls, round).into_iter();
                time_per_call(calls, |_| {
                    let number = numbers.next().unwrap_or_default();
                    let key = SortKey::from_text(&department(number), &format!("empid_{number:07}"));
                    black_box(pair.raw.get(key.as_bytes())?.ok_or("no row")?);
                    Ok(())
                })
            });
            Ok((gets(fixtures, rows, order)?, peer))
        })?;
    }

    bench.compare(Measure::time("embedded/scan of 1,000 into structs", "redb bytes").at_most(2.5), || {
        let pair = fixtures.pair(rows)?;
        let peer: Side<'_> = Box::new(move |round| {
            let mut numbers = random_numbers(rows, SCANS, round).into_iter();
            time_per_call(SCANS, |_| {
                let found = pair.raw.scan(&department(numbers.next().unwrap_or_default()))?;
                complete(black_box(found).len(), DEPARTMENT)
            })
        });
        Ok((scans(fixtures, rows)?, peer))
    })?;

    bench.compare(Measure::time("embedded/scan of all, filter and projection", "redb bytes").at_most(1.5), || {
        let (pair, twin) = (fixtures.pair(rows)?, fixtures.pair(rows)?);
        let expected = twin.raw.pick(|key, row| name_of_old(key, row, OLD))?.len();
        let ours: Side<'_> = Box::new(move |_| {
            fixtures.runtime.block_on(time_per_await(1, async |_| {
                let query = Query::<Employee>::all().filter(Employee::AGE.ge(OLD)).allow_scan();
                let found = pair.table.all(query.select((Employee::FIRST_NAME, Employee::LAST_NAME))).await?;
                complete(black_box(found).len(), expected)
            }))
        });
        let peer: Side<'_> = Box::new(move |_| {
            time_per_call(1, |_| {
                let found = twin.raw.pick(|key, row| name_of_old(key, row, OLD))?;
                complete(black_box(found).len(), expected)
            })
        });
        Ok((ours, peer))
    })
}
