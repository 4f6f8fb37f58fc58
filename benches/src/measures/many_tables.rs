//! A file of many tables beside one of few.

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use futures_util::{StreamExt, TryStreamExt, stream};
use table_core::Table;
use table_embedded::EmbeddedStore;

use crate::Result;
use crate::bench::{Bench, Measure, Side, time_per_await};
use crate::fixtures::Fixtures;
use crate::workload::{Employee, employee, random_numbers};

/// Tables of the small file.
const FEW: usize = 10;
/// Tables that are created at once.
const AT_ONCE: usize = 500;

/// A file of tables with one employee each.
struct Tables {
    path: PathBuf,
    tables: Vec<Table>,
}

impl Tables {
    fn new(fixtures: &Fixtures, measure: &str, count: usize) -> Result<Self> {
        let path = fixtures.path(&format!("tables-{measure}-{count}.redb"));
        let store = Arc::new(EmbeddedStore::open(&path)?);
        let tables = (0..count).map(|number| Ok(Table::new(store.clone(), &format!("Employees{number:05}"))?));
        let tables = tables.collect::<Result<Vec<_>>>()?;
        let made = Self { path, tables };
        fixtures.runtime.block_on(made.fill())?;
        Ok(made)
    }

    async fn fill(&self) -> Result {
        let filled = self.tables.iter().map(|table| async move {
            table.create().await?;
            table.insert(&employee(0)).await.map(|_| ())
        });
        stream::iter(filled).buffer_unordered(AT_ONCE).try_for_each(|()| async { Ok(()) }).await?;
        Ok(())
    }

    fn table(&self, number: usize) -> Result<&Table> {
        Ok(self.tables.get(number % self.tables.len()).ok_or("no table")?)
    }
}

pub(super) fn run(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    let many = fixtures.scale.tables;
    let name = |what: &str| format!("tables/{what} with {many} tables");
    bench.compare(Measure::time(name("get"), "with 10").at_most(2.0), || {
        let side = |count| -> Result<Side<'_>> { Ok(gets(fixtures, Tables::new(fixtures, "get", count)?)) };
        Ok((side(many)?, side(FEW)?))
    })?;
    bench.compare(Measure::time(name("insert"), "with 10").at_most(2.0), || {
        let side = |count| -> Result<Side<'_>> { Ok(inserts(fixtures, Tables::new(fixtures, "insert", count)?)) };
        Ok((side(many)?, side(FEW)?))
    })?;
    bench.compare(Measure::time(name("open"), "with 10"), || {
        let side = |count| -> Result<Side<'_>> { Ok(opens(Tables::new(fixtures, "open", count)?.path)) };
        Ok((side(many)?, side(FEW)?))
    })
}

fn gets(fixtures: &Fixtures, tables: Tables) -> Side<'_> {
    let calls = fixtures.scale.calls;
    let department = employee(0).department;
    Box::new(move |round| {
        let mut numbers = random_numbers(fixtures.scale.tables, calls, round).into_iter();
        fixtures.runtime.block_on(time_per_await(calls, async |_| {
            let table = tables.table(numbers.next().unwrap_or_default())?;
            black_box(table.require(Employee::key(&department, 0)).await?);
            Ok(())
        }))
    })
}

fn inserts(fixtures: &Fixtures, tables: Tables) -> Side<'_> {
    let commits = fixtures.scale.commits;
    Box::new(move |round| {
        let start = fixtures.fresh(commits).start;
        let mut numbers = random_numbers(fixtures.scale.tables, commits, round).into_iter();
        fixtures.runtime.block_on(time_per_await(commits, async |number| {
            let table = tables.table(numbers.next().unwrap_or_default())?;
            table.insert(&employee(start + number)).await?;
            Ok(())
        }))
    })
}

fn opens(path: PathBuf) -> Side<'static> {
    Box::new(move |_| {
        let start = Instant::now();
        let store = EmbeddedStore::open(&path)?;
        let time = start.elapsed().as_secs_f64();
        drop(store);
        Ok(time)
    })
}
