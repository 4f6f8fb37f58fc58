//! Opening a file whose writer was killed.

use std::path::Path;
use std::time::{Duration, Instant};

use table_embedded::EmbeddedStore;

use crate::Result;
use crate::bench::{Bench, Measure, Side};
use crate::crash::Victim;
use crate::fixtures::Fixtures;
use crate::peers::sqlite::Sqlite;
use crate::workload::Order;

/// Whatever a file's size, an application that was killed is back at once.
const LIMIT: Duration = Duration::from_millis(100);

pub(super) fn run(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    let rows = fixtures.scale.crash_rows;
    bench.compare(Measure::time(format!("open/after kill, {rows} rows"), "sqlite").within(LIMIT), || {
        let (ours, peer) = (fixtures.path("crash.redb"), fixtures.path("crash.db"));
        fixtures.load(&ours, rows)?;
        Sqlite::create(&peer)?.load(rows, Order::Sequential)?;
        let ours = opens(Victim::embedded(&ours), move || EmbeddedStore::open(&ours));
        let peer = opens(Victim::sqlite(&peer), move || open_sqlite(&peer));
        Ok((ours, peer))
    })
}

/// SQLite looks at the log when it is first asked something.
fn open_sqlite(path: &Path) -> Result<Sqlite> {
    let sqlite = Sqlite::open(path)?;
    sqlite.get("Dept0000", 0)?;
    Ok(sqlite)
}

fn opens<'s, T, E>(victim: Victim, open: impl Fn() -> std::result::Result<T, E> + 's) -> Side<'s>
where
    Box<dyn std::error::Error + Send + Sync>: From<E>,
{
    Box::new(move |_| {
        victim.kill_while_writing()?;
        let start = Instant::now();
        let opened = open()?;
        let time = start.elapsed().as_secs_f64();
        drop(opened);
        Ok(time)
    })
}
