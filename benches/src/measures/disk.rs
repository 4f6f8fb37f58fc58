//! Bytes on disk for each row, once everything unused was given back.

use std::path::Path;

use table_embedded::EmbeddedStore;

use crate::Result;
use crate::bench::{Bench, Measure, Side};
use crate::fixtures::Fixtures;
use crate::peers::sqlite::Sqlite;
use crate::workload::Order;

pub(super) fn run(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    let rows = fixtures.scale.rows;
    let bytes = |peer| Measure::bytes("disk/bytes of a row", peer);
    bench.compare_each(vec![bytes("redb with postcard").at_most(1.3), bytes("sqlite").at_most(1.5)], || {
        let peers = [postcard(fixtures, rows)?, sqlite(fixtures, rows)?].map(size);
        Ok((size(embedded(fixtures, rows)?), peers.into()))
    })
}

/// A size does not change from round to round.
fn size(bytes: f64) -> Side<'static> {
    Box::new(move |_| Ok(bytes))
}

fn bytes_per_row(path: &Path, rows: usize) -> Result<f64> {
    Ok(std::fs::metadata(path)?.len() as f64 / rows as f64)
}

fn embedded(fixtures: &Fixtures, rows: usize) -> Result<f64> {
    let path = fixtures.path("disk.redb");
    fixtures.load(&path, rows)?;
    let store = EmbeddedStore::open(&path)?;
    fixtures.runtime.block_on(store.compact())?;
    drop(store);
    bytes_per_row(&path, rows)
}

fn postcard(fixtures: &Fixtures, rows: usize) -> Result<f64> {
    let path = fixtures.path("disk-postcard.redb");
    let mut raw = Fixtures::load_postcard(&path, rows)?;
    raw.compact()?;
    drop(raw);
    bytes_per_row(&path, rows)
}

fn sqlite(fixtures: &Fixtures, rows: usize) -> Result<f64> {
    let path = fixtures.path("disk-sqlite.db");
    let sqlite = Sqlite::create(&path)?;
    sqlite.load(rows, Order::Sequential)?;
    sqlite.compact()?;
    bytes_per_row(&path, rows)
}
