//! The embedded store beside other embedded databases, on entities without indexes.
//!
//! Budgets are promised for entities with indexes; these lines only tell.

use std::hint::black_box;
use std::ops::Range;

use table_core::Table;

use crate::Result;
use crate::bench::{Bench, Measure, Side, time_per_call};
use crate::fixtures::Fixtures;
use crate::measures::sides::{self, SCANS, complete};
use crate::measures::writers::{WRITERS, rate_of_tasks, rate_of_threads};
use crate::workload::{DEPARTMENT, Employee, department, employee, random_numbers};

type Get = Box<dyn Fn(&str, u32) -> Result<Employee>>;
type Scan = Box<dyn Fn(&str) -> Result<Vec<Employee>>>;
type Insert = Box<dyn Fn(Employee) -> Result>;

pub(super) fn run(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    gets(bench, fixtures)?;
    scans(bench, fixtures)?;
    inserts(bench, fixtures)?;
    inserts_at_once(bench, fixtures)
}

fn gets(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    let (rows, calls) = (fixtures.scale.rows, fixtures.scale.calls);
    let peer = |get: Get| -> Side<'_> {
        Box::new(move |round| {
            let mut numbers = random_numbers(rows, calls, round).into_iter();
            time_per_call(calls, |_| {
                let number = numbers.next().unwrap_or_default();
                black_box(get(&department(number), u32::try_from(number)?)?);
                Ok(())
            })
        })
    };
    bench.compare(Measure::time("engines/get", "sqlite"), || {
        let sqlite = fixtures.sqlite(rows)?;
        let get: Get = Box::new(move |department, id| sqlite.get(department, id));
        Ok((sides::gets(fixtures, rows)?, peer(get)))
    })?;
    bench.compare(Measure::time("engines/get", "native_db"), || {
        let native = fixtures.native(rows)?;
        let get: Get = Box::new(move |department, id| native.get(department, id));
        Ok((sides::gets(fixtures, rows)?, peer(get)))
    })
}

fn scans(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    let rows = fixtures.scale.rows;
    let peer = |scan: Scan| -> Side<'_> {
        Box::new(move |round| {
            let mut numbers = random_numbers(rows, SCANS, round).into_iter();
            time_per_call(SCANS, |_| {
                let department = department(numbers.next().unwrap_or_default());
                complete(black_box(scan(&department)?).len(), DEPARTMENT)
            })
        })
    };
    bench.compare(Measure::time("engines/scan of 1,000", "sqlite"), || {
        let sqlite = fixtures.sqlite(rows)?;
        let scan: Scan = Box::new(move |department| sqlite.scan(department));
        Ok((sides::scans(fixtures, rows)?, peer(scan)))
    })?;
    bench.compare(Measure::time("engines/scan of 1,000", "native_db"), || {
        let native = fixtures.native(rows)?;
        let scan: Scan = Box::new(move |department| native.scan(department));
        Ok((sides::scans(fixtures, rows)?, peer(scan)))
    })
}

fn inserts(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    let (rows, commits) = (fixtures.scale.rows, fixtures.scale.commits);
    let ours = || -> Result<Side<'_>> {
        let mut time = sides::inserts(fixtures, rows)?;
        Ok(Box::new(move |round| Ok(1.0 / time(round)?)))
    };
    let peer = |insert: Insert| -> Side<'_> {
        Box::new(move |_| {
            let start = fixtures.fresh(commits).start;
            Ok(1.0 / time_per_call(commits, |number| insert(employee(start + number)))?)
        })
    };
    bench.compare(Measure::rate("engines/insert, 1 writer", "sqlite"), || {
        let sqlite = fixtures.sqlite(rows)?;
        Ok((ours()?, peer(Box::new(move |employee| sqlite.insert(&employee)))))
    })?;
    bench.compare(Measure::rate("engines/insert, 1 writer", "native_db"), || {
        let native = fixtures.native(rows)?;
        Ok((ours()?, peer(Box::new(move |employee| native.insert_all(std::iter::once(employee))))))
    })
}

fn inserts_at_once(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    let (rows, commits) = (fixtures.scale.rows, fixtures.scale.commits);
    let ours = || -> Result<Side<'_>> {
        let pair = fixtures.pair(rows)?;
        Ok(Box::new(move |_| {
            rate_of_tasks(&fixtures.runtime, shares(fixtures, commits), |numbers| {
                insert_each(pair.table.clone(), numbers)
            })
        }))
    };
    bench.compare(Measure::rate("engines/insert, 16 writers", "sqlite direct"), || {
        let sqlite = fixtures.sqlite(rows)?;
        let peer: Side<'_> = Box::new(move |_| {
            let shares = shares(fixtures, commits.div_ceil(4));
            let shares = shares.into_iter().map(|numbers| Ok((sqlite.another()?, numbers)));
            rate_of_threads(shares.collect::<Result<Vec<_>>>()?, |(sqlite, numbers)| {
                let count = numbers.len();
                for number in numbers {
                    sqlite.insert(&employee(number))?;
                }
                Ok(count)
            })
        });
        Ok((ours()?, peer))
    })?;
    bench.compare(Measure::rate("engines/insert, 16 writers", "native_db direct"), || {
        let native = fixtures.native(rows)?;
        let peer: Side<'_> = Box::new(move |_| {
            let native = &*native;
            rate_of_threads(shares(fixtures, commits.div_ceil(4)), |numbers| {
                let count = numbers.len();
                for number in numbers {
                    native.insert_all(std::iter::once(employee(number)))?;
                }
                Ok(count)
            })
        });
        Ok((ours()?, peer))
    })
}

async fn insert_each(table: Table, numbers: Range<usize>) -> Result<usize> {
    let count = numbers.len();
    for number in numbers {
        table.insert(&employee(number)).await?;
    }
    Ok(count)
}

/// New numbers for each writer.
fn shares(fixtures: &Fixtures, each: usize) -> Vec<Range<usize>> {
    (0..WRITERS).map(|_| fixtures.fresh(each)).collect()
}
