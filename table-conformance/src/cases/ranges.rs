//! Ranges of keys: exactly the rows in them.

use std::ops::Bound::{self, Excluded, Included, Unbounded};

use table_core::keys::{KeyRange, Span};
use table_core::{EntityKey, PartitionKey};

use crate::context::Context;
use crate::failure::{Failure, Outcome, ensure_eq};
use crate::test_table::{TestTable, row_in};

fn span(lower: Bound<&str>, upper: Bound<&str>) -> Span {
    Span::new(lower.map(Into::into), upper.map(Into::into))
}

/// Rows of the partition `b` only.
fn rows(row: Span) -> KeyRange {
    KeyRange { partition: Span::exact("b"), row }
}

/// A table with the partitions `a`, `b`, `b!`, `c` and in each the rows `1` to `4`.
async fn table(context: &Context) -> Result<TestTable, Failure> {
    let table = context.table().await?;
    for partition in ["a", "b", "b!", "c"] {
        for row in ["1", "2", "3", "4"] {
            table.insert(row_in(partition, row)?).await?;
        }
    }
    Ok(table)
}

async fn expect(table: &TestTable, range: KeyRange, expected: &[&str]) -> Outcome {
    let what = format!("the rows of {range:?}");
    ensure_eq(table.keys_in(range).await?, expected, &what)
}

pub(crate) async fn one_entity(context: Context) -> Outcome {
    let table = table(&context).await?;
    expect(&table, KeyRange::entity(&EntityKey::parse("b", "2")?), &["b|2"]).await?;
    expect(&table, KeyRange::entity(&EntityKey::parse("b", "5")?), &[]).await
}

pub(crate) async fn one_partition(context: Context) -> Outcome {
    let table = table(&context).await?;
    expect(&table, KeyRange::partition(&PartitionKey::new("b")?), &["b|1", "b|2", "b|3", "b|4"]).await?;
    expect(&table, KeyRange::partition(&PartitionKey::new("bb")?), &[]).await
}

pub(crate) async fn the_whole_table(context: Context) -> Outcome {
    let table = table(&context).await?;
    ensure_eq(table.keys_in(KeyRange::ALL).await?.len(), 16, "how many rows there are")
}

pub(crate) async fn bounds_are_included_or_not_as_they_say(context: Context) -> Outcome {
    let table = table(&context).await?;
    expect(&table, rows(span(Included("2"), Included("3"))), &["b|2", "b|3"]).await?;
    expect(&table, rows(span(Excluded("2"), Included("3"))), &["b|3"]).await?;
    expect(&table, rows(span(Included("2"), Excluded("3"))), &["b|2"]).await?;
    expect(&table, rows(span(Excluded("1"), Excluded("4"))), &["b|2", "b|3"]).await?;
    expect(&table, rows(span(Excluded("2"), Unbounded)), &["b|3", "b|4"]).await?;
    expect(&table, rows(span(Unbounded, Excluded("2"))), &["b|1"]).await
}

pub(crate) async fn bounds_need_not_be_keys_of_rows(context: Context) -> Outcome {
    let table = table(&context).await?;
    expect(&table, rows(span(Included("10"), Excluded("2~"))), &["b|2"]).await?;
    expect(&table, rows(span(Included("0"), Included("9"))), &["b|1", "b|2", "b|3", "b|4"]).await?;
    expect(&table, rows(span(Included("5"), Included("9"))), &[]).await
}

pub(crate) async fn an_empty_range_has_no_rows(context: Context) -> Outcome {
    let table = table(&context).await?;
    expect(&table, rows(span(Included("3"), Included("2"))), &[]).await?;
    expect(&table, rows(span(Included("2"), Excluded("2"))), &[]).await?;
    expect(&table, rows(span(Excluded("2"), Excluded("2"))), &[]).await?;
    expect(&table, KeyRange { partition: span(Included("c"), Included("a")), row: Span::ALL }, &[]).await
}

pub(crate) async fn a_range_of_partitions(context: Context) -> Outcome {
    let table = table(&context).await?;
    let range = |partition| KeyRange { partition, row: Span::exact("1") };
    expect(&table, range(span(Included("b"), Excluded("c"))), &["b!|1", "b|1"]).await?;
    expect(&table, range(span(Excluded("b"), Included("c"))), &["b!|1", "c|1"]).await?;
    expect(&table, range(span(Unbounded, Included("b"))), &["a|1", "b|1"]).await?;
    expect(&table, range(span(Excluded("b!"), Unbounded)), &["c|1"]).await
}

pub(crate) async fn a_range_of_rows_in_every_partition(context: Context) -> Outcome {
    let table = table(&context).await?;
    let range = KeyRange { partition: Span::ALL, row: span(Included("2"), Excluded("4")) };
    expect(&table, range, &["a|2", "a|3", "b!|2", "b!|3", "b|2", "b|3", "c|2", "c|3"]).await?;
    let range = KeyRange { partition: Span::ALL, row: span(Excluded("3"), Unbounded) };
    expect(&table, range, &["a|4", "b!|4", "b|4", "c|4"]).await
}

pub(crate) async fn a_prefix_of_rows(context: Context) -> Outcome {
    let table = context.table().await?;
    for row in ["empid_000012", "empid_000012_2012", "empid_000123", "empid_00001", "Empid_000012"] {
        table.insert(row_in("b", row)?).await?;
    }
    expect(&table, rows(Span::prefix("empid_000012")), &["b|empid_000012", "b|empid_000012_2012"]).await
}

pub(crate) async fn a_prefix_of_partitions(context: Context) -> Outcome {
    let table = table(&context).await?;
    let range = KeyRange { partition: Span::prefix("b"), row: Span::exact("4") };
    expect(&table, range, &["b!|4", "b|4"]).await
}

pub(crate) async fn empty_keys_lie_in_ranges(context: Context) -> Outcome {
    let table = context.table().await?;
    for (partition, row) in [("", ""), ("", "x"), ("b", ""), ("b", "x")] {
        table.insert(row_in(partition, row)?).await?;
    }
    expect(&table, KeyRange::entity(&EntityKey::parse("", "")?), &["|"]).await?;
    expect(&table, KeyRange::partition(&PartitionKey::new("")?), &["|", "|x"]).await?;
    expect(&table, rows(span(Unbounded, Excluded("x"))), &["b|"]).await?;
    expect(&table, rows(span(Excluded(""), Unbounded)), &["b|x"]).await
}

pub(crate) async fn bounds_compare_by_utf16_unit(context: Context) -> Outcome {
    let table = context.table().await?;
    for row in ["z", "\u{1f600}", "\u{e000}", "\u{ffee}"] {
        table.insert(row_in("b", row)?).await?;
    }
    expect(&table, rows(span(Included("\u{e000}"), Unbounded)), &["b|\u{e000}", "b|\u{ffee}"]).await?;
    expect(&table, rows(span(Included("z"), Excluded("\u{e000}"))), &["b|z", "b|\u{1f600}"]).await
}
