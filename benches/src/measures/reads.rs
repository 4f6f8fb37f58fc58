//! Reads of the embedded store beside raw redb, which gives the bytes of the same rows.

use std::hint::black_box;

use table_core::{Query, SortKey};

use crate::Result;
use crate::bench::{Bench, Measure, Side, time_per_await, time_per_call};
use crate::fixtures::Fixtures;
use crate::measures::sides::{SCANS, complete, gets, numbers, scans};
use crate::peers::stored_row::name_of_old;
use crate::workload::{DEPARTMENT, Employee, Order, department, random_numbers};

/// Raw redb that gives the stored bytes, and knows nothing of what they mean.
const BYTES: &str = "redb bytes";
/// Raw redb that gives structs too, from bytes that only this struct can be read from.
const POSTCARD: &str = "redb with postcard";

/// The filter of a scan keeps the few who are at least as old.
const OLD: i32 = 65;

pub(super) fn run(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    let rows = fixtures.scale.rows;

    for order in Order::BOTH {
        let time = |peer| Measure::time(format!("embedded/get, {}", order.name()), peer);
        bench.compare_each(vec![time(BYTES).at_most(1.5), time(POSTCARD)], || {
            let (pair, postcard) = (fixtures.pair(rows)?, fixtures.postcard(rows)?);
            let bytes = raw_gets(fixtures, order, move |key| {
                black_box(pair.raw.get(key)?.ok_or("no row")?);
                Ok(())
            });
            let structs = raw_gets(fixtures, order, move |key| {
                let row = postcard.get(key)?.ok_or("no row")?;
                black_box(postcard::from_bytes::<Employee>(&row)?);
                Ok(())
            });
            Ok((gets(fixtures, rows, order)?, vec![bytes, structs]))
        })?;
    }

    let time = |peer| Measure::time("embedded/scan of 1,000 into structs", peer);
    bench.compare_each(vec![time(BYTES).at_most(2.5), time(POSTCARD)], || {
        let (pair, postcard) = (fixtures.pair(rows)?, fixtures.postcard(rows)?);
        let bytes = raw_scans(rows, move |department| Ok(black_box(pair.raw.scan(department)?).len()));
        let structs = raw_scans(rows, move |department| {
            let found = postcard.scan(department)?;
            let found: Vec<Employee> =
                found.iter().map(|(_, row)| postcard::from_bytes(row)).collect::<std::result::Result<_, _>>()?;
            Ok(black_box(found).len())
        });
        Ok((scans(fixtures, rows)?, vec![bytes, structs]))
    })?;

    bench.compare(Measure::time("embedded/scan of all, filter and projection", BYTES).at_most(1.5), || {
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

/// The time of a point read of raw redb, by key.
fn raw_gets<'s>(fixtures: &'s Fixtures, order: Order, get: impl Fn(&[u8]) -> Result + 's) -> Side<'s> {
    let (rows, calls) = (fixtures.scale.rows, fixtures.scale.calls);
    Box::new(move |round| {
        let mut numbers = numbers(order, rows, calls, round).into_iter();
        time_per_call(calls, |_| {
            let number = numbers.next().unwrap_or_default();
            get(SortKey::from_text(&department(number), &format!("empid_{number:07}")).as_bytes())
        })
    })
}

/// The time of reading a random department from raw redb; the scan says how many rows it found.
fn raw_scans(rows: usize, scan: impl Fn(&str) -> Result<usize> + 'static) -> Side<'static> {
    Box::new(move |round| {
        let mut numbers = random_numbers(rows, SCANS, round).into_iter();
        time_per_call(SCANS, |_| complete(scan(&department(numbers.next().unwrap_or_default()))?, DEPARTMENT))
    })
}
