//! Tables as a whole: created, listed, deleted, and apart from each other.

use table_core::keys::KeyRange;
use table_core::store::{PageToken, Selection, StoreQuery};
use table_core::{Action, ErrorKind, IfMatch, Operation, TableName, Transaction};

use crate::context::Context;
use crate::failure::{Failure, Outcome, ensure, ensure_eq, ensure_kind};
use crate::test_table::{key, row};

pub(crate) async fn a_created_table_can_be_used_at_once(context: Context) -> Outcome {
    let table = context.table().await?;
    ensure_eq(table.get("1").await?, None, "a read of a new table")?;
    ensure_eq(table.keys_in(KeyRange::ALL).await?, Vec::<String>::new(), "a query of a new table")?;
    table.insert(row("1")?).await?;
    table.require("1").await?;
    Ok(())
}

pub(crate) async fn creating_a_table_twice_is_refused(context: Context) -> Outcome {
    let table = context.table().await?;
    let again = table.store.create_table(&table.name).await;
    ensure_kind(again, ErrorKind::AlreadyExists, "creating a table twice")?;
    Ok(())
}

pub(crate) async fn creating_a_table_twice_keeps_its_rows(context: Context) -> Outcome {
    let table = context.table().await?;
    table.insert(row("1")?).await?;
    table.store.create_table(&table.name).await.err();
    table.require("1").await?;
    Ok(())
}

pub(crate) async fn names_are_compared_without_case(context: Context) -> Outcome {
    let table = context.table().await?;
    let upper = TableName::new(table.name.as_str().to_ascii_uppercase())?;
    let again = table.store.create_table(&upper).await;
    ensure_kind(again, ErrorKind::AlreadyExists, "creating a table in other case")?;
    table.insert(row("1")?).await?;
    let read = table.store.get(&upper, &key("1")?, &Selection::All).await?;
    ensure(read.is_some(), "a table is not the same in other case")
}

pub(crate) async fn a_table_is_listed_as_it_was_written(context: Context) -> Outcome {
    let table = context.table().await?;
    let listed = list(&context).await?;
    // Names are equal without case, so the texts are compared.
    let written = listed.iter().filter(|each| each.as_str() == table.name.as_str()).count();
    ensure_eq(written, 1, "how often the table is listed as it was written")
}

pub(crate) async fn tables_are_listed_by_name(context: Context) -> Outcome {
    let first = context.table_name()?;
    // The same name with a letter more: upper and lower case must not matter to the order.
    let stem = first.as_str().to_owned();
    let names = [format!("{stem}a"), format!("{stem}B"), format!("{stem}c")];
    for name in [&names[2], &names[0], &names[1]] {
        context.tables()?.create_table(&context.named_table(name)?).await?;
    }
    let listed = list(&context).await?;
    let ours: Vec<_> = listed.iter().map(TableName::as_str).filter(|name| name.starts_with(&stem)).collect();
    ensure_eq(ours, names.each_ref().map(String::as_str), "the tables in the order of their names")
}

pub(crate) async fn a_deleted_table_is_gone(context: Context) -> Outcome {
    let table = context.table().await?;
    table.insert(row("1")?).await?;
    table.store.delete_table(&table.name).await?;
    let read = table.store.get(&table.name, &key("1")?, &Selection::All).await;
    ensure_kind(read, ErrorKind::TableNotFound, "a read of a deleted table")?;
    let listed = list(&context).await?;
    ensure(!listed.contains(&table.name), "a deleted table is still listed")
}

pub(crate) async fn deleting_a_missing_table_is_refused(context: Context) -> Outcome {
    let name = context.table_name()?;
    let deleted = context.tables()?.delete_table(&name).await;
    let error = ensure_kind(deleted, ErrorKind::TableNotFound, "deleting a missing table")?;
    ensure_eq(error.table(), Some(name.as_str()), "the table that the error names")
}

pub(crate) async fn a_table_created_again_is_empty(context: Context) -> Outcome {
    let table = context.table().await?;
    table.insert(row("1")?).await?;
    table.store.delete_table(&table.name).await?;
    match table.store.create_table(&table.name).await {
        Ok(()) => ensure_eq(table.get("1").await?, None, "a row of the deleted table"),
        // A service may refuse while it still deletes.
        Err(error) if error.kind() == ErrorKind::Busy => Ok(()),
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn reads_of_a_missing_table_are_refused(context: Context) -> Outcome {
    let (store, name) = (context.tables()?, context.table_name()?);
    let read = store.get(&name, &key("1")?, &Selection::All).await;
    let error = ensure_kind(read, ErrorKind::TableNotFound, "a get")?;
    ensure_eq(error.table(), Some(name.as_str()), "the table that the error names")?;
    ensure_kind(store.query(&name, &StoreQuery::new(KeyRange::ALL)).await, ErrorKind::TableNotFound, "a query")?;
    Ok(())
}

pub(crate) async fn writes_to_a_missing_table_are_refused(context: Context) -> Outcome {
    let (store, name) = (context.tables()?, context.table_name()?);
    let actions = [
        Action::Insert(row("1")?),
        Action::Replace(row("1")?, IfMatch::Any),
        Action::Merge(row("1")?, IfMatch::Any),
        Action::InsertOrReplace(row("1")?),
        Action::InsertOrMerge(row("1")?),
        Action::Delete(key("1")?, IfMatch::Any),
    ];
    for action in actions {
        let what = action.name();
        ensure_kind(store.write(&name, Operation::new(action)?).await, ErrorKind::TableNotFound, what)?;
    }
    Ok(())
}

pub(crate) async fn a_transaction_on_a_missing_table_is_refused(context: Context) -> Outcome {
    let (store, name) = (context.tables()?, context.table_name()?);
    let transaction = Transaction::new(vec![Operation::new(Action::Insert(row("1")?))?])?;
    ensure_kind(store.transact(&name, transaction).await, ErrorKind::TableNotFound, "a transaction")?;
    Ok(())
}

pub(crate) async fn tables_are_apart(context: Context) -> Outcome {
    let (one, other) = (context.table().await?, context.table().await?);
    one.insert(row("1")?.with("In", "one")?).await?;
    ensure_eq(other.get("1").await?, None, "a row of another table")?;
    other.insert(row("1")?.with("In", "other")?).await?;
    one.delete("1").await?;
    other.require("1").await?;
    Ok(())
}

pub(crate) async fn a_junk_listing_token_is_refused(context: Context) -> Outcome {
    let listed = context.tables()?.list_tables(Some(&PageToken::new("\u{1}not a token"))).await;
    ensure_kind(listed, ErrorKind::InvalidQuery, "listing with a junk token")?;
    Ok(())
}

/// All tables of the store, those of other cases among them.
async fn list(context: &Context) -> Result<Vec<TableName>, Failure> {
    let mut tables = Vec::new();
    let mut after = None;
    loop {
        let page = context.tables()?.list_tables(after.as_ref()).await?;
        tables.extend(page.tables);
        after = page.next;
        if after.is_none() {
            return Ok(tables);
        }
    }
}
