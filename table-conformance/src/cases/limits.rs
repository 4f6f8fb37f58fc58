//! Rows and transactions of the largest size, and merges that go beyond it.

use bytes::Bytes;
use table_core::{Action, DynamicEntity, ErrorKind, IfMatch, limits};

use crate::context::Context;
use crate::failure::{Failure, Outcome, ensure_eq, ensure_kind};
use crate::test_table::{TestTable, row, row_in};

/// A row with so many properties `P000`, `P001`, ... from a number on.
fn many(from: usize, count: usize) -> Result<DynamicEntity, Failure> {
    let mut entity = row("1")?;
    for number in from..from + count {
        entity.set(&format!("P{number:03}"), 1)?;
    }
    Ok(entity)
}

/// A row with so many texts of the longest kind, which take 64 KiB each.
fn texts(from: usize, count: usize) -> Result<DynamicEntity, Failure> {
    let mut entity = row("1")?;
    for number in from..from + count {
        entity.set(&format!("T{number:03}"), "x".repeat(limits::STRING_UTF16_UNITS))?;
    }
    Ok(entity)
}

async fn comes_back(table: &TestTable, entity: DynamicEntity) -> Outcome {
    table.insert(entity.clone()).await?;
    let read = table.require("1").await?;
    ensure_eq(read.properties == entity.properties, true, "the largest row comes back whole")
}

/// Merges what makes a row too large, in each of the two ways, and alone as well as in a transaction.
async fn merges_are_refused(table: &TestTable, more: DynamicEntity) -> Outcome {
    let before = table.require("1").await?;
    for action in [Action::Merge(more.clone(), IfMatch::Any), Action::InsertOrMerge(more)] {
        let what = action.name();
        let error = ensure_kind(table.write(action.clone()).await, ErrorKind::LimitExceeded, what)?;
        ensure_eq(error.key(), Some(&before.key), "the key that the error names")?;
        let transaction = vec![Action::Insert(row("2")?), action];
        let error = ensure_kind(table.transact(transaction).await, ErrorKind::LimitExceeded, what)?;
        ensure_eq(error.operation_index(), Some(1), "the index of the failing operation")?;
    }
    ensure_eq(table.get("2").await?, None, "the other row of the refused transaction")?;
    ensure_eq(table.require("1").await? == before, true, "the row is as it was before the refused merges")
}

pub(crate) async fn the_most_properties(context: Context) -> Outcome {
    comes_back(&context.table().await?, many(0, limits::ENTITY_PROPERTIES)?).await
}

pub(crate) async fn the_longest_text(context: Context) -> Outcome {
    let emoji = "\u{1f600}".repeat(limits::STRING_UTF16_UNITS / 2);
    let accents = "\u{e9}".repeat(limits::STRING_UTF16_UNITS);
    comes_back(&context.table().await?, texts(0, 1)?.with("Emoji", emoji)?.with("Accents", accents)?).await
}

pub(crate) async fn the_longest_binary(context: Context) -> Outcome {
    let bytes: Bytes = (0..=u8::MAX).cycle().take(limits::BINARY_BYTES).collect();
    comes_back(&context.table().await?, row("1")?.with("V", bytes)?).await
}

pub(crate) async fn the_longest_property_name(context: Context) -> Outcome {
    let name = "n".repeat(limits::PROPERTY_NAME_CHARS);
    comes_back(&context.table().await?, row("1")?.with(&name, "v")?).await
}

pub(crate) async fn a_row_of_nearly_a_mebibyte(context: Context) -> Outcome {
    // Fifteen times 64 KiB, and most of a sixteenth.
    comes_back(&context.table().await?, texts(0, 15)?.with("Rest", "x".repeat(30_000))?).await
}

pub(crate) async fn a_merge_beyond_the_most_properties_is_refused(context: Context) -> Outcome {
    let table = context.table().await?;
    table.insert(many(0, limits::ENTITY_PROPERTIES - 1)?).await?;
    merges_are_refused(&table, many(limits::ENTITY_PROPERTIES - 1, 2)?).await
}

pub(crate) async fn a_merge_up_to_the_most_properties_is_done(context: Context) -> Outcome {
    let table = context.table().await?;
    table.insert(many(0, limits::ENTITY_PROPERTIES - 1)?).await?;
    // One that is new, one that is there.
    table.put(Action::Merge(many(limits::ENTITY_PROPERTIES - 2, 2)?, IfMatch::Any)).await?;
    ensure_eq(table.require("1").await?.properties.len(), limits::ENTITY_PROPERTIES, "the properties")
}

pub(crate) async fn a_merge_beyond_a_mebibyte_is_refused(context: Context) -> Outcome {
    let table = context.table().await?;
    table.insert(texts(0, 15)?).await?;
    merges_are_refused(&table, texts(15, 1)?).await
}

pub(crate) async fn a_merge_that_shrinks_a_row_is_done(context: Context) -> Outcome {
    let table = context.table().await?;
    table.insert(texts(0, 15)?).await?;
    let mut shrunk = texts(15, 1)?;
    shrunk.set("T000", "short")?;
    table.put(Action::Merge(shrunk, IfMatch::Any)).await?;
    ensure_eq(table.require("1").await?.properties.len(), 16, "the properties")
}

pub(crate) async fn a_transaction_of_nearly_the_most_bytes(context: Context) -> Outcome {
    let table = context.table().await?;
    // 64 KiB a row; a tenth is left for keys, names and the wire.
    let bytes = context.tables()?.capabilities().transaction_bytes.min(limits::TRANSACTION_BYTES);
    let count = (bytes * 9 / 10) / (limits::STRING_UTF16_UNITS * 2);
    let text = "x".repeat(limits::STRING_UTF16_UNITS);
    let mut actions = Vec::new();
    for number in 0..count {
        actions.push(Action::Insert(row_in("p", &number.to_string())?.with("V", text.as_str())?));
    }
    ensure_eq(table.transact(actions).await?.len(), count, "the answers")?;
    let last = table.require(&(count - 1).to_string()).await?;
    ensure_eq(last.get("V").and_then(|v| v.as_str()) == Some(&text), true, "the last row comes back whole")
}
