//! Loading a new file: entities with their copies beside rows with their indexes.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::Result;
use crate::bench::{Bench, Measure, Side};
use crate::fixtures::Fixtures;
use crate::peers::native::Native;
use crate::peers::sqlite::Sqlite;
use crate::workload::Order;

pub(super) fn run(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    let rows = fixtures.scale.loaded_rows;
    for order in Order::BOTH {
        let rate = |peer| Measure::rate(format!("indexed/load of {rows}, {}", order.name()), peer);
        bench.compare_each(vec![rate("sqlite").at_least(3.0), rate("native_db").at_least(4.0)], || {
            let ours = loads(fixtures, rows, move |path| fixtures.load_indexed(path, rows, order).map(drop));
            let sqlite = loads(fixtures, rows, move |path| Sqlite::create_indexed(path)?.load(rows, order));
            let native = loads(fixtures, rows, move |path| Native::create(path)?.load(rows, order));
            Ok((ours, vec![sqlite, native]))
        })?;
    }
    Ok(())
}

/// The rate of a load into a file of its own, which is gone afterwards.
fn loads<'s>(fixtures: &'s Fixtures, rows: usize, load: impl Fn(&Path) -> Result + 's) -> Side<'s> {
    Box::new(move |_| {
        let path = fixtures.path("load.db");
        let start = Instant::now();
        load(&path)?;
        let time = start.elapsed().as_secs_f64();
        remove(&path)?;
        Ok(rows as f64 / time)
    })
}

/// Removes a file, and the log that SQLite may leave beside it.
fn remove(path: &Path) -> Result {
    for ending in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        match std::fs::remove_file(PathBuf::from(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}
