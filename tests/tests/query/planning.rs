//! Plans: the guide's cost classes, and that a plan reads exactly what its filter says.

use std::collections::BTreeMap;

use proptest::prelude::*;
use table_core::keys::{KeyRange, Span};
use table_core::query::{Comparison, CostClass, Field, Filter, Plan, Step};
use table_core::{DynamicEntity, EntityKey, ErrorKind, PropertyName, Query, Value};

fn plan(text: &str) -> Plan {
    Plan::new(&text.parse().unwrap(), &KeyRange::ALL).unwrap()
}

/// The filters of a plan's ranges, with what is left to check after a bar.
fn reads(text: &str) -> Vec<String> {
    let left = |step: &Step| step.filter.as_ref().map(|filter| format!(" | {filter}")).unwrap_or_default();
    plan(text).steps().iter().map(|step| format!("{}{}", Filter::from(&step.range), left(step))).collect()
}

#[test]
fn the_guides_filters_have_the_guides_classes() {
    use CostClass::{MultiRange, PartitionScan, Point, Range, TableScan};
    let guide = [
        ("(PartitionKey eq 'Sales') and (RowKey eq '2')", Point),
        ("PartitionKey eq 'Sales' and RowKey ge 'S' and RowKey lt 'T'", Range),
        ("PartitionKey eq 'Sales' and LastName eq 'Smith'", PartitionScan),
        ("LastName eq 'Jones'", TableScan),
        ("PartitionKey eq 'Sales' and (RowKey eq '121' or RowKey eq '322')", MultiRange),
        ("(PartitionKey eq 'Sales') and (RowKey eq 'empid_000223')", Point),
        ("(PartitionKey eq 'Sales') and (RowKey eq 'email_jonesj@contoso.com')", Point),
        ("(PartitionKey eq 'Sales') and (RowKey ge 'empid_000100') and (RowKey le 'empid_000199')", Range),
        ("(PartitionKey eq 'Sales') and (RowKey ge 'email_a') and (RowKey lt 'email_b')", Range),
        ("(PartitionKey eq 'empid_Sales') and (RowKey eq '000223')", Point),
        ("(PartitionKey eq 'email_Sales') and (RowKey eq 'jonesj@contoso.com')", Point),
        ("(PartitionKey eq 'empid_Sales') and (RowKey ge '000100') and (RowKey le '000199')", Range),
        ("(PartitionKey eq 'email_Sales') and (RowKey ge 'a') and (RowKey lt 'b')", Range),
        ("(PartitionKey eq 'Sales') and (RowKey ge 'empid_000123') and (RowKey lt 'empid_000124')", Range),
        ("PartitionKey eq 'Sales'", PartitionScan),
        ("PartitionKey eq 'Sales' and RowKey ge 'B' and RowKey lt 'C'", Range),
    ];
    for (text, class) in guide {
        assert_eq!(plan(text).class(), class, "{text}");
    }
}

#[test]
fn classes_beyond_the_guide() {
    use CostClass::{Empty, MultiRange, PartitionScan, Point, Range, TableScan};
    let more = [
        ("PartitionKey eq 'S' and RowKey eq '1' and Age gt 3", Point),
        ("PartitionKey eq 'S' and RowKey ge 'a' and Age gt 3", Range),
        ("PartitionKey eq 'S' and RowKey ge ''", PartitionScan),
        ("RowKey eq '1'", TableScan),
        ("PartitionKey ge 'a' and PartitionKey lt 'b'", TableScan),
        ("PartitionKey ge 'a' and PartitionKey le 'a' and RowKey eq '1'", Point),
        ("PartitionKey eq 'a' and RowKey eq '1' or PartitionKey eq 'b' and RowKey eq '1'", MultiRange),
        ("(PartitionKey eq 'a' or PartitionKey eq 'b') and (RowKey eq '1' or RowKey eq '2')", MultiRange),
        ("PartitionKey eq 'a' or PartitionKey eq 'b'", PartitionScan),
        ("PartitionKey eq 'a' and RowKey eq '1' or PartitionKey eq 'b'", PartitionScan),
        ("PartitionKey eq 'a' and RowKey eq '1' or Age gt 3", TableScan),
        ("PartitionKey eq 'a' and (RowKey eq '1' or Age gt 3)", PartitionScan),
        ("PartitionKey eq 'a' and RowKey ne '1'", MultiRange),
        ("PartitionKey eq 'a' and not (RowKey lt '1')", Range),
        ("PartitionKey eq 'a' and (RowKey lt 'm' or RowKey ge 'm')", PartitionScan),
        ("PartitionKey eq 'a' and (RowKey lt 'm' or RowKey ge 'c')", PartitionScan),
        ("PartitionKey eq 'a' and PartitionKey eq 'b'", Empty),
        ("PartitionKey eq 'a' and RowKey lt ''", Empty),
        ("false", Empty),
        ("true", TableScan),
    ];
    for (text, class) in more {
        assert_eq!(plan(text).class(), class, "{text}");
    }
}

#[test]
fn ranges_take_over_what_they_say() {
    let plans: [(&str, &[&str]); 6] = [
        (
            "PartitionKey eq 'S' and RowKey ge 'a' and RowKey lt 'b' and Age gt 3",
            &["PartitionKey eq 'S' and RowKey ge 'a' and RowKey lt 'b' | Age gt 3"],
        ),
        (
            "PartitionKey eq 'S' and (RowKey eq '1' and A or RowKey eq '2' and B)",
            &["PartitionKey eq 'S' and RowKey eq '1' | A eq true", "PartitionKey eq 'S' and RowKey eq '2' | B eq true"],
        ),
        (
            "PartitionKey eq 'S' and (RowKey le 'b' or RowKey gt 'b' and RowKey lt 'c' or RowKey eq 'x')",
            &["PartitionKey eq 'S' and RowKey lt 'c'", "PartitionKey eq 'S' and RowKey eq 'x'"],
        ),
        (
            "PartitionKey ge 'a' and (RowKey eq '1' or RowKey eq '3')",
            &["PartitionKey ge 'a' and RowKey ge '1' and RowKey le '3' | RowKey eq '1' or RowKey eq '3'"],
        ),
        ("not (PartitionKey ne 'S' or RowKey ne '1')", &["PartitionKey eq 'S' and RowKey eq '1'"]),
        (
            "PartitionKey eq 'b' and (RowKey eq '1' or RowKey eq '3') or PartitionKey ge 'b' and RowKey eq '2'",
            &[
                "PartitionKey ge 'b' and RowKey ge '1' and RowKey le '3' | PartitionKey eq 'b' and (RowKey eq '1' or RowKey eq '3') or RowKey eq '2'",
            ],
        ),
    ];
    for (text, expected) in plans {
        assert_eq!(reads(text), expected, "{text}");
    }
}

#[test]
fn a_key_never_equals_what_is_no_text() {
    let filter = Filter::compare(Field::RowKey, Comparison::Ne, 1);
    assert_eq!(Plan::new(&filter, &KeyRange::ALL).unwrap().class(), CostClass::Empty);
    let all = Plan::new(&filter.negated(), &KeyRange::ALL).unwrap();
    assert_eq!(all.steps(), [Step { range: KeyRange::ALL, filter: None }]);
}

#[test]
fn too_many_ranges_are_refused() {
    let keys = |count: usize| (0..count).map(|key| format!("RowKey eq '{key:03}'")).collect::<Vec<_>>().join(" or ");
    let text = |count| format!("PartitionKey eq 'a' and ({})", keys(count));
    assert_eq!(plan(&text(128)).steps().len(), 128);
    let error = Plan::new(&text(129).parse().unwrap(), &KeyRange::ALL).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert!(error.message().contains("stream_many"));
}

#[test]
fn an_explanation_reads_well() {
    let query = Query::<DynamicEntity>::all().filter_odata("PartitionKey eq 'Sales' and Age ge 40").top(3);
    assert_eq!(
        query.explain().unwrap().to_string(),
        "PartitionScan: every row of the partitions that are named; refused without allow_scan()\n  \
         read    PartitionKey eq 'Sales' and Age ge 40\n  select  all properties\n  top     3"
    );
    let query = Query::<DynamicEntity>::all().in_table(Some("Elsewhere")).allow_scan();
    assert_eq!(
        query.explain().unwrap().to_string(),
        "TableScan: every partition in turn\n  table   Elsewhere\n  read    every row\n  select  all properties"
    );
    let query = Query::<DynamicEntity>::all().filter_odata("false");
    assert_eq!(
        query.explain().unwrap().to_string(),
        "Empty: no key can match, so nothing is read\n  select  all properties"
    );
}

/// A row as the naive evaluator sees it: names and values.
type Naive = BTreeMap<String, Value>;

/// Says the same as `Filter::matches`, from the words of the contract alone.
fn naive(filter: &Filter, row: &Naive) -> bool {
    let number = |value: &Value| match value {
        Value::Int32(number) => Some(f64::from(*number)),
        #[expect(clippy::cast_precision_loss, reason = "the test's numbers are small")]
        Value::Int64(number) => Some(*number as f64),
        Value::Double(number) => Some(*number),
        _ => None,
    };
    match filter {
        Filter::Compare { field, comparison, value } => {
            let Some(found) = row.get(field.as_str()) else { return false };
            let ordering = match (found, value) {
                (Value::String(a), Value::String(b)) => {
                    Some(a.encode_utf16().collect::<Vec<_>>().cmp(&b.encode_utf16().collect()))
                }
                (Value::Boolean(a), Value::Boolean(b)) => Some(u8::from(*a).cmp(&u8::from(*b))),
                (a, b) => number(a).zip(number(b)).and_then(|(a, b)| a.partial_cmp(&b)),
            };
            match (ordering, comparison) {
                (None, _) => false,
                (Some(ordering), Comparison::Eq) => ordering.is_eq(),
                (Some(ordering), Comparison::Ne) => ordering.is_ne(),
                (Some(ordering), Comparison::Gt) => ordering.is_gt(),
                (Some(ordering), Comparison::Ge) => ordering.is_ge(),
                (Some(ordering), Comparison::Lt) => ordering.is_lt(),
                (Some(ordering), Comparison::Le) => ordering.is_le(),
            }
        }
        Filter::And(all) => !all.iter().any(|each| !naive(each, row)),
        Filter::Or(any) => any.iter().filter(|each| naive(each, row)).count() > 0,
        Filter::Not(inner) => !naive(inner, row),
    }
}

const KEYS: [&str; 9] = ["", "a", "a!", "ab", "b", "b_", "c", "\u{e000}", "\u{10000}"];

fn key_texts() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&KEYS[..])
}

fn small_values() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0..3_i32).prop_map(Value::from),
        (0..3_i64).prop_map(Value::from),
        prop::sample::select(&[0.0, 0.5, 1.0, f64::NAN][..]).prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        key_texts().prop_map(Value::from),
    ]
}

pub(crate) fn small_filters() -> impl Strategy<Value = Filter> {
    use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};
    let comparison = || prop::sample::select(&[Eq, Ne, Gt, Ge, Lt, Le][..]);
    let keys = (prop::sample::select(&[Field::PartitionKey, Field::RowKey][..]), comparison(), key_texts())
        .prop_map(|(field, how, text)| Filter::compare(field, how, text));
    let properties = (prop::sample::select(&["A", "B"][..]), comparison(), small_values())
        .prop_map(|(name, how, value)| Filter::compare(Field::Property(PropertyName::new(name).unwrap()), how, value));
    let wrong = (comparison(), small_values()).prop_map(|(how, value)| Filter::compare(Field::RowKey, how, value));
    prop_oneof![8 => keys, 3 => properties, 1 => wrong].prop_recursive(4, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Filter::And),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Filter::Or),
            inner.prop_map(|filter| Filter::Not(Box::new(filter))),
        ]
    })
}

pub(crate) fn small_rows() -> impl Strategy<Value = DynamicEntity> {
    let properties = prop::collection::btree_map(prop::sample::select(&["A", "B"][..]), small_values(), 0..3);
    (key_texts(), key_texts(), properties).prop_map(|(partition, row, properties)| {
        let mut entity = DynamicEntity::new(EntityKey::parse(partition, row).unwrap());
        for (name, value) in properties {
            entity.set(name, value).unwrap();
        }
        entity
    })
}

fn as_naive(row: &DynamicEntity) -> Naive {
    let mut naive: Naive = row.properties.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    naive.insert("PartitionKey".into(), row.key.partition.as_str().into());
    naive.insert("RowKey".into(), row.key.row.as_str().into());
    naive
}

fn spans() -> impl Strategy<Value = Span> {
    prop_oneof![Just(Span::ALL), key_texts().prop_map(Span::exact), key_texts().prop_map(Span::prefix)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn filters_say_what_the_naive_evaluator_says(filter in small_filters(), row in small_rows()) {
        prop_assert_eq!(filter.matches(&row), naive(&filter, &as_naive(&row)), "{}", filter);
        prop_assert_eq!(filter.clone().normalised().matches(&row), filter.matches(&row));
    }

    #[test]
    fn a_plan_reads_exactly_what_its_filter_says(
        filter in small_filters(),
        partition in spans(),
        row in spans(),
        rows in prop::collection::vec(small_rows(), 1..20),
    ) {
        let within = KeyRange { partition, row };
        let plan = Plan::new(&filter, &within).unwrap();
        let mut rows = rows;
        rows.sort_by(|a, b| a.key.cmp(&b.key));
        let mut last = 0;
        for row in rows {
            let inside: Vec<_> = plan.steps().iter().enumerate()
                .filter(|(_, step)| step.range.contains(&row.key.partition, &row.key.row)).collect();
            prop_assert!(inside.len() <= 1, "ranges overlap at {}", row.key);
            let read = inside.iter().any(|(_, step)| step.filter.as_ref().is_none_or(|left| left.matches(&row)));
            let wanted = within.contains(&row.key.partition, &row.key.row) && naive(&filter, &as_naive(&row));
            prop_assert_eq!(read, wanted, "{} at {}", filter, row.key);
            if let Some((position, _)) = inside.first() {
                prop_assert!(*position >= last, "ranges are not in key order at {}", row.key);
                last = *position;
            }
        }
        for step in plan.steps() {
            prop_assert!(!step.range.is_empty());
            prop_assert!(step.filter.as_ref().is_none_or(|left| *left == left.clone().normalised()));
        }
    }
}
