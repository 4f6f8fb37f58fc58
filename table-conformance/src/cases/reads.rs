//! Reads of one row, and reads that follow a write.

use table_core::keys::KeyRange;
use table_core::store::StoreQuery;
use table_core::{Action, EntityKey, IfMatch, Value};

use crate::context::Context;
use crate::failure::{Failure, Outcome, ensure, ensure_eq};
use crate::test_table::{key, row, row_in};

pub(crate) async fn a_row_comes_back_as_it_was_written(context: Context) -> Outcome {
    let table = context.table().await?;
    let don = row("1")?.with("FirstName", "Don")?.with("Age", 34)?;
    table.insert(don.clone()).await?;
    let read = table.require("1").await?;
    ensure_eq(&read.key, &don.key, "the key")?;
    ensure_eq(&read.properties, &don.properties, "the properties")
}

pub(crate) async fn a_missing_row_is_none(context: Context) -> Outcome {
    let table = context.table().await?;
    table.insert(row("1")?).await?;
    ensure_eq(table.get("2").await?, None, "another row key")?;
    ensure_eq(table.get_key(&EntityKey::parse("q", "1")?).await?, None, "another partition")?;
    ensure_eq(table.get_key(&EntityKey::parse("1", "p")?).await?, None, "the keys the other way round")
}

pub(crate) async fn a_read_carries_etag_and_timestamp(context: Context) -> Outcome {
    let table = context.table().await?;
    table.insert(row("1")?).await?;
    let read = table.require("1").await?;
    ensure(read.etag.is_some(), "a read gave no ETag")?;
    ensure(read.timestamp.is_some(), "a read of all properties gave no timestamp")
}

pub(crate) async fn a_query_reads_what_a_get_reads(context: Context) -> Outcome {
    let table = context.table().await?;
    table.insert(row("1")?.with("A", "x")?.with("B", 2.5)?).await?;
    let read = table.require("1").await?;
    ensure_eq(table.rows(StoreQuery::new(KeyRange::ALL)).await?, vec![read], "the row as queried")
}

pub(crate) async fn the_timestamp_rises_with_each_write(context: Context) -> Outcome {
    let table = context.table().await?;
    table.insert(row("1")?).await?;
    let mut last = table.require("1").await?.timestamp;
    for number in 0..5 {
        table.put(Action::Merge(row("1")?.with("N", number)?, IfMatch::Any)).await?;
        let now = table.require("1").await?.timestamp;
        ensure(now > last, "a later write has no later timestamp")?;
        last = now;
    }
    Ok(())
}

pub(crate) async fn a_get_sees_the_write_before_it(context: Context) -> Outcome {
    let table = context.table().await?;
    for number in 0..30 {
        let etag = table.put(Action::InsertOrReplace(row("1")?.with("N", number)?)).await?;
        let read = table.require("1").await?;
        ensure_eq(read.get("N"), Some(&Value::Int32(number)), "the value just written")?;
        ensure_eq(read.etag, Some(etag), "the version just written")?;
    }
    Ok(())
}

pub(crate) async fn a_get_sees_the_delete_before_it(context: Context) -> Outcome {
    let table = context.table().await?;
    for _ in 0..10 {
        table.insert(row("1")?).await?;
        table.delete("1").await?;
        ensure_eq(table.get("1").await?, None, "a row just deleted")?;
    }
    Ok(())
}

pub(crate) async fn a_query_sees_the_write_before_it(context: Context) -> Outcome {
    let table = context.table().await?;
    for number in 0..10_usize {
        table.insert(row(&number.to_string())?).await?;
        let rows = table.rows(StoreQuery::new(KeyRange::ALL)).await?;
        ensure_eq(rows.len(), number + 1, "the rows right after an insert")?;
    }
    table.delete("3").await?;
    let left = table.rows(StoreQuery::new(KeyRange::ALL)).await?;
    ensure(left.iter().all(|each| each.key.row.as_str() != "3"), "a query shows a row just deleted")
}

pub(crate) async fn one_row_key_in_two_partitions_is_two_rows(context: Context) -> Outcome {
    let table = context.table().await?;
    for partition in ["a", "b"] {
        table.insert(row_in(partition, "1")?.with("In", partition)?).await?;
    }
    table.write(Action::Delete(EntityKey::parse("a", "1")?, IfMatch::Any)).await?;
    let other = table.get_key(&EntityKey::parse("b", "1")?).await?;
    let other = other.ok_or_else(|| Failure::new("the row of the other partition is gone"))?;
    ensure_eq(other.get("In"), Some(&Value::from("b")), "the row of the other partition")?;
    ensure_eq(table.get_key(&key("1")?).await?, None, "a row of neither partition")
}
