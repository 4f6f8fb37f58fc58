//! Keys with every character that the service takes: each call finds exactly its row.

use table_core::keys::KeyRange;
use table_core::query::{Comparison, Field, Filter};
use table_core::store::StoreQuery;
use table_core::{Action, DynamicEntity, EntityKey, ErrorKind, IfMatch, limits};

use crate::context::Context;
use crate::failure::{Outcome, ensure_eq, ensure_kind};
use crate::test_table::row_keys_of;

/// Runs every call on each text, as partition key and as row key, with all others beside it.
async fn use_keys(context: Context, texts: &[&str]) -> Outcome {
    let table = context.table().await?;
    let keys = texts.iter().flat_map(|text| [EntityKey::parse(text, "r"), EntityKey::parse("q", text)]);
    let keys = keys.collect::<table_core::Result<Vec<_>>>()?;
    for key in &keys {
        table.insert(DynamicEntity::new(key.clone()).with("N", 1)?).await?;
        let again = table.write(Action::Insert(DynamicEntity::new(key.clone()))).await;
        let error = ensure_kind(again, ErrorKind::AlreadyExists, "inserting twice")?;
        ensure_eq(error.key(), Some(key), "the key that the error names")?;
    }
    for key in &keys {
        table.put(Action::Merge(DynamicEntity::new(key.clone()).with("M", 2)?, IfMatch::Any)).await?;
        let read = table.get_key(key).await?;
        ensure_eq(read.as_ref().map(|read| &read.key), Some(key), "the key of a get")?;
        let found = table.rows(StoreQuery::new(KeyRange::entity(key))).await?;
        ensure_eq(found.iter().map(|row| &row.key).collect::<Vec<_>>(), [key], "the keys of a point query")?;
        let equal = |field, text: &str| Filter::compare(field, Comparison::Eq, text);
        let filter = Filter::And(vec![
            equal(Field::PartitionKey, key.partition.as_str()),
            equal(Field::RowKey, key.row.as_str()),
        ]);
        let found = table.rows(StoreQuery { filter: Some(filter), ..StoreQuery::new(KeyRange::ALL) }).await?;
        ensure_eq(found.iter().map(|row| &row.key).collect::<Vec<_>>(), [key], "the keys of a filter")?;
    }
    let paged = table.rows(StoreQuery { limit: Some(1), ..StoreQuery::new(KeyRange::ALL) }).await?;
    ensure_eq(paged.len(), keys.len(), "the rows, a page each")?;
    for key in &keys {
        table.transact(vec![Action::Delete(key.clone(), IfMatch::Any)]).await?;
        ensure_eq(table.get_key(key).await?, None, "a deleted row")?;
    }
    ensure_eq(table.rows(StoreQuery::new(KeyRange::ALL)).await?, Vec::new(), "the rows that are left")
}

pub(crate) async fn quotes_and_parentheses(context: Context) -> Outcome {
    use_keys(context, &["it's", "''", "'", "\"", "a'b''c", "(x)", "',RowKey='", "(PartitionKey='a')"]).await
}

pub(crate) async fn percent_signs(context: Context) -> Outcome {
    use_keys(context, &["100%", "%", "%25", "%2F", "%2f", "a%20b", "%%", "%zz"]).await
}

pub(crate) async fn plus_signs_and_spaces(context: Context) -> Outcome {
    use_keys(context, &["a+b", "a b", "a  b", "+", " ", "a%2Bb", " a", "a "]).await
}

pub(crate) async fn marks_of_urls_and_json(context: Context) -> Outcome {
    use_keys(context, &["a&b=c", "a;b", "a:b@c", "<x>", "{y}", "[z]", "a,b", "$filter", "*", "!", "`", "|", "^", "~"])
        .await
}

pub(crate) async fn dots(context: Context) -> Outcome {
    use_keys(context, &[".", "..", "...", "a.", ".a", "a..b"]).await
}

pub(crate) async fn letters_of_all_scripts(context: Context) -> Outcome {
    use_keys(context, &["\u{e9}", "\u{df}", "\u{17f}", "\u{3b1}\u{3b2}", "\u{5d0}", "\u{4e2d}\u{6587}", "\u{d7ff}"])
        .await
}

pub(crate) async fn emoji_and_the_private_use_area(context: Context) -> Outcome {
    use_keys(context, &["\u{1f600}", "a\u{1f600}b", "\u{10000}", "\u{10ffff}", "\u{e000}", "\u{fffd}", "\u{ff0f}"])
        .await
}

pub(crate) async fn spaces_of_unicode(context: Context) -> Outcome {
    use_keys(context, &["\u{a0}", "a\u{2003}", "\u{200b}", "\u{3000}", "\u{feff}"]).await
}

pub(crate) async fn the_empty_key(context: Context) -> Outcome {
    use_keys(context, &[""]).await
}

pub(crate) async fn case_and_composition_tell_keys_apart(context: Context) -> Outcome {
    use_keys(context, &["Key", "key", "KEY", "\u{e9}", "e\u{301}", "\u{212b}", "\u{c5}", "ss", "\u{df}"]).await
}

pub(crate) async fn the_longest_keys(context: Context) -> Outcome {
    let row_units = context.tables()?.capabilities().row_key_utf16_units.min(limits::KEY_UTF16_UNITS);
    let table = context.table().await?;
    let longest = [
        ("a".repeat(limits::KEY_UTF16_UNITS), "b".repeat(row_units)),
        ("\u{4e2d}".repeat(limits::KEY_UTF16_UNITS), "\u{e9}".repeat(row_units)),
        ("\u{1f600}".repeat(limits::KEY_UTF16_UNITS / 2), "\u{1f600}".repeat(row_units / 2)),
    ];
    for (partition, row) in &longest {
        let key = EntityKey::parse(partition, row)?;
        table.insert(DynamicEntity::new(key.clone())).await?;
        ensure_eq(table.get_key(&key).await?.map(|read| read.key), Some(key.clone()), "the longest key of a get")?;
        let found = table.rows(StoreQuery::new(KeyRange::entity(&key))).await?;
        ensure_eq(row_keys_of(&found), [row.as_str()], "the longest key of a query")?;
    }
    let paged = table.rows(StoreQuery { limit: Some(1), ..StoreQuery::new(KeyRange::ALL) }).await?;
    ensure_eq(paged.len(), longest.len(), "rows of the longest keys, a page each")
}
