//! Durable inserts of new employees, of one writer and of sixteen.

use std::sync::Arc;

use table_core::{Entity, Table};
use table_embedded::EmbeddedStore;
use table_patterns::Indexed;
use table_patterns::eventually_consistent_transactions::Mover;

use crate::Result;
use crate::bench::{Bench, Measure, Side, time_per_await, time_per_call};
use crate::fixtures::{Fixtures, TABLE};
use crate::measures::writers::{WRITERS, rate_of_tasks, rate_of_threads};
use crate::peers::sqlite_batch::SqliteBatch;
use crate::workload::{Employee, Listed, Order, Published, employee};

pub(super) fn run(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    for order in Order::BOTH {
        one_writer(bench, fixtures, order)?;
        many_writers(bench, fixtures, order)?;
    }
    one_remote_index(bench, fixtures)
}

fn one_writer(bench: &mut Bench, fixtures: &Fixtures, order: Order) -> Result {
    let rows = fixtures.scale.rows;
    let rate = |peer| Measure::rate(format!("indexed/insert, 1 writer, {}", order.name()), peer);
    bench.compare_each(vec![rate("sqlite").at_least(1.0), rate("native_db").at_least(1.2)], || {
        let (sqlite, native) = (fixtures.sqlite(rows)?, fixtures.native(rows)?);
        let sqlite = peer(fixtures, order, move |employee| sqlite.insert(&employee));
        let native = peer(fixtures, order, move |employee| native.insert_all(std::iter::once(employee)));
        Ok((one_by_one(fixtures, fixtures.indexed(rows)?, order), vec![sqlite, native]))
    })
}

/// Ours, one insert after the other.
fn one_by_one<E>(fixtures: &Fixtures, indexed: impl AsRef<Indexed<E>> + 'static, order: Order) -> Side<'_>
where
    E: Entity + From<Employee>,
{
    let commits = fixtures.scale.commits;
    Box::new(move |_| {
        let mut new = fixtures.fresh_in(order, commits).into_iter();
        let time = fixtures.runtime.block_on(time_per_await(commits, async |_| {
            let new: E = employee(new.next().ok_or("no employee")?).into();
            indexed.as_ref().insert(&new).await?;
            Ok(())
        }))?;
        Ok(1.0 / time)
    })
}

fn peer(fixtures: &Fixtures, order: Order, insert: impl Fn(Employee) -> Result + 'static) -> Side<'_> {
    let commits = fixtures.scale.commits;
    Box::new(move |_| {
        let mut new = fixtures.fresh_in(order, commits).into_iter();
        Ok(1.0 / time_per_call(commits, |_| insert(employee(new.next().ok_or("no employee")?)))?)
    })
}

fn many_writers(bench: &mut Bench, fixtures: &Fixtures, order: Order) -> Result {
    let (rows, commits, runtime) = (fixtures.scale.rows, fixtures.scale.commits, &fixtures.runtime);
    // Each direct writer waits for those before it, so a few commits of each are enough.
    let (many, few) = (move || shares(fixtures, order, commits), move || shares(fixtures, order, commits.div_ceil(4)));
    let rate = |peer| Measure::rate(format!("indexed/insert, 16 writers, {}", order.name()), peer);
    let measures = vec![
        rate("sqlite direct").at_least(4.0),
        rate("sqlite batched").at_least(1.5),
        rate("native_db direct").at_least(3.0),
    ];
    bench.compare_each(measures, || {
        let (indexed, sqlite, native) = (fixtures.indexed(rows)?, fixtures.sqlite(rows)?, fixtures.native(rows)?);
        let writer = Arc::new(SqliteBatch::start(sqlite.path())?);
        let ours: Side<'_> =
            Box::new(move |_| rate_of_tasks(runtime, many(), |new| insert_each((*indexed).clone(), new)));
        let direct: Side<'_> = Box::new(move |_| {
            let shares = few().into_iter().map(|new| Ok((sqlite.another()?, new)));
            rate_of_threads(shares.collect::<Result<Vec<_>>>()?, |(sqlite, new)| {
                new.iter().try_for_each(|number| sqlite.insert(&employee(*number)))?;
                Ok(new.len())
            })
        });
        let batched: Side<'_> = Box::new(move |_| {
            rate_of_tasks(runtime, many(), |new| {
                let writer = Arc::clone(&writer);
                async move {
                    for number in &new {
                        writer.insert(employee(*number)).await?;
                    }
                    Ok(new.len())
                }
            })
        });
        let native: Side<'_> = Box::new(move |_| {
            let native = &*native;
            rate_of_threads(few(), |new| {
                new.iter().try_for_each(|number| native.insert_all(std::iter::once(employee(*number))))?;
                Ok(new.len())
            })
        });
        Ok((ours, vec![direct, batched, native]))
    })
}

async fn insert_each(indexed: Indexed<Listed>, new: Vec<usize>) -> Result<usize> {
    for number in &new {
        indexed.insert(&employee(*number).into()).await?;
    }
    Ok(new.len())
}

/// New numbers for each writer.
fn shares(fixtures: &Fixtures, order: Order, each: usize) -> Vec<Vec<usize>> {
    (0..WRITERS).map(|_| fixtures.fresh_in(order, each)).collect()
}

/// What a third index in another table costs, which no transaction keeps: the protocol's three
/// table transactions and two queue calls.
fn one_remote_index(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    let measure = Measure::rate("indexed/insert with a remote index, 1 writer", "two local indexes");
    bench.compare(measure, || {
        let store = Arc::new(EmbeddedStore::open(fixtures.path("published.redb"))?);
        let table = Table::new(store.clone(), TABLE)?;
        let published = fixtures.runtime.block_on(async {
            let mover = Mover::builder(store, "intents")?.keep_indexes::<Published>(&table).build().await?;
            let published = Indexed::<Published>::kept_by(table, &mover)?;
            published.create_if_missing().await?;
            Ok::<_, table_core::Error>(published)
        })?;
        let ours = one_by_one(fixtures, Arc::new(published), Order::Sequential);
        Ok((ours, one_by_one(fixtures, fixtures.indexed(fixtures.scale.rows)?, Order::Sequential)))
    })
}
