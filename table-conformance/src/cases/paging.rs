//! Pages: their size, their continuation, and what writes in between do.

use std::collections::HashMap;

use table_core::keys::{KeyRange, Span};
use table_core::query::{Comparison, Field, Filter};
use table_core::store::{Page, PageToken, StoreQuery};
use table_core::{Action, DynamicEntity, ErrorKind, IfMatch, limits};

use crate::context::Context;
use crate::failure::{Failure, Outcome, ensure, ensure_eq, ensure_kind};
use crate::test_table::{TestTable, key, keys_of, numbered, row, select};

fn query(limit: usize) -> StoreQuery {
    StoreQuery { limit: Some(limit), ..StoreQuery::new(KeyRange::ALL) }
}

/// A table with the rows `00000` to `00009`.
async fn ten(context: &Context) -> Result<TestTable, Failure> {
    let table = context.table().await?;
    table.fill("p", 10).await?;
    Ok(table)
}

fn count(rows: &[DynamicEntity]) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for key in keys_of(rows) {
        *counts.entry(key).or_insert(0) += 1;
    }
    counts
}

/// The first page of four and the query that goes on after it.
async fn begin(table: &TestTable) -> Result<(Page, StoreQuery), Failure> {
    let page = table.page(&query(4)).await?;
    let after = page.next.clone().ok_or_else(|| Failure::new("the first page of ten rows is the last"))?;
    Ok((page, StoreQuery { after: Some(after), ..query(4) }))
}

/// Reads a page, changes the table, reads on, and gives all rows that came.
async fn interrupted(table: &TestTable, actions: Vec<Action>) -> Result<Vec<DynamicEntity>, Failure> {
    let (page, rest) = begin(table).await?;
    table.transact(actions).await?;
    let mut rows = page.entities;
    rows.extend(table.rows(rest).await?);
    Ok(rows)
}

pub(crate) async fn a_page_keeps_its_limit(context: Context) -> Outcome {
    let table = ten(&context).await?;
    for limit in [1, 3, 9, 10, 11] {
        let page = table.page(&query(limit)).await?;
        ensure(page.entities.len() <= limit, "a page holds more than its limit")?;
    }
    Ok(())
}

pub(crate) async fn pages_give_every_row_once(context: Context) -> Outcome {
    let table = ten(&context).await?;
    for limit in [1, 3, 5, 10, 11, 1000] {
        let rows = table.rows(query(limit)).await?;
        ensure_eq(rows.len(), 10, "how many rows the pages give")?;
        ensure_eq(count(&rows).len(), 10, "how many different rows the pages give")?;
    }
    Ok(())
}

pub(crate) async fn pages_end(context: Context) -> Outcome {
    let table = context.table().await?;
    ensure_eq(table.rows(query(5)).await?, Vec::new(), "the rows of an empty table")?;
    table.fill("p", 5).await?;
    let pages = table.pages(query(5)).await?;
    ensure_eq(pages.iter().map(|page| page.entities.len()).sum::<usize>(), 5, "the rows of a page that is just full")
}

pub(crate) async fn a_page_holds_a_thousand_at_most(context: Context) -> Outcome {
    let table = context.table().await?;
    let many = limits::PAGE_ENTITIES + 50;
    table.fill("p", many).await?;
    let open = table.page(&StoreQuery::new(KeyRange::ALL)).await?;
    ensure(open.entities.len() <= limits::PAGE_ENTITIES, "a page without a limit holds over a thousand entities")?;
    ensure(open.next.is_some(), "a page of a thousand and fifty rows has no successor")?;
    let rows = table.rows(query(5 * limits::PAGE_ENTITIES)).await?;
    ensure_eq(count(&rows).len(), many, "the rows with a limit over a thousand")?;
    ensure_eq(rows.len(), many, "the rows with a limit over a thousand, doubles included")
}

pub(crate) async fn pages_run_over_partitions(context: Context) -> Outcome {
    let table = context.table().await?;
    for partition in ["a", "b", "c", "d"] {
        table.fill(partition, 3).await?;
    }
    for limit in [1, 2, 3, 4, 7] {
        let rows = table.rows(query(limit)).await?;
        ensure_eq((rows.len(), count(&rows).len()), (12, 12), "the rows of four partitions")?;
    }
    Ok(())
}

pub(crate) async fn a_range_of_rows_is_paged_in_every_partition(context: Context) -> Outcome {
    let table = context.table().await?;
    for partition in ["a", "b", "c"] {
        table.fill(partition, 12).await?;
    }
    let range = KeyRange { partition: Span::ALL, row: Span::prefix("0001") };
    let rows = table.rows(StoreQuery { limit: Some(1), ..StoreQuery::new(range) }).await?;
    ensure_eq(
        count(&rows),
        HashMap::from(["a|00010", "a|00011", "b|00010", "b|00011", "c|00010", "c|00011"].map(|key| (key.into(), 1))),
        "the rows of the range",
    )
}

pub(crate) async fn a_selective_filter_is_paged_to_its_end(context: Context) -> Outcome {
    let table = context.table().await?;
    let many: i32 = 2500;
    table.fill("p", usize::try_from(many).unwrap_or_default()).await?;
    for wanted in [0, many / 2, many - 1] {
        let filter = Some(Filter::compare(Field::new("N")?, Comparison::Eq, wanted));
        let rows = table.rows(StoreQuery { filter, ..query(10) }).await?;
        let expected = [format!("p|{wanted:05}")];
        ensure_eq(keys_of(&rows), expected, "the one row that matches")?;
    }
    Ok(())
}

pub(crate) async fn filter_and_selection_hold_on_every_page(context: Context) -> Outcome {
    let table = ten(&context).await?;
    let filter = Some(Filter::compare(Field::new("N")?, Comparison::Ge, 5));
    let rows = table.rows(StoreQuery { filter, selection: select(&[])?, ..query(2) }).await?;
    ensure_eq(count(&rows).len(), 5, "the rows that match")?;
    ensure(rows.iter().all(|row| row.properties.is_empty()), "a later page does not keep the selection")
}

pub(crate) async fn a_continuation_can_be_carried_as_text(context: Context) -> Outcome {
    let table = ten(&context).await?;
    let (page, mut rest) = begin(&table).await?;
    rest.after = rest.after.map(|token| PageToken::new(token.as_str().to_owned()));
    ensure_eq(page.entities.len() + table.rows(rest).await?.len(), 10, "the rows in all")
}

pub(crate) async fn a_continuation_can_be_used_again(context: Context) -> Outcome {
    let table = ten(&context).await?;
    let (_, rest) = begin(&table).await?;
    let first = table.page(&rest).await?;
    ensure_eq(table.page(&rest).await?, first, "the same page read again")
}

pub(crate) async fn a_continuation_takes_another_limit(context: Context) -> Outcome {
    let table = ten(&context).await?;
    let (page, rest) = begin(&table).await?;
    let others = table.rows(StoreQuery { limit: Some(1), ..rest }).await?;
    ensure_eq(page.entities.len() + others.len(), 10, "the rows in all")
}

pub(crate) async fn a_junk_continuation_is_refused(context: Context) -> Outcome {
    let table = ten(&context).await?;
    for junk in ["", "junk", "\u{1f600}", "{}", "p\u{0}00003", "\n\n\n"] {
        let page = table.page(&StoreQuery { after: Some(PageToken::new(junk)), ..query(3) }).await;
        ensure_kind(page, ErrorKind::InvalidQuery, "a continuation that no store gave")?;
    }
    Ok(())
}

pub(crate) async fn a_page_of_none_is_refused(context: Context) -> Outcome {
    let table = ten(&context).await?;
    ensure_kind(table.page(&query(0)).await, ErrorKind::InvalidQuery, "a page of no entities")?;
    Ok(())
}

pub(crate) async fn rows_deleted_meanwhile_lose_no_other(context: Context) -> Outcome {
    let table = ten(&context).await?;
    // Around the place where the first page ended: the last row read, and the next two.
    let deleted = [3, 4, 5].map(numbered);
    let mut actions = Vec::new();
    for each in &deleted {
        actions.push(Action::Delete(key(each)?, IfMatch::Any));
    }
    let counts = count(&interrupted(&table, actions).await?);
    for number in [0, 1, 2, 6, 7, 8, 9] {
        ensure_eq(counts.get(&format!("p|{}", numbered(number))), Some(&1), "a row that was there all along")?;
    }
    ensure(counts.values().all(|times| *times == 1), "a row came twice")
}

pub(crate) async fn rows_inserted_meanwhile_double_no_other(context: Context) -> Outcome {
    let table = ten(&context).await?;
    let mut actions = Vec::new();
    for each in ["0", "00003a", "00004a", "00009a"] {
        actions.push(Action::Insert(row(each)?));
    }
    let counts = count(&interrupted(&table, actions).await?);
    for number in 0..10 {
        ensure_eq(counts.get(&format!("p|{}", numbered(number))), Some(&1), "a row that was there all along")?;
    }
    ensure(counts.values().all(|times| *times == 1), "a row came twice")
}

pub(crate) async fn rows_changed_meanwhile_come_once(context: Context) -> Outcome {
    let table = ten(&context).await?;
    let mut actions = Vec::new();
    for number in 0..10 {
        actions.push(Action::Merge(row(&numbered(number))?.with("Changed", true)?, IfMatch::Any));
    }
    let rows = interrupted(&table, actions).await?;
    ensure_eq((rows.len(), count(&rows).len()), (10, 10), "the rows, all changed in between")?;
    let changed = rows.iter().filter(|row| row.get("Changed").is_some()).count();
    ensure_eq(changed, 10 - 4, "the rows of the later pages, as they are when they are read")
}

pub(crate) async fn a_continuation_outlives_its_rows(context: Context) -> Outcome {
    let table = ten(&context).await?;
    let (_, rest) = begin(&table).await?;
    for number in 0..10 {
        table.delete(&numbered(number)).await?;
    }
    ensure_eq(table.rows(rest).await?, Vec::new(), "the rows after all were deleted")
}
