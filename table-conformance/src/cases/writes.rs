//! What each of the six writes does to a row that is there, and to one that is not.

use table_core::{Action, DynamicEntity, ErrorKind, IfMatch, Timestamp, Value};

use crate::context::Context;
use crate::failure::{Failure, Outcome, ensure, ensure_eq, ensure_kind};
use crate::test_table::{TestTable, key, row};

/// A table with one row that has A = 1 and B = "old".
async fn table(context: &Context) -> Result<TestTable, Failure> {
    let table = context.table().await?;
    table.insert(old()?).await?;
    Ok(table)
}

fn old() -> Result<DynamicEntity, Failure> {
    Ok(row("1")?.with("A", 1)?.with("B", "old")?)
}

/// B = "new" and C = true: one property that the old row has, and one that it has not.
fn new() -> Result<DynamicEntity, Failure> {
    Ok(row("1")?.with("B", "new")?.with("C", true)?)
}

async fn expect(table: &TestTable, expected: &DynamicEntity) -> Outcome {
    ensure_eq(&table.require("1").await?.properties, &expected.properties, "the properties of the row")
}

pub(crate) async fn an_insert_adds_a_row(context: Context) -> Outcome {
    expect(&table(&context).await?, &old()?).await
}

pub(crate) async fn an_insert_of_an_existing_row_is_refused(context: Context) -> Outcome {
    let table = table(&context).await?;
    let before = table.require("1").await?;
    ensure_kind(table.write(Action::Insert(new()?)).await, ErrorKind::AlreadyExists, "inserting twice")?;
    ensure_eq(table.require("1").await?, before, "the row after the refusal")
}

pub(crate) async fn a_row_without_properties_can_be_inserted(context: Context) -> Outcome {
    let table = context.table().await?;
    table.insert(row("1")?).await?;
    expect(&table, &row("1")?).await
}

pub(crate) async fn a_row_can_be_inserted_again_after_a_delete(context: Context) -> Outcome {
    let table = table(&context).await?;
    table.delete("1").await?;
    table.insert(new()?).await?;
    expect(&table, &new()?).await
}

pub(crate) async fn a_replace_leaves_nothing_of_the_old_row(context: Context) -> Outcome {
    let table = table(&context).await?;
    table.put(Action::Replace(new()?, IfMatch::Any)).await?;
    expect(&table, &new()?).await
}

pub(crate) async fn a_replace_of_a_missing_row_is_refused(context: Context) -> Outcome {
    let table = context.table().await?;
    ensure_kind(table.write(Action::Replace(new()?, IfMatch::Any)).await, ErrorKind::NotFound, "a replace")?;
    ensure_eq(table.get("1").await?, None, "the row after the refusal")
}

pub(crate) async fn a_replace_by_nothing_leaves_the_keys(context: Context) -> Outcome {
    let table = table(&context).await?;
    table.put(Action::Replace(row("1")?, IfMatch::Any)).await?;
    expect(&table, &row("1")?).await
}

pub(crate) async fn a_merge_sets_some_and_keeps_the_rest(context: Context) -> Outcome {
    let table = table(&context).await?;
    table.put(Action::Merge(new()?, IfMatch::Any)).await?;
    expect(&table, &row("1")?.with("A", 1)?.with("B", "new")?.with("C", true)?).await
}

pub(crate) async fn a_merge_of_a_missing_row_is_refused(context: Context) -> Outcome {
    let table = context.table().await?;
    ensure_kind(table.write(Action::Merge(new()?, IfMatch::Any)).await, ErrorKind::NotFound, "a merge")?;
    ensure_eq(table.get("1").await?, None, "the row after the refusal")
}

pub(crate) async fn a_merge_can_change_a_type(context: Context) -> Outcome {
    let table = table(&context).await?;
    table.put(Action::Merge(row("1")?.with("A", "text")?, IfMatch::Any)).await?;
    expect(&table, &row("1")?.with("A", "text")?.with("B", "old")?).await
}

pub(crate) async fn a_merge_of_nothing_keeps_all(context: Context) -> Outcome {
    let table = table(&context).await?;
    table.put(Action::Merge(row("1")?, IfMatch::Any)).await?;
    expect(&table, &old()?).await
}

pub(crate) async fn an_insert_or_replace_inserts(context: Context) -> Outcome {
    let table = context.table().await?;
    table.put(Action::InsertOrReplace(new()?)).await?;
    expect(&table, &new()?).await
}

pub(crate) async fn an_insert_or_replace_replaces(context: Context) -> Outcome {
    let table = table(&context).await?;
    table.put(Action::InsertOrReplace(new()?)).await?;
    expect(&table, &new()?).await
}

pub(crate) async fn an_insert_or_merge_inserts(context: Context) -> Outcome {
    let table = context.table().await?;
    table.put(Action::InsertOrMerge(new()?)).await?;
    expect(&table, &new()?).await
}

pub(crate) async fn an_insert_or_merge_merges(context: Context) -> Outcome {
    let table = table(&context).await?;
    table.put(Action::InsertOrMerge(new()?)).await?;
    expect(&table, &row("1")?.with("A", 1)?.with("B", "new")?.with("C", true)?).await
}

pub(crate) async fn a_delete_removes_its_row_alone(context: Context) -> Outcome {
    let table = table(&context).await?;
    table.insert(row("10")?).await?;
    table.delete("1").await?;
    ensure_eq(table.get("1").await?, None, "the deleted row")?;
    table.require("10").await?;
    Ok(())
}

pub(crate) async fn a_delete_of_a_missing_row_is_refused(context: Context) -> Outcome {
    let table = context.table().await?;
    ensure_kind(table.write(Action::Delete(key("1")?, IfMatch::Any)).await, ErrorKind::NotFound, "a delete")?;
    Ok(())
}

pub(crate) async fn nothing_of_a_deleted_row_comes_back(context: Context) -> Outcome {
    let table = table(&context).await?;
    table.delete("1").await?;
    table.put(Action::InsertOrMerge(row("1")?.with("C", 3)?)).await?;
    expect(&table, &row("1")?.with("C", 3)?).await
}

pub(crate) async fn a_write_answers_the_etag_that_a_read_gives(context: Context) -> Outcome {
    let table = context.table().await?;
    let writes = [
        Action::Insert(old()?),
        Action::Replace(new()?, IfMatch::Any),
        Action::Merge(old()?, IfMatch::Any),
        Action::InsertOrReplace(new()?),
        Action::InsertOrMerge(old()?),
    ];
    for action in writes {
        let what = action.name();
        let etag = table.put(action).await?;
        ensure_eq(table.etag("1").await?, etag, what)?;
    }
    Ok(())
}

pub(crate) async fn a_delete_answers_no_etag(context: Context) -> Outcome {
    let table = table(&context).await?;
    let written = table.write(Action::Delete(key("1")?, IfMatch::Any)).await?;
    ensure_eq(written.etag, None, "the ETag that a delete answers")
}

pub(crate) async fn a_timestamp_that_is_sent_is_ignored(context: Context) -> Outcome {
    let table = context.table().await?;
    let mut entity = new()?;
    entity.timestamp = Some(Timestamp::MIN_PROPERTY);
    table.insert(entity).await?;
    let read = table.require("1").await?;
    ensure(read.timestamp != Some(Timestamp::MIN_PROPERTY), "the store took the caller's timestamp")
}

pub(crate) async fn an_etag_that_an_entity_carries_is_ignored(context: Context) -> Outcome {
    let table = table(&context).await?;
    let stale = table.etag("1").await?;
    let current = table.put(Action::Merge(row("1")?, IfMatch::Any)).await?;
    let mut entity = new()?;
    entity.etag = Some(stale.clone());
    let written = table.put(Action::Replace(entity, IfMatch::Version(current))).await?;
    ensure(written != stale, "the store took the caller's ETag")
}

pub(crate) async fn an_error_names_operation_table_and_key(context: Context) -> Outcome {
    let table = table(&context).await?;
    let inserted = table.write(Action::Insert(new()?)).await;
    let error = ensure_kind(inserted, ErrorKind::AlreadyExists, "inserting twice")?;
    ensure_eq(error.operation(), Some("insert"), "the operation")?;
    ensure_eq(error.table(), Some(table.name.as_str()), "the table")?;
    ensure_eq(error.key(), Some(&key("1")?), "the key")
}

pub(crate) async fn an_error_holds_no_property_value(context: Context) -> Outcome {
    let table = table(&context).await?;
    let secret = row("1")?.with("Secret", "hunter2-hunter2")?;
    let inserted = table.write(Action::Insert(secret)).await;
    let error = ensure_kind(inserted, ErrorKind::AlreadyExists, "inserting twice")?;
    let told = format!("{error} {error:?}");
    ensure(!told.contains("hunter2"), "an error tells the value of a property")
}

pub(crate) async fn a_row_changes_only_by_its_own_writes(context: Context) -> Outcome {
    let table = table(&context).await?;
    let before = table.require("1").await?;
    for number in 0..5 {
        table.insert(row(&format!("1{number}"))?.with("A", Value::Int32(number))?).await?;
    }
    table.delete("10").await?;
    ensure_eq(table.require("1").await?, before, "a row after writes to its neighbours")
}
