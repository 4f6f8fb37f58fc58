//! Random calls on tables: few names, keys and values, so that they meet.

use std::ops::Bound;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use table_core::keys::{KeyRange, Span};
use table_core::query::{Comparison, Field, Filter};
use table_core::{DynamicEntity, EntityKey, PropertyName, Timestamp, Value};
use uuid::Uuid;

const TABLES: [&str; 4] = ["Staff", "STAFF", "Teams", "Rooms"];
const PARTITIONS: [&str; 5] = ["", "a", "a!", "\u{1f600}", "\u{e000}"];
const ROWS: [&str; 8] = ["", "1", "10", "2", "\u{e9}", "\u{1f600}", "\u{1f600}1", "\u{e000}"];
const NAMES: [&str; 3] = ["A", "B", "a"];

/// One call.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Create(&'static str),
    Drop(&'static str),
    List,
    Write(&'static str, EntityKey, Write),
    Transact(&'static str, &'static str, Vec<(&'static str, Write)>),
    Get(&'static str, EntityKey, Option<Vec<&'static str>>),
    Query(&'static str, Search),
    /// A query of several pages, with these writes between two pages.
    Interrupted(&'static str, Search, Vec<(EntityKey, Write)>),
    /// Moves the clock by so many ticks, backwards too.
    Clock(i64),
}

/// What a write does to its row.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    pub(crate) kind: Kind,
    pub(crate) properties: Vec<(&'static str, Value)>,
    pub(crate) condition: Condition,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Insert,
    Replace,
    Merge,
    InsertOrReplace,
    InsertOrMerge,
    Delete,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Condition {
    Any,
    /// The version that the row has, or had last.
    Current,
    /// Some version that some row had once.
    Old(prop::sample::Index),
}

/// A query.
#[derive(Debug, Clone)]
pub(crate) struct Search {
    pub(crate) range: KeyRange,
    pub(crate) filter: Option<Filter>,
    pub(crate) selection: Option<Vec<&'static str>>,
    pub(crate) limit: Option<usize>,
}

impl Write {
    pub(crate) fn entity(&self, key: EntityKey) -> DynamicEntity {
        self.properties
            .iter()
            .fold(DynamicEntity::new(key), |row, (name, value)| row.with(name, value.clone()).unwrap())
    }
}

fn key() -> impl Strategy<Value = EntityKey> {
    (select(&PARTITIONS[..]), select(&ROWS[..])).prop_map(|(partition, row)| EntityKey::parse(partition, row).unwrap())
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-1..3_i32).prop_map(Value::from),
        (-1..3_i64).prop_map(Value::from),
        select(&[-0.0, 0.0, 0.5, 1.0, 2.0, f64::NAN, f64::INFINITY][..]).prop_map(Value::from),
        select(&["", "1", "a", "A", "\u{e9}", "\u{1f600}", "\u{e000}"][..]).prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        vec(0..3_u8, 0..3).prop_map(Value::from),
        (0..3_u128).prop_map(|bits| Value::from(Uuid::from_u128(bits))),
        (0..3_i64)
            .prop_map(|ticks| { Value::from(Timestamp::from_ticks(Timestamp::UNIX_EPOCH.ticks() + ticks).unwrap()) }),
    ]
}

fn write() -> impl Strategy<Value = Write> {
    use Kind::{Delete, Insert, InsertOrMerge, InsertOrReplace, Merge, Replace};
    let kind = select(&[Insert, Replace, Merge, InsertOrReplace, InsertOrMerge, Delete][..]);
    let condition = prop_oneof![
        2 => Just(Condition::Any),
        3 => Just(Condition::Current),
        1 => any::<prop::sample::Index>().prop_map(Condition::Old),
    ];
    let properties = btree_map(select(&NAMES[..]), value(), 0..3);
    (kind, properties, condition).prop_map(|(kind, properties, condition)| Write {
        kind,
        properties: properties.into_iter().collect(),
        condition,
    })
}

fn bound(texts: &'static [&'static str]) -> impl Strategy<Value = Bound<&'static str>> {
    prop_oneof![
        Just(Bound::Unbounded),
        select(texts).prop_map(Bound::Included),
        select(texts).prop_map(Bound::Excluded),
    ]
}

fn span(texts: &'static [&'static str]) -> impl Strategy<Value = Span> {
    prop_oneof![
        Just(Span::ALL),
        select(texts).prop_map(Span::exact),
        select(texts).prop_map(Span::prefix),
        (bound(texts), bound(texts)).prop_map(|(lower, upper)| Span::new(lower.map(Into::into), upper.map(Into::into))),
    ]
}

fn filter() -> impl Strategy<Value = Filter> {
    use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};
    let property = select(&NAMES[..]).prop_map(|name| Field::Property(PropertyName::new(name).unwrap()));
    let field = prop_oneof![6 => property, 1 => Just(Field::RowKey), 1 => Just(Field::PartitionKey)];
    let leaf = (field, select(&[Eq, Ne, Gt, Ge, Lt, Le][..]), value())
        .prop_map(|(field, comparison, value)| Filter::compare(field, comparison, value));
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Filter::And),
            vec(inner.clone(), 0..3).prop_map(Filter::Or),
            inner.prop_map(|filter| Filter::Not(Box::new(filter))),
        ]
    })
}

fn selection() -> impl Strategy<Value = Option<Vec<&'static str>>> {
    option::of(vec(select(&NAMES[..]), 0..3))
}

fn search() -> impl Strategy<Value = Search> {
    let range = (span(&PARTITIONS), span(&ROWS)).prop_map(|(partition, row)| KeyRange { partition, row });
    (range, option::of(filter()), selection(), option::of(1..6_usize))
        .prop_map(|(range, filter, selection, limit)| Search { range, filter, selection, limit })
}

fn step() -> impl Strategy<Value = Step> {
    let table = || select(&TABLES[..]);
    let operations = btree_map(select(&ROWS[..]), write(), 1..6);
    prop_oneof![
        2 => table().prop_map(Step::Create),
        1 => table().prop_map(Step::Drop),
        1 => Just(Step::List),
        20 => (table(), key(), write()).prop_map(|(table, key, write)| Step::Write(table, key, write)),
        10 => (table(), select(&PARTITIONS[..]), operations).prop_map(|(table, partition, operations)| {
            Step::Transact(table, partition, operations.into_iter().collect())
        }),
        5 => (table(), key(), selection()).prop_map(|(table, key, selection)| Step::Get(table, key, selection)),
        8 => (table(), search()).prop_map(|(table, search)| Step::Query(table, search)),
        4 => (table(), search(), vec((key(), write()), 1..8))
            .prop_map(|(table, search, writes)| Step::Interrupted(table, search, writes)),
        2 => (-50..50_i64).prop_map(Step::Clock),
    ]
}

/// A run of calls on tables of which two are there from the start.
pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    vec(step(), 1..80)
        .prop_map(|steps| [Step::Create("Staff"), Step::Create("Teams")].into_iter().chain(steps).collect())
}
