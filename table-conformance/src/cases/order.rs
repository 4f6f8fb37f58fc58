//! The order of results: by UTF-16 code unit, partitions first.

use table_core::keys::KeyRange;
use table_core::store::StoreQuery;

use crate::context::Context;
use crate::failure::{Outcome, ensure_eq};
use crate::test_table::{keys_of, row_in, row_keys_of};

/// Inserts row keys in another order than they are expected in.
async fn expect_rows(context: Context, expected: &[&str]) -> Outcome {
    let table = context.table().await?;
    let (even, odd): (Vec<_>, Vec<_>) = expected.iter().enumerate().partition(|(index, _)| index % 2 == 0);
    for (_, row) in odd.into_iter().chain(even).rev() {
        table.insert(row_in("p", row)?).await?;
    }
    let rows = table.rows(StoreQuery::new(KeyRange::ALL)).await?;
    ensure_eq(row_keys_of(&rows), expected, "the row keys in order")
}

/// Inserts keys in the opposite order of what is expected.
async fn expect_keys(context: Context, expected: &[(&str, &str)]) -> Outcome {
    let table = context.table().await?;
    for (partition, row) in expected.iter().rev() {
        table.insert(row_in(partition, row)?).await?;
    }
    let rows = table.rows(StoreQuery::new(KeyRange::ALL)).await?;
    let expected: Vec<_> = expected.iter().map(|(partition, row)| format!("{partition}|{row}")).collect();
    ensure_eq(keys_of(&rows), expected, "the keys in order")
}

pub(crate) async fn rows_come_in_the_order_of_their_keys(context: Context) -> Outcome {
    expect_rows(context, &["a", "b", "c", "d", "e"]).await
}

pub(crate) async fn partitions_come_before_rows(context: Context) -> Outcome {
    expect_keys(context, &[("a", "1"), ("a", "9"), ("b", "0"), ("b", "5"), ("c", "3")]).await
}

pub(crate) async fn numbers_in_keys_sort_as_text(context: Context) -> Outcome {
    expect_rows(context, &["1", "10", "100", "2", "20", "9"]).await
}

pub(crate) async fn upper_case_comes_before_lower_case(context: Context) -> Outcome {
    expect_rows(context, &["A", "B", "Z", "a", "b", "z"]).await
}

pub(crate) async fn a_key_comes_before_what_it_begins(context: Context) -> Outcome {
    expect_rows(context, &["", " ", "a", "a ", "a!", "a0", "aa", "aaa"]).await
}

pub(crate) async fn a_partition_comes_before_those_that_it_begins(context: Context) -> Outcome {
    expect_keys(context, &[("", "zz"), ("a", ""), ("a", "zz"), ("a ", "a"), ("a!", "a"), ("aa", ""), ("b", "")]).await
}

pub(crate) async fn punctuation_sorts_by_code(context: Context) -> Outcome {
    expect_rows(context, &["!", "'", "-", ".", "0", ":", "=", "A", "^", "_", "a", "|", "~"]).await
}

pub(crate) async fn accents_sort_by_code(context: Context) -> Outcome {
    expect_rows(context, &["e", "f", "\u{e0}", "\u{e9}", "\u{17e}", "\u{3b1}", "\u{5d0}", "\u{4e2d}"]).await
}

pub(crate) async fn emoji_come_before_the_private_use_area(context: Context) -> Outcome {
    // By UTF-16 unit surrogates (D800-DFFF) are below U+E000; by code point they are above.
    let expected =
        ["\u{d7ff}", "\u{10000}", "\u{1f600}", "\u{1f601}", "\u{10ffff}", "\u{e000}", "\u{ff21}", "\u{fffd}"];
    expect_rows(context, &expected).await
}

pub(crate) async fn emoji_sort_inside_keys_too(context: Context) -> Outcome {
    expect_rows(context, &["a\u{1f600}", "a\u{1f600}b", "a\u{e000}", "a\u{ff01}\u{1f600}", "b"]).await
}

pub(crate) async fn partitions_sort_by_utf16_too(context: Context) -> Outcome {
    expect_keys(context, &[("z", "1"), ("\u{1f600}", "2"), ("\u{1f600}", "\u{e000}"), ("\u{e000}", "1")]).await
}

pub(crate) async fn the_order_holds_from_page_to_page(context: Context) -> Outcome {
    let table = context.table().await?;
    let keys = ["a", "a!", "a\u{1f600}", "a\u{e000}", "aa", "b"];
    for row in keys {
        table.insert(row_in("p", row)?).await?;
        table.insert(row_in("q", row)?).await?;
    }
    let whole = keys_of(&table.rows(StoreQuery::new(KeyRange::ALL)).await?);
    for limit in [1, 2, 5] {
        let query = StoreQuery { limit: Some(limit), ..StoreQuery::new(KeyRange::ALL) };
        ensure_eq(keys_of(&table.rows(query).await?), &whole[..], "the keys page by page")?;
    }
    Ok(())
}

pub(crate) async fn the_order_does_not_depend_on_writes(context: Context) -> Outcome {
    let table = context.table().await?;
    for row in ["b", "a", "c"] {
        table.insert(row_in("p", row)?).await?;
    }
    table.delete("b").await?;
    table.insert(row_in("p", "b")?.with("N", 1)?).await?;
    let rows = table.rows(StoreQuery::new(KeyRange::ALL)).await?;
    ensure_eq(row_keys_of(&rows), ["a", "b", "c"], "the row keys in order")
}
