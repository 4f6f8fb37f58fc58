//! What the derive macros generate, on rows and on queries.
#![expect(clippy::unwrap_used, clippy::panic, clippy::needless_pass_by_value, reason = "helpers of tests")]

mod blobs;
mod entity;
mod fields;
mod forms;
mod keys;
mod projection;
mod property;
mod set;
mod store;
mod straight;
mod versions;

use table_core::keys::KeyRange;
use table_core::{DynamicEntity, ETag, FromRow, Query, Timestamp};

/// A row as a store gives it back.
fn stored(mut row: DynamicEntity) -> DynamicEntity {
    row.etag = Some(ETag::from_timestamp(Timestamp::UNIX_EPOCH));
    row
}

/// The names of a row's properties.
fn names(row: &DynamicEntity) -> Vec<&str> {
    row.properties.iter().map(|(name, _)| name.as_str()).collect()
}

/// The one range that a query reads.
fn range<E: FromRow>(query: Query<E>) -> KeyRange {
    let explain = query.explain().unwrap();
    let [step] = explain.steps() else { panic!("one range") };
    step.range.clone()
}
