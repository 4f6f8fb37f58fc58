//! Reads by an index: of one key and of a range, what the copy holds and the whole entity.

use std::hint::black_box;

use crate::Result;
use crate::bench::{Bench, Measure, Side, time_per_await, time_per_call};
use crate::fixtures::Fixtures;
use crate::measures::sides::complete;
use crate::workload::{DEPARTMENT, Listed, department, employee, random_numbers};

/// Departments whose employees of one last name are read in a round.
const SCANS: usize = 100;
const LAST_NAME: &str = "Kowalski";

type Get = Box<dyn Fn(&str, &str) -> Result>;
type Scan = Box<dyn Fn(&str, &str) -> Result<usize>>;

pub(super) fn run(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    let rows = fixtures.scale.rows;
    gets(bench, fixtures, rows)?;
    scans(bench, fixtures, rows)
}

fn gets(bench: &mut Bench, fixtures: &Fixtures, rows: usize) -> Result {
    bench.compare(Measure::rate("indexed/get by index, included fields", "sqlite").at_least(2.0), || {
        let sqlite = fixtures.sqlite(rows)?;
        let get: Get = Box::new(move |department, email| {
            black_box(sqlite.name_by_email(department, email)?);
            Ok(())
        });
        Ok((name_by_email(fixtures, rows)?, by_email(fixtures, rows, get)))
    })?;
    let whole = |peer| Measure::rate("indexed/get by index, whole entity", peer);
    bench.compare_each(vec![whole("sqlite").at_least(2.0), whole("native_db").at_least(1.3)], || {
        let (sqlite, native) = (fixtures.sqlite(rows)?, fixtures.native(rows)?);
        let sqlite: Get = Box::new(move |department, email| {
            black_box(sqlite.by_email(department, email)?);
            Ok(())
        });
        let native: Get = Box::new(move |department, email| {
            black_box(native.by_email(department, email)?);
            Ok(())
        });
        let peers = [sqlite, native].map(|get| by_email(fixtures, rows, get));
        Ok((rate(whole_by_email(fixtures, rows)?), peers.into()))
    })
}

/// A side of times as one of rates.
fn rate(mut times: Side<'_>) -> Side<'_> {
    Box::new(move |round| Ok(1.0 / times(round)?))
}

/// The department and the email address of random employees.
fn addresses(rows: usize, count: usize, round: usize) -> impl Iterator<Item = (String, String)> {
    let addresses: Vec<_> = random_numbers(rows, count, round)
        .into_iter()
        .map(|number| (department(number), employee(number).email))
        .collect();
    addresses.into_iter()
}

fn by_email(fixtures: &Fixtures, rows: usize, get: Get) -> Side<'_> {
    let calls = fixtures.scale.calls;
    Box::new(move |round| {
        let mut addresses = addresses(rows, calls, round);
        let time = time_per_call(calls, |_| {
            let (department, email) = addresses.next().ok_or("no address")?;
            get(&department, &email)
        })?;
        Ok(1.0 / time)
    })
}

fn name_by_email(fixtures: &Fixtures, rows: usize) -> Result<Side<'_>> {
    let (indexed, calls) = (fixtures.indexed(rows)?, fixtures.scale.calls);
    Ok(Box::new(move |round| {
        let mut addresses = addresses(rows, calls, round);
        let time = fixtures.runtime.block_on(time_per_await(calls, async |_| {
            let (department, email) = addresses.next().ok_or("no address")?;
            black_box(indexed.require(Listed::by_email(&department, &email)).await?);
            Ok(())
        }))?;
        Ok(1.0 / time)
    }))
}

/// The time of reading a random employee by email.
pub(in crate::measures) fn whole_by_email(fixtures: &Fixtures, rows: usize) -> Result<Side<'_>> {
    let (indexed, calls) = (fixtures.indexed(rows)?, fixtures.scale.calls);
    Ok(Box::new(move |round| {
        let mut addresses = addresses(rows, calls, round);
        fixtures.runtime.block_on(time_per_await(calls, async |_| {
            let (department, email) = addresses.next().ok_or("no address")?;
            let found = indexed.full(Listed::by_email(&department, &email)).await?;
            black_box(found.ok_or("no employee")?);
            Ok(())
        }))
    }))
}

fn scans(bench: &mut Bench, fixtures: &Fixtures, rows: usize) -> Result {
    bench.compare(Measure::rate("indexed/scan by index, included fields", "sqlite").at_least(2.0), || {
        let sqlite = fixtures.sqlite(rows)?;
        let scan: Scan =
            Box::new(move |department, name| Ok(black_box(sqlite.names_by_last_name(department, name)?).len()));
        Ok((names(fixtures, rows)?, by_last_name(rows, scan)))
    })?;
    let whole = |peer| Measure::rate("indexed/scan by index, whole entities", peer);
    bench.compare_each(vec![whole("sqlite").at_least(2.0), whole("native_db").at_least(1.5)], || {
        let (sqlite, native) = (fixtures.sqlite(rows)?, fixtures.native(rows)?);
        let sqlite: Scan =
            Box::new(move |department, name| Ok(black_box(sqlite.by_last_name(department, name)?).len()));
        let native: Scan =
            Box::new(move |department, name| Ok(black_box(native.by_last_name(department, name)?).len()));
        Ok((wholes(fixtures, rows)?, [sqlite, native].map(|scan| by_last_name(rows, scan)).into()))
    })
}

/// How many of a department have the name: about a seventh.
fn expected(number: usize) -> usize {
    let first = number / DEPARTMENT * DEPARTMENT;
    (first..first + DEPARTMENT).filter(|each| employee(*each).last_name == LAST_NAME).count()
}

fn by_last_name(rows: usize, scan: Scan) -> Side<'static> {
    Box::new(move |round| {
        let numbers = random_numbers(rows, SCANS, round);
        let expected: Vec<usize> = numbers.iter().map(|number| expected(*number)).collect();
        let mut wanted = numbers.into_iter().zip(expected);
        let time = time_per_call(SCANS, |_| {
            let (number, expected) = wanted.next().ok_or("no department")?;
            complete(scan(&department(number), LAST_NAME)?, expected)
        })?;
        Ok(1.0 / time)
    })
}

fn names(fixtures: &Fixtures, rows: usize) -> Result<Side<'static>> {
    let indexed = fixtures.indexed(rows)?;
    let runtime = fixtures.runtime.handle().clone();
    let scan: Scan = Box::new(move |department, name| {
        let found = runtime.block_on(indexed.all(Listed::by_last_name(department, name)))?;
        Ok(black_box(found).len())
    });
    Ok(by_last_name(rows, scan))
}

fn wholes(fixtures: &Fixtures, rows: usize) -> Result<Side<'static>> {
    let indexed = fixtures.indexed(rows)?;
    let runtime = fixtures.runtime.handle().clone();
    let scan: Scan = Box::new(move |department, name| {
        let found = runtime.block_on(indexed.all_full(Listed::by_last_name(department, name)))?;
        Ok(black_box(found).len())
    });
    Ok(by_last_name(rows, scan))
}
