//! Transactions: all or nothing, each operation as it would be alone.

use std::collections::HashSet;

use table_core::keys::KeyRange;
use table_core::store::StoreQuery;
use table_core::{Action, DynamicEntity, ErrorKind, IfMatch, limits};

use crate::context::Context;
use crate::failure::{Failure, Outcome, ensure, ensure_eq, ensure_kind};
use crate::test_table::{TestTable, key, numbered, row, row_in};

/// A table with the rows `a`, `b` and `c`, each with A = "old".
async fn table(context: &Context) -> Result<TestTable, Failure> {
    let table = context.table().await?;
    for each in ["a", "b", "c"] {
        table.insert(row(each)?.with("A", "old")?).await?;
    }
    Ok(table)
}

fn changed(each: &str) -> Result<DynamicEntity, Failure> {
    Ok(row(each)?.with("A", "new")?)
}

async fn all_rows(table: &TestTable) -> Result<Vec<DynamicEntity>, Failure> {
    table.rows(StoreQuery::new(KeyRange::ALL)).await
}

/// Runs a transaction that must fail at an index and change nothing.
async fn expect_refused(table: &TestTable, actions: Vec<Action>, kind: ErrorKind, index: usize) -> Outcome {
    let before = all_rows(table).await?;
    let failing = actions.get(index).map(|action| action.key().clone());
    let error = ensure_kind(table.transact(actions).await, kind, "the transaction")?;
    ensure_eq(error.operation_index(), Some(index), "the index of the failing operation")?;
    ensure_eq(error.key(), failing.as_ref(), "the key of the failing operation")?;
    ensure_eq(all_rows(table).await?, before, "the rows after a refused transaction")
}

pub(crate) async fn all_operations_happen(context: Context) -> Outcome {
    let table = table(&context).await?;
    let actions = vec![
        Action::Insert(row("d")?.with("A", "inserted")?),
        Action::Replace(row("a")?.with("B", "replaced")?, IfMatch::Any),
        Action::Merge(row("b")?.with("B", "merged")?, IfMatch::Any),
        Action::InsertOrReplace(row("e")?.with("A", "upserted")?),
        Action::InsertOrMerge(row("f")?.with("A", "upserted")?),
        Action::Delete(key("c")?, IfMatch::Any),
    ];
    table.transact(actions).await?;
    let expected = [
        row("a")?.with("B", "replaced")?,
        row("b")?.with("A", "old")?.with("B", "merged")?,
        row("d")?.with("A", "inserted")?,
        row("e")?.with("A", "upserted")?,
        row("f")?.with("A", "upserted")?,
    ];
    for each in &expected {
        ensure_eq(&table.require(each.key.row.as_str()).await?.properties, &each.properties, "a row")?;
    }
    ensure_eq(all_rows(&table).await?.len(), expected.len(), "how many rows are left")
}

pub(crate) async fn an_upsert_in_a_transaction_meets_what_is_there(context: Context) -> Outcome {
    let table = table(&context).await?;
    let actions =
        vec![Action::InsertOrReplace(row("a")?.with("B", 1)?), Action::InsertOrMerge(row("b")?.with("B", 1)?)];
    table.transact(actions).await?;
    ensure_eq(table.require("a").await?.properties, row("a")?.with("B", 1)?.properties, "the replaced row")?;
    let merged = row("b")?.with("A", "old")?.with("B", 1)?;
    ensure_eq(table.require("b").await?.properties, merged.properties, "the merged row")
}

pub(crate) async fn answers_come_in_the_order_of_operations(context: Context) -> Outcome {
    let table = table(&context).await?;
    let actions = vec![
        Action::Merge(changed("c")?, IfMatch::Any),
        Action::Delete(key("b")?, IfMatch::Any),
        Action::Merge(changed("a")?, IfMatch::Any),
    ];
    let etags: Vec<_> = table.transact(actions).await?.into_iter().map(|written| written.etag).collect();
    ensure_eq(etags, [Some(table.etag("c").await?), None, Some(table.etag("a").await?)], "the answers")
}

pub(crate) async fn a_transaction_of_one_is_a_write(context: Context) -> Outcome {
    let table = context.table().await?;
    let written = table.transact(vec![Action::Insert(row("a")?)]).await?;
    ensure_eq(written.len(), 1, "the answers")?;
    table.require("a").await?;
    Ok(())
}

pub(crate) async fn a_failing_first_operation_changes_nothing(context: Context) -> Outcome {
    let table = table(&context).await?;
    let actions = vec![Action::Insert(changed("a")?), Action::Insert(changed("x")?), Action::Insert(changed("y")?)];
    expect_refused(&table, actions, ErrorKind::AlreadyExists, 0).await
}

pub(crate) async fn a_failing_operation_in_the_middle_changes_nothing(context: Context) -> Outcome {
    let table = table(&context).await?;
    let actions = vec![
        Action::Replace(changed("a")?, IfMatch::Any),
        Action::Insert(changed("b")?),
        Action::Delete(key("c")?, IfMatch::Any),
    ];
    expect_refused(&table, actions, ErrorKind::AlreadyExists, 1).await
}

pub(crate) async fn a_failing_last_operation_changes_nothing(context: Context) -> Outcome {
    let table = table(&context).await?;
    let actions = vec![
        Action::Delete(key("a")?, IfMatch::Any),
        Action::Insert(changed("x")?),
        Action::InsertOrReplace(changed("b")?),
        Action::Merge(changed("missing")?, IfMatch::Any),
    ];
    expect_refused(&table, actions, ErrorKind::NotFound, 3).await
}

pub(crate) async fn a_stale_version_fails_the_transaction(context: Context) -> Outcome {
    let table = table(&context).await?;
    let stale = table.etag("b").await?;
    table.put(Action::Merge(row("b")?, IfMatch::Any)).await?;
    let actions =
        vec![Action::Merge(changed("a")?, IfMatch::Any), Action::Replace(changed("b")?, IfMatch::Version(stale))];
    expect_refused(&table, actions, ErrorKind::PreconditionFailed, 1).await
}

pub(crate) async fn a_missing_row_fails_before_its_condition(context: Context) -> Outcome {
    let table = table(&context).await?;
    let etag = table.etag("a").await?;
    let actions = vec![Action::Insert(row("x")?), Action::Delete(key("missing")?, IfMatch::Version(etag))];
    expect_refused(&table, actions, ErrorKind::NotFound, 1).await
}

pub(crate) async fn every_condition_that_holds_lets_it_happen(context: Context) -> Outcome {
    let table = table(&context).await?;
    let (a, b) = (table.etag("a").await?, table.etag("b").await?);
    let actions = vec![
        Action::Replace(changed("a")?, IfMatch::Version(a)),
        Action::Delete(key("b")?, IfMatch::Version(b)),
        Action::Insert(row("d")?),
    ];
    table.transact(actions).await?;
    ensure_eq(table.keys_in(KeyRange::ALL).await?, ["p|a", "p|c", "p|d"], "the rows that are left")
}

pub(crate) async fn a_refused_transaction_can_be_repeated(context: Context) -> Outcome {
    let table = table(&context).await?;
    let actions = vec![Action::Insert(row("x")?), Action::Insert(row("a")?)];
    ensure_kind(table.transact(actions.clone()).await, ErrorKind::AlreadyExists, "the transaction")?;
    table.delete("a").await?;
    table.transact(actions).await?;
    table.require("x").await?;
    Ok(())
}

pub(crate) async fn a_hundred_operations_are_one_transaction(context: Context) -> Outcome {
    let table = context.table().await?;
    table.fill("p", limits::TRANSACTION_OPERATIONS).await?;
    ensure_eq(all_rows(&table).await?.len(), limits::TRANSACTION_OPERATIONS, "the rows inserted")?;
    let deletes: Result<Vec<_>, Failure> = (0..limits::TRANSACTION_OPERATIONS)
        .map(|number| Ok(Action::Delete(key(&numbered(number))?, IfMatch::Any)))
        .collect();
    table.transact(deletes?).await?;
    ensure_eq(all_rows(&table).await?, Vec::new(), "the rows after deleting all")
}

pub(crate) async fn the_hundredth_operation_can_fail_it_all(context: Context) -> Outcome {
    let table = table(&context).await?;
    let mut actions = Vec::new();
    for number in 0..limits::TRANSACTION_OPERATIONS - 1 {
        actions.push(Action::Insert(row(&numbered(number))?));
    }
    actions.push(Action::Insert(row("c")?));
    expect_refused(&table, actions, ErrorKind::AlreadyExists, limits::TRANSACTION_OPERATIONS - 1).await
}

pub(crate) async fn a_transaction_changes_every_etag(context: Context) -> Outcome {
    let table = table(&context).await?;
    let mut seen = HashSet::new();
    for _ in 0..5 {
        let actions = vec![Action::Merge(changed("a")?, IfMatch::Any), Action::Merge(changed("b")?, IfMatch::Any)];
        table.transact(actions).await?;
        for each in ["a", "b"] {
            ensure(seen.insert((each, table.etag(each).await?)), "a transaction kept or repeated an ETag")?;
        }
    }
    Ok(())
}

pub(crate) async fn partitions_are_transacted_apart(context: Context) -> Outcome {
    let table = context.table().await?;
    table.transact(vec![Action::Insert(row_in("", "1")?), Action::Insert(row_in("", "2")?)]).await?;
    table.transact(vec![Action::Insert(row_in("q", "1")?), Action::Insert(row_in("q", "2")?)]).await?;
    ensure_eq(table.keys_in(KeyRange::ALL).await?, ["q|1", "q|2", "|1", "|2"], "the rows of both partitions")
}
