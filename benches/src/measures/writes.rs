//! Durable transactions of three rows, of one writer and of sixteen, beside raw redb.

use std::sync::Arc;

use table_core::{SortKey, Table};

use crate::Result;
use crate::bench::{Bench, Measure, Side, time_per_await, time_per_call};
use crate::fixtures::Fixtures;
use crate::measures::writers::{WRITERS, rate_of_tasks, rate_of_threads};
use crate::peers::group_commit::GroupCommit;
use crate::peers::redb::{RawRedb, RawRow};
use crate::workload::{DEPARTMENT, Employee, department, employee, random_numbers};

/// Rows of a transaction.
const ROWS: usize = 3;

/// The employees of one transaction.
type Triple = [Employee; ROWS];

pub(super) fn run(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    let (rows, commits) = (fixtures.scale.rows, fixtures.scale.commits);
    let runtime = &fixtures.runtime;

    bench.compare(Measure::time("embedded/transaction of 3, 1 writer", "redb").at_most(1.05), || {
        let (pair, twin) = (fixtures.pair(rows)?, fixtures.pair(rows)?);
        let ours: Side<'_> = Box::new(move |round| {
            let mut triples = triples(rows, commits, round).into_iter();
            runtime.block_on(time_per_await(commits, async |_| {
                commit(&pair.table, &triples.next().ok_or("no employees")?).await
            }))
        });
        let peer: Side<'_> = Box::new(move |round| {
            let mut triples = raw_triples(&twin.raw, rows, commits, round)?.into_iter();
            time_per_call(commits, |_| twin.raw.transact(&triples.next().ok_or("no rows")?))
        });
        Ok((ours, peer))
    })?;

    let shared = |peer| Measure::rate("embedded/transaction of 3, 16 writers", peer);
    let measures = vec![shared("redb group commit").at_least(0.87), shared("redb direct").at_least(4.0)];
    bench.compare_each(measures, || {
        let pair = fixtures.pair(rows)?;
        let (raw, direct) = (Arc::clone(&pair.raw), Arc::clone(&pair.raw));
        let group = Arc::new(GroupCommit::start(Arc::clone(&raw)));
        let ours: Side<'_> = Box::new(move |round| {
            rate_of_tasks(runtime, shares(triples(rows, commits * WRITERS, round)), |triples| {
                let table = pair.table.clone();
                async move {
                    for triple in &triples {
                        commit(&table, triple).await?;
                    }
                    Ok(triples.len())
                }
            })
        });
        let grouped: Side<'_> = Box::new(move |round| {
            rate_of_tasks(runtime, shares(raw_triples(&raw, rows, commits * WRITERS, round)?), |triples| {
                let group = Arc::clone(&group);
                async move {
                    let count = triples.len();
                    for triple in triples {
                        group.transact(triple).await?;
                    }
                    Ok(count)
                }
            })
        });
        let direct: Side<'_> = Box::new(move |round| {
            // Each waits for those before it, so a few commits of each are enough.
            let all = raw_triples(&direct, rows, commits.div_ceil(4) * WRITERS, round)?;
            rate_of_threads(shares(all), |triples| {
                triples.iter().try_for_each(|triple| direct.transact(triple))?;
                Ok(triples.len())
            })
        });
        Ok((ours, vec![grouped, direct]))
    })
}

async fn commit(table: &Table, [a, b, c]: &Triple) -> Result {
    table.transaction().insert_or_replace(a).insert_or_replace(b).insert_or_replace(c).commit().await?;
    Ok(())
}

/// The first employees of transactions, each with neighbours in its department.
fn firsts(rows: usize, count: usize, round: usize) -> impl Iterator<Item = usize> {
    let inside = |number: usize| number - (number % DEPARTMENT).saturating_sub(DEPARTMENT - ROWS);
    random_numbers(rows, count, round).into_iter().map(inside)
}

fn triples(rows: usize, count: usize, round: usize) -> Vec<Triple> {
    firsts(rows, count, round).map(|first| [first, first + 1, first + 2].map(employee)).collect()
}

/// The same transactions as bytes.
fn raw_triples(raw: &RawRedb, rows: usize, count: usize, round: usize) -> Result<Vec<Vec<RawRow>>> {
    let row = |number: usize| -> Result<RawRow> {
        let key = SortKey::from_text(&department(number), &format!("empid_{number:07}")).into_bytes();
        let value = raw.get(&key)?.ok_or("no row")?;
        Ok((key, value))
    };
    firsts(rows, count, round).map(|first| (first..first + ROWS).map(row).collect()).collect()
}

/// An equal share for each writer.
fn shares<T>(mut all: Vec<T>) -> Vec<Vec<T>> {
    let each = all.len() / WRITERS;
    (0..WRITERS).map(|_| all.split_off(all.len() - each)).collect()
}
