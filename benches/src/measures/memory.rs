//! The memory store beside the map that one would write: the same rows behind one lock.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::{Arc, PoisonError, RwLock};

use table_core::{DynamicEntity, Entity, MemoryStore, Result as CoreResult, SortKey, Table};

use crate::Result;
use crate::bench::{Bench, Measure, Side, time_per_await, time_per_call};
use crate::fixtures::{Fixtures, TABLE};
use crate::workload::{DEPARTMENT, Employee, department, employee, random_numbers};

/// Rows of the store: a test's store is no larger.
const ROWS: usize = 10_000;
/// Scans in a round, each of a department.
const SCANS: usize = 20;

/// The map that one would write.
#[derive(Default)]
struct Map(RwLock<BTreeMap<SortKey, DynamicEntity>>);

impl Map {
    fn get(&self, key: &SortKey) -> Option<DynamicEntity> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    fn scan(&self, partition: &str) -> Vec<DynamicEntity> {
        let range = SortKey::from_text(partition, "")..SortKey::after_partition(partition);
        let rows = self.0.read().unwrap_or_else(PoisonError::into_inner);
        rows.range(range).map(|(_, row)| row.clone()).collect()
    }

    fn transact(&self, rows: Vec<DynamicEntity>) {
        let mut map = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for row in rows {
            map.insert(SortKey::of(&row.key), row);
        }
    }
}

struct Stores {
    table: Table,
    map: Map,
}

impl Stores {
    fn new(fixtures: &Fixtures) -> Result<Self> {
        let table = Table::new(Arc::new(MemoryStore::new()), TABLE)?;
        let map = Map::default();
        fixtures.runtime.block_on(async {
            table.create().await?;
            fixtures.load_into(&table, 0..ROWS).await
        })?;
        map.transact((0..ROWS).map(|number| employee(number).to_row()).collect::<CoreResult<_>>()?);
        Ok(Self { table, map })
    }
}

pub(super) fn run(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    let calls = fixtures.scale.calls;
    let stores = std::cell::LazyCell::new(|| Stores::new(fixtures));
    let stores = || stores.as_ref().map_err(ToString::to_string);
    let runtime = &fixtures.runtime;

    bench.compare(Measure::time("memory/get", "RwLock<BTreeMap>").at_most(2.0), || {
        let Stores { table, map } = stores()?;
        let ours: Side<'_> = Box::new(move |round| {
            let mut numbers = random_numbers(ROWS, calls, round).into_iter();
            runtime.block_on(time_per_await(calls, async |_| {
                let number = numbers.next().unwrap_or_default();
                let id = u32::try_from(number)?;
                black_box(table.require(Employee::key(&department(number), id)).await?);
                Ok(())
            }))
        });
        let peer: Side<'_> = Box::new(move |round| {
            let mut numbers = random_numbers(ROWS, calls, round).into_iter();
            time_per_call(calls, |_| {
                let number = numbers.next().unwrap_or_default();
                let key = SortKey::from_text(&department(number), &format!("empid_{number:07}"));
                black_box(map.get(&key).ok_or("no row")?);
                Ok(())
            })
        });
        Ok((ours, peer))
    })?;

    bench.compare(Measure::time("memory/scan of 1,000", "RwLock<BTreeMap>").at_most(2.0), || {
        let Stores { table, map } = stores()?;
        let ours: Side<'_> = Box::new(move |_| {
            runtime.block_on(time_per_await(SCANS, async |number| {
                let found = table.all(Employee::range(&department(number * DEPARTMENT % ROWS))).await?;
                black_box(found.len()).eq(&DEPARTMENT).then_some(()).ok_or("rows are missing".into())
            }))
        });
        let peer: Side<'_> = Box::new(move |_| {
            time_per_call(SCANS, |number| {
                let found = map.scan(&department(number * DEPARTMENT % ROWS));
                black_box(found.len()).eq(&DEPARTMENT).then_some(()).ok_or("rows are missing".into())
            })
        });
        Ok((ours, peer))
    })?;

    bench.compare(Measure::time("memory/transaction of 3", "RwLock<BTreeMap>").at_most(2.0), || {
        let Stores { table, map } = stores()?;
        let triples: Vec<[Employee; 3]> =
            (0..DEPARTMENT).map(|number| [0, 1, 2].map(|more| employee(number * 3 + more))).collect();
        let of_peer = triples.clone();
        let triple = |all: &[[Employee; 3]], number: usize| all.get(number % 300).cloned().ok_or("no employees");
        let ours: Side<'_> = Box::new(move |_| {
            runtime.block_on(time_per_await(calls, async |number| {
                let [a, b, c] = triple(&triples, number)?;
                let transaction = table.transaction().insert_or_replace(&a).insert_or_replace(&b);
                black_box(transaction.insert_or_replace(&c).commit().await?);
                Ok(())
            }))
        });
        let peer: Side<'_> = Box::new(move |_| {
            time_per_call(calls, |number| {
                let rows = triple(&of_peer, number)?.iter().map(Entity::to_row).collect::<CoreResult<_>>()?;
                map.transact(rows);
                Ok(())
            })
        });
        Ok((ours, peer))
    })
}
