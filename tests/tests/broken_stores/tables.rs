//! Table stores that break one guarantee each.

use std::collections::HashMap;
use std::sync::Mutex;

use async_trait::async_trait;
use table_core::query::{Comparison, Filter};
use table_core::store::{Page, Selection, StoreQuery};
use table_core::{
    Action, DynamicEntity, ETag, EntityKey, Error, ErrorKind, IfMatch, MemoryStore, Operation, Properties, Result,
    TableName, TableStore, Timestamp, Transaction, Value, Written,
};

use crate::expect_tables_caught;
use crate::wrapper::TableBreak;

/// A break of the page that a query gives.
macro_rules! break_page {
    ($name:ident, $guarantee:literal, $test:ident, |$query:ident, $page:ident| $body:expr) => {
        #[derive(Debug)]
        struct $name;

        #[async_trait]
        impl TableBreak for $name {
            async fn query(&self, s: &MemoryStore, t: &TableName, $query: &StoreQuery) -> Result<Page> {
                #[allow(unused_mut, reason = "not every break changes the page")]
                let mut $page = s.query(t, $query).await?;
                $body;
                Ok($page)
            }
        }

        #[tokio::test]
        async fn $test() {
            expect_tables_caught($name, $guarantee).await;
        }
    };
}

/// A break of the query before it reaches the store.
macro_rules! break_query {
    ($name:ident, $guarantee:literal, $test:ident, |$query:ident| $body:expr) => {
        #[derive(Debug)]
        struct $name;

        #[async_trait]
        impl TableBreak for $name {
            async fn query(&self, s: &MemoryStore, t: &TableName, query: &StoreQuery) -> Result<Page> {
                let mut $query = query.clone();
                $body;
                s.query(t, &$query).await
            }
        }

        #[tokio::test]
        async fn $test() {
            expect_tables_caught($name, $guarantee).await;
        }
    };
}

/// A break of single writes: another action, or another answer.
macro_rules! break_write {
    ($name:ident, $guarantee:literal, $test:ident, |$s:ident, $t:ident, $action:ident| $body:expr) => {
        #[derive(Debug)]
        struct $name;

        #[async_trait]
        impl TableBreak for $name {
            async fn write(&self, $s: &MemoryStore, $t: &TableName, o: Operation) -> Result<Written> {
                let $action = o.into_action();
                $body
            }
        }

        #[tokio::test]
        async fn $test() {
            expect_tables_caught($name, $guarantee).await;
        }
    };
}

/// A break of the values that are stored.
macro_rules! break_value {
    ($name:ident, $guarantee:literal, $test:ident, $change:expr) => {
        break_write!($name, $guarantee, $test, |s, t, action| {
            let change: fn(Value) -> Option<Value> = $change;
            s.write(t, Operation::new(with_entity(action, |entity| change_values(entity, change)))?).await
        });
    };
}

fn with_entity(action: Action, change: impl FnOnce(DynamicEntity) -> DynamicEntity) -> Action {
    match action {
        Action::Insert(entity) => Action::Insert(change(entity)),
        Action::Replace(entity, condition) => Action::Replace(change(entity), condition),
        Action::Merge(entity, condition) => Action::Merge(change(entity), condition),
        Action::InsertOrReplace(entity) => Action::InsertOrReplace(change(entity)),
        Action::InsertOrMerge(entity) => Action::InsertOrMerge(change(entity)),
        Action::Delete(..) => action,
    }
}

fn change_values(mut entity: DynamicEntity, change: fn(Value) -> Option<Value>) -> DynamicEntity {
    let values = entity.properties.drain().filter_map(|(name, value)| Some((name, change(value)?)));
    let values: Properties = values.collect();
    entity.properties = values;
    entity
}

/// Replaces every comparison and negation of a filter, from the leaves up.
fn rewrite(filter: Filter, change: fn(Filter) -> Filter) -> Filter {
    let all = |filters: Vec<Filter>| filters.into_iter().map(|each| rewrite(each, change)).collect();
    change(match filter {
        Filter::And(filters) => Filter::And(all(filters)),
        Filter::Or(filters) => Filter::Or(all(filters)),
        Filter::Not(inner) => Filter::Not(Box::new(rewrite(*inner, change))),
        compare @ Filter::Compare { .. } => compare,
    })
}

break_page!(Reversed, "Q1", rows_in_reverse, |_query, page| page.entities.reverse());
break_page!(ByCodePoint, "Q1", rows_by_code_point, |_query, page| page.entities.sort_by(|a, b| (
    a.key.partition.as_str(),
    a.key.row.as_str()
)
    .cmp(&(b.key.partition.as_str(), b.key.row.as_str()))));
break_page!(LosesRow, "P3", a_row_lost_at_the_end_of_a_page, |_query, page| if page.next.is_some() {
    page.entities.pop();
});
break_page!(DoublesRow, "P3", a_row_doubled_on_a_later_page, |query, page| if query.after.is_some()
    && page.entities.len() < query.page_size()
{
    page.entities.extend(page.entities.last().cloned());
});
break_page!(EndsOnEmpty, "P2", an_empty_page_that_ends_it, |_query, page| if page.entities.is_empty() {
    page.next = None;
});
break_page!(NumbersByType, "Q5", numbers_of_one_type_only, |query, page| if let Some(Filter::Compare {
    value: Value::Int32(_),
    ..
}) = &query.filter
{
    page.entities.retain(|row| matches!(row.get("V"), None | Some(Value::Int32(_))));
});

break_query!(LimitIgnored, "P1", a_limit_ignored, |query| query.limit = None);
break_query!(RangeIgnored, "Q2", a_range_of_rows_ignored, |query| query.range.row = table_core::keys::Span::ALL);
break_query!(FilterIgnored, "Q3", a_filter_ignored, |query| query.filter = None);
break_query!(QuerySelection, "R4", a_selection_ignored, |query| query.selection = Selection::All);
break_query!(NeOfMissing, "Q4", ne_true_of_a_missing_property, |query| {
    query.filter = query.filter.map(|filter| {
        rewrite(filter, |each| match each {
            Filter::Compare { field, comparison: Comparison::Ne, value } => {
                Filter::Not(Box::new(Filter::Compare { field, comparison: Comparison::Eq, value }))
            }
            other => other,
        })
    });
});
break_query!(NotOfMissing, "Q4", not_false_of_a_missing_property, |query| {
    query.filter = query.filter.map(|filter| {
        rewrite(filter, |each| match each {
            Filter::Not(inner) => match *inner {
                Filter::Compare { field, comparison: Comparison::Eq, value } => {
                    Filter::Compare { field, comparison: Comparison::Ne, value }
                }
                other => Filter::Not(Box::new(other)),
            },
            other => other,
        })
    });
});
break_query!(TextOfNumbers, "Q6", numbers_equal_to_texts, |query| {
    query.filter = query.filter.map(|filter| {
        rewrite(filter, |each| match &each {
            Filter::Compare { field, comparison, value: Value::Int32(number) } => {
                let text = Filter::compare(field.clone(), *comparison, number.to_string());
                Filter::Or(vec![each, text])
            }
            _ => each,
        })
    });
});
break_query!(JoinsMixed, "Q8", or_taken_for_and, |query| {
    query.filter = query.filter.map(|filter| {
        rewrite(filter, |each| match each {
            Filter::Or(filters) if !filters.is_empty() => Filter::And(filters),
            other => other,
        })
    });
});

break_write!(InsertOverwrites, "W1", an_insert_that_overwrites, |s, t, action| {
    let action = match action {
        Action::Insert(entity) => Action::InsertOrReplace(entity),
        other => other,
    };
    s.write(t, Operation::new(action)?).await
});
break_write!(ReplaceInserts, "W2", a_replace_that_inserts, |s, t, action| {
    let action = match action {
        Action::Replace(entity, IfMatch::Any) => Action::InsertOrReplace(entity),
        other => other,
    };
    s.write(t, Operation::new(action)?).await
});
break_write!(MergeReplaces, "W3", a_merge_that_replaces, |s, t, action| {
    let action = match action {
        Action::Merge(entity, condition) => Action::Replace(entity, condition),
        other => other,
    };
    s.write(t, Operation::new(action)?).await
});
break_write!(UpsertMerges, "W4", an_insert_or_replace_that_merges, |s, t, action| {
    let action = match action {
        Action::InsertOrReplace(entity) => Action::InsertOrMerge(entity),
        other => other,
    };
    s.write(t, Operation::new(action)?).await
});
break_write!(DeleteIfExists, "W6", a_delete_of_nothing_that_succeeds, |s, t, action| {
    let is_delete = matches!(action, Action::Delete(..));
    match s.write(t, Operation::new(action)?).await {
        Err(error) if is_delete && error.kind() == ErrorKind::NotFound => Ok(Written { etag: None }),
        result => result,
    }
});
break_write!(NoETag, "W7", a_write_that_answers_no_etag, |s, t, action| {
    s.write(t, Operation::new(action)?).await?;
    Ok(Written { etag: None })
});
break_write!(BareErrors, "W10", errors_without_place, |s, t, action| {
    let written = s.write(t, Operation::new(action)?).await;
    written.map_err(|error| Error::new(error.kind(), error.message()))
});
break_write!(ConditionIgnored, "E3", a_condition_ignored, |s, t, action| {
    let action = match action {
        Action::Replace(entity, _) => Action::Replace(entity, IfMatch::Any),
        Action::Merge(entity, _) => Action::Merge(entity, IfMatch::Any),
        Action::Delete(key, _) => Action::Delete(key, IfMatch::Any),
        other => other,
    };
    s.write(t, Operation::new(action)?).await
});
break_write!(ConditionFirst, "E4", a_condition_before_existence, |s, t, action| {
    let conditional = matches!(action.if_match(), Some(IfMatch::Version(_)));
    match s.write(t, Operation::new(action)?).await {
        Err(error) if conditional && error.kind() == ErrorKind::NotFound => Err(Error::precondition_failed("no")),
        result => result,
    }
});
break_write!(AnyMeansNone, "E5", any_version_refused, |s, t, action| {
    if matches!(action.if_match(), Some(IfMatch::Any)) {
        return Err(Error::precondition_failed("no"));
    }
    s.write(t, Operation::new(action)?).await
});
break_write!(LargeMerges, "L2", a_merge_without_limit, |s, t, action| {
    match s.write(t, Operation::new(action)?).await {
        Err(error) if error.kind() == ErrorKind::LimitExceeded => Ok(Written { etag: None }),
        result => result,
    }
});

break_value!(WideAsDouble, "V1", int64_through_a_double, |value| match value {
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "that is the break")]
    Value::Int64(number) => Some(Value::Int64(number as f64 as i64)),
    other => Some(other),
});
break_value!(Milliseconds, "V1", times_cut_to_milliseconds, |value| match value {
    Value::DateTime(at) => Timestamp::from_ticks(at.ticks() / 10_000 * 10_000).ok().map(Value::DateTime),
    other => Some(other),
});
break_value!(TypesLost, "V1", guids_as_text, |value| match value {
    Value::Guid(guid) => Some(Value::String(guid.to_string())),
    other => Some(other),
});
break_value!(EmptyIsAbsent, "V2", empty_text_dropped, |value| Some(value).filter(|value| value.as_str() != Some("")));

/// The operations of a transaction one by one.
#[derive(Debug)]
struct OneByOne;

#[async_trait]
impl TableBreak for OneByOne {
    async fn transact(&self, s: &MemoryStore, t: &TableName, x: Transaction) -> Result<Vec<Written>> {
        let mut written = Vec::new();
        for (index, operation) in x.into_operations().into_iter().enumerate() {
            written.push(s.write(t, operation).await.map_err(|error| error.with_operation_index(index))?);
        }
        Ok(written)
    }
}

#[tokio::test]
async fn a_transaction_done_one_by_one() {
    expect_tables_caught(OneByOne, "X1").await;
}

/// The failing operation is always said to be the first.
#[derive(Debug)]
struct WrongIndex;

#[async_trait]
impl TableBreak for WrongIndex {
    async fn transact(&self, s: &MemoryStore, t: &TableName, x: Transaction) -> Result<Vec<Written>> {
        s.transact(t, x).await.map_err(|error| error.with_operation_index(0))
    }
}

#[tokio::test]
async fn a_transaction_that_blames_the_first() {
    expect_tables_caught(WrongIndex, "X2").await;
}

/// The answers of a transaction the other way round.
#[derive(Debug)]
struct AnswersReversed;

#[async_trait]
impl TableBreak for AnswersReversed {
    async fn transact(&self, s: &MemoryStore, t: &TableName, x: Transaction) -> Result<Vec<Written>> {
        let mut written = s.transact(t, x).await?;
        written.reverse();
        Ok(written)
    }
}

#[tokio::test]
async fn answers_in_reverse() {
    expect_tables_caught(AnswersReversed, "X3").await;
}

/// Conditions within a transaction are not looked at.
#[derive(Debug)]
struct Unconditional;

#[async_trait]
impl TableBreak for Unconditional {
    async fn transact(&self, s: &MemoryStore, t: &TableName, x: Transaction) -> Result<Vec<Written>> {
        let any = |action| match action {
            Action::Replace(entity, _) => Action::Replace(entity, IfMatch::Any),
            Action::Merge(entity, _) => Action::Merge(entity, IfMatch::Any),
            Action::Delete(key, _) => Action::Delete(key, IfMatch::Any),
            other => other,
        };
        let operations = x.into_operations().into_iter().map(|each| Operation::new(any(each.into_action())));
        s.transact(t, Transaction::new(operations.collect::<Result<_>>()?)?).await
    }
}

#[tokio::test]
async fn a_transaction_without_conditions() {
    expect_tables_caught(Unconditional, "X4").await;
}

/// ETags in whole seconds, which repeat when writes are quick.
#[derive(Debug)]
struct CoarseETags;

fn coarse(etag: Option<ETag>) -> Option<ETag> {
    let at = etag?.timestamp()?;
    Timestamp::from_ticks(at.ticks() / 10_000_000 * 10_000_000).ok().map(ETag::from_timestamp)
}

#[async_trait]
impl TableBreak for CoarseETags {
    async fn get(&self, s: &MemoryStore, t: &TableName, k: &EntityKey, e: &Selection) -> Result<Option<DynamicEntity>> {
        let read = s.get(t, k, e).await?;
        Ok(read.map(|row| DynamicEntity { etag: coarse(row.etag.clone()), ..row }))
    }

    async fn write(&self, s: &MemoryStore, t: &TableName, o: Operation) -> Result<Written> {
        let written = s.write(t, o).await?;
        Ok(Written { etag: coarse(written.etag) })
    }
}

#[tokio::test]
async fn etags_that_repeat() {
    expect_tables_caught(CoarseETags, "E1").await;
    expect_tables_caught(CoarseETags, "E2").await;
}

/// The first read of a row is given for ever.
#[derive(Debug, Default)]
struct Cached(Mutex<HashMap<(TableName, EntityKey), Option<DynamicEntity>>>);

#[async_trait]
impl TableBreak for Cached {
    async fn get(&self, s: &MemoryStore, t: &TableName, k: &EntityKey, e: &Selection) -> Result<Option<DynamicEntity>> {
        let fresh = s.get(t, k, e).await?;
        Ok(self.0.lock().unwrap().entry((t.clone(), k.clone())).or_insert(fresh).clone())
    }
}

#[tokio::test]
async fn reads_from_a_stale_cache() {
    expect_tables_caught(Cached::default(), "R3").await;
}

/// Keys that are changed on their way to the store, back and forth.
macro_rules! break_keys {
    ($name:ident, $guarantee:literal, $test:ident, $change:expr) => {
        #[derive(Debug)]
        struct $name;

        impl $name {
            fn key(key: &EntityKey) -> Result<EntityKey> {
                let change: fn(&str) -> String = $change;
                EntityKey::parse(&change(key.partition.as_str()), &change(key.row.as_str()))
            }
        }

        #[async_trait]
        impl TableBreak for $name {
            async fn get(
                &self,
                s: &MemoryStore,
                t: &TableName,
                k: &EntityKey,
                e: &Selection,
            ) -> Result<Option<DynamicEntity>> {
                s.get(t, &Self::key(k)?, e).await
            }

            async fn write(&self, s: &MemoryStore, t: &TableName, o: Operation) -> Result<Written> {
                let action = match o.into_action() {
                    Action::Delete(key, condition) => Action::Delete(Self::key(&key)?, condition),
                    other => {
                        let key = Self::key(other.key())?;
                        with_entity(other, |entity| DynamicEntity { key, ..entity })
                    }
                };
                s.write(t, Operation::new(action)?).await
            }
        }

        #[tokio::test]
        async fn $test() {
            expect_tables_caught($name, $guarantee).await;
        }
    };
}

break_keys!(PlusIsSpace, "K1", plus_signs_read_as_spaces, |text| text.replace('+', " "));
break_keys!(Unescaped, "K1", percent_signs_unescaped, |text| text.replace("%25", "%"));
break_keys!(Folded, "K2", keys_without_case, |text| text.to_lowercase());

/// Table names with case: each way to write a name is another table.
#[derive(Debug)]
struct NamesWithCase;

impl TableBreak for NamesWithCase {
    fn name(&self, table: &TableName) -> TableName {
        let capitals = table.as_str().bytes().filter(u8::is_ascii_uppercase).count();
        TableName::new(format!("{table}x{capitals}")).unwrap()
    }
}

#[tokio::test]
async fn table_names_with_case() {
    expect_tables_caught(NamesWithCase, "T3").await;
}

/// A continuation that makes no sense begins anew.
#[derive(Debug)]
struct JunkAccepted;

#[async_trait]
impl TableBreak for JunkAccepted {
    async fn query(&self, s: &MemoryStore, t: &TableName, q: &StoreQuery) -> Result<Page> {
        match s.query(t, q).await {
            Err(error) if error.kind() == ErrorKind::InvalidQuery && q.after.is_some() => {
                s.query(t, &StoreQuery { after: None, ..q.clone() }).await
            }
            result => result,
        }
    }
}

#[tokio::test]
async fn junk_continuations_accepted() {
    expect_tables_caught(JunkAccepted, "P5").await;
}
