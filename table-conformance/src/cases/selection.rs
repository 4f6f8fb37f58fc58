//! Reads of some properties only.

use table_core::keys::KeyRange;
use table_core::query::{Comparison, Field, Filter};
use table_core::store::{Selection, StoreQuery};
use table_core::{Action, DynamicEntity, IfMatch};

use crate::context::Context;
use crate::failure::{Failure, Outcome, ensure_eq};
use crate::test_table::{TestTable, key, row, select};

/// A table with one row that has the properties A, B and C.
async fn table(context: &Context) -> Result<TestTable, Failure> {
    let table = context.table().await?;
    table.insert(row("1")?.with("A", 1)?.with("B", "two")?.with("C", 3.0)?).await?;
    Ok(table)
}

fn names(read: &DynamicEntity) -> Vec<&str> {
    read.properties.iter().map(|(name, _)| name.as_str()).collect()
}

async fn get(table: &TestTable, selection: &Selection) -> Result<DynamicEntity, Failure> {
    let read = table.store.get(&table.name, &key("1")?, selection).await?;
    read.ok_or_else(|| Failure::new("the row is not there"))
}

async fn query(table: &TestTable, selection: Selection) -> Result<DynamicEntity, Failure> {
    let query = StoreQuery { selection, ..StoreQuery::new(KeyRange::ALL) };
    table.rows(query).await?.pop().ok_or_else(|| Failure::new("the row is not there"))
}

pub(crate) async fn a_get_returns_only_what_is_selected(context: Context) -> Outcome {
    let table = table(&context).await?;
    let read = get(&table, &select(&["A", "C"])?).await?;
    ensure_eq(names(&read), ["A", "C"], "the properties")
}

pub(crate) async fn a_query_returns_only_what_is_selected(context: Context) -> Outcome {
    let table = table(&context).await?;
    let read = query(&table, select(&["B"])?).await?;
    ensure_eq(names(&read), ["B"], "the properties")
}

pub(crate) async fn keys_and_etag_come_along(context: Context) -> Outcome {
    let table = table(&context).await?;
    let etag = Some(table.etag("1").await?);
    for read in [get(&table, &select(&["A"])?).await?, query(&table, select(&["A"])?).await?] {
        ensure_eq(&read.key, &key("1")?, "the key")?;
        ensure_eq(&read.etag, &etag, "the ETag")?;
    }
    Ok(())
}

pub(crate) async fn an_empty_selection_returns_keys_and_etag(context: Context) -> Outcome {
    let table = table(&context).await?;
    let etag = Some(table.etag("1").await?);
    for read in [get(&table, &select(&[])?).await?, query(&table, select(&[])?).await?] {
        ensure_eq(names(&read), Vec::<&str>::new(), "the properties")?;
        ensure_eq(&read.etag, &etag, "the ETag")?;
    }
    Ok(())
}

pub(crate) async fn what_a_row_lacks_is_left_out(context: Context) -> Outcome {
    let table = table(&context).await?;
    ensure_eq(names(&get(&table, &select(&["A", "Z"])?).await?), ["A"], "of a get")?;
    ensure_eq(names(&query(&table, select(&["A", "Z"])?).await?), ["A"], "of a query")
}

pub(crate) async fn names_are_selected_with_case(context: Context) -> Outcome {
    let table = context.table().await?;
    table.insert(row("1")?.with("Name", 1)?.with("name", 2)?).await?;
    ensure_eq(names(&get(&table, &select(&["name"])?).await?), ["name"], "of a get")?;
    ensure_eq(names(&query(&table, select(&["Name"])?).await?), ["Name"], "of a query")
}

pub(crate) async fn a_selected_read_can_be_written_upon(context: Context) -> Outcome {
    let table = table(&context).await?;
    let etag = get(&table, &select(&["A"])?).await?.etag.ok_or_else(|| Failure::new("no ETag"))?;
    table.put(Action::Merge(row("1")?.with("A", 2)?, IfMatch::Version(etag))).await?;
    ensure_eq(names(&table.require("1").await?), ["A", "B", "C"], "the properties after the merge")
}

pub(crate) async fn a_filter_sees_what_is_not_selected(context: Context) -> Outcome {
    let table = table(&context).await?;
    let filter = Some(Filter::compare(Field::new("B")?, Comparison::Eq, "two"));
    let query = StoreQuery { filter, selection: select(&["A"])?, ..StoreQuery::new(KeyRange::ALL) };
    let rows = table.rows(query).await?;
    ensure_eq(rows.iter().map(names).collect::<Vec<_>>(), [["A"]], "the rows that match")
}
