//! Conditions on key fields: what becomes a range, what is refused, and that ranges are exact.

use proptest::prelude::*;
use table_core::query::{CostClass, Predicate};
use table_core::{Entity, ErrorKind, Query};

use crate::support::Visit;

fn explain(predicate: Predicate<Visit>) -> String {
    let explain = Query::all().filter(predicate).explain().unwrap();
    let filters: Vec<_> = explain.filters().map(|filter| filter.to_string()).collect();
    format!("{}: {}", explain.class(), filters.join(" // "))
}

fn refusal(predicate: Predicate<Visit>) -> String {
    let error = Query::all().filter(predicate).explain().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidQuery);
    error.to_string()
}

fn in_sales() -> Predicate<Visit> {
    Visit::REGION.eq("Sales") & Visit::TEAM.eq(1)
}

#[test]
fn all_parts_fixed_are_a_point() {
    let all = in_sales() & Visit::CUSTOMER.eq("a_b") & Visit::FLOOR.eq(-1) & Visit::VIP.eq(true) & Visit::NOTE.eq("x");
    assert_eq!(explain(all), "Point: PartitionKey eq 'Sales_001' and RowKey eq 'v_a^~b_n998true_x'");
}

#[test]
fn leading_parts_and_a_range_are_a_range() {
    let at_floor = |floor: Predicate<Visit>| explain(in_sales() & Visit::CUSTOMER.eq("c") & floor);
    assert_eq!(
        at_floor(Visit::FLOOR.ge(2)),
        "Range: PartitionKey eq 'Sales_001' and RowKey ge 'v_c_p002' and RowKey lt 'v_c`'"
    );
    assert_eq!(
        at_floor(Visit::FLOOR.gt(2) & Visit::FLOOR.lt(9)),
        "Range: PartitionKey eq 'Sales_001' and RowKey ge 'v_c_p003' and RowKey lt 'v_c_p009'"
    );
    assert_eq!(
        explain(in_sales() & Visit::CUSTOMER.prefix("jo")),
        "Range: PartitionKey eq 'Sales_001' and RowKey ge 'v_jo' and RowKey lt 'v_jp'"
    );
    assert_eq!(explain(in_sales()), "Range: PartitionKey eq 'Sales_001' and RowKey ge 'v_' and RowKey lt 'v`'");
    assert_eq!(
        at_floor(Visit::FLOOR.eq(1) & Visit::AGE.ge(40)),
        "Range: PartitionKey eq 'Sales_001' and RowKey ge 'v_c_p001' and RowKey lt 'v_c_p002' and Age ge 40"
    );
}

#[test]
fn alternatives_are_several_ranges() {
    let either = Visit::CUSTOMER.eq("a") | Visit::CUSTOMER.eq("b");
    assert_eq!(
        explain(in_sales() & either),
        "MultiRange: PartitionKey eq 'Sales_001' and RowKey ge 'v_a_' and RowKey lt 'v_a`' // \
         PartitionKey eq 'Sales_001' and RowKey ge 'v_b_' and RowKey lt 'v_b`'"
    );
    assert_eq!(
        explain(in_sales() & Visit::CUSTOMER.ne("a")),
        "MultiRange: PartitionKey eq 'Sales_001' and RowKey ge 'v_' and RowKey lt 'v_a_' // \
         PartitionKey eq 'Sales_001' and RowKey ge 'v_a`' and RowKey lt 'v`'"
    );
    assert_eq!(explain(in_sales() & !Visit::CUSTOMER.ne("a")), explain(in_sales() & Visit::CUSTOMER.eq("a")));
}

#[test]
fn a_row_without_its_partition_is_a_bounded_scan() {
    assert_eq!(explain(Visit::CUSTOMER.eq("a")), "TableScan: RowKey ge 'v_a_' and RowKey lt 'v_a`'");
    assert_eq!(
        explain(Visit::REGION.eq("Sales")),
        "TableScan: PartitionKey ge 'Sales_' and PartitionKey lt 'Sales`' and RowKey ge 'v_' and RowKey lt 'v`'"
    );
}

#[test]
fn contradictions_read_nothing() {
    for predicate in [
        in_sales() & Visit::TEAM.eq(2),
        in_sales() & Visit::TEAM.lt(1),
        in_sales() & Visit::REGION.prefix("T"),
        in_sales() & Visit::CUSTOMER.eq("c") & Visit::FLOOR.gt(2) & Visit::FLOOR.lt(2),
        in_sales() & Visit::CUSTOMER.eq("c") & !Visit::CUSTOMER.eq("c"),
    ] {
        assert_eq!(explain(predicate), "Empty: ");
    }
}

#[test]
fn conditions_of_several_filters_are_one() {
    let query = Query::<Visit>::all()
        .filter(Visit::FLOOR.eq(2))
        .filter(Visit::CUSTOMER.eq("c"))
        .filter(in_sales())
        .filter_odata("Age ge 40");
    let explain = query.explain().unwrap();
    assert_eq!(explain.class(), CostClass::Range);
    assert_eq!(explain.steps()[0].filter, Some("Age ge 40".parse().unwrap()));
}

#[test]
fn what_keys_cannot_say_is_refused_with_a_hint() {
    assert_eq!(
        refusal(in_sales() & Visit::FLOOR.eq(1)),
        "invalid query: the row key v_{customer}_{floor}{vip}_{note} sorts by floor only where customer is fixed; \
         add a condition that customer equals one value (property floor)"
    );
    assert!(refusal(in_sales() & Visit::CUSTOMER.prefix("a") & Visit::FLOOR.eq(1)).contains("where customer is fixed"));
    assert!(refusal(Visit::TEAM.eq(1)).contains("the partition key {region}_{team} sorts by team only where region"));
    assert!(refusal(in_sales() & Visit::CUSTOMER.ge("a")).contains("rows do not sort by the text customer"));
    assert!(
        refusal(Visit::CUSTOMER.eq("c") & (Visit::FLOOR.eq(1) & Visit::NOTE.eq("n"))).contains("where vip is fixed")
    );
}

#[test]
fn a_value_that_no_key_can_hold_is_an_error_of_the_query() {
    let error = Query::all().filter(Visit::REGION.eq("\u{7}") & Visit::TEAM.eq(1)).explain().unwrap_err();
    assert_eq!((error.kind(), error.property()), (ErrorKind::InvalidKey, Some("region")));
}

#[test]
fn too_many_alternatives_are_refused() {
    let any = (0..129).fold(None, |any: Option<Predicate<Visit>>, name| {
        let one = Visit::CUSTOMER.eq(format!("{name:03}"));
        Some(any.map_or(one.clone(), |any| any | one))
    });
    let error = Query::all().filter(in_sales() & any.unwrap()).explain().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
}

/// A condition as the test writes it, to be built and to be evaluated on fields.
#[derive(Debug, Clone)]
enum Cond {
    Region(Op, String),
    Team(Op, u8),
    Customer(Op, String),
    Floor(Op, i8),
    Vip(Op, bool),
    Note(Op, String),
    Age(Op, i32),
    And(Vec<Cond>),
    Or(Vec<Cond>),
    Not(Box<Cond>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Op {
    Eq,
    Ne,
    Gt,
    Ge,
    Lt,
    Le,
    Prefix,
}

macro_rules! build {
    ($column:expr, $op:expr, $value:expr, $prefix:expr) => {
        match $op {
            Op::Eq => $column.eq($value),
            Op::Ne => $column.ne($value),
            Op::Gt => $column.gt($value),
            Op::Ge => $column.ge($value),
            Op::Lt => $column.lt($value),
            Op::Le => $column.le($value),
            Op::Prefix => $prefix,
        }
    };
}

impl Cond {
    fn predicate(&self) -> Predicate<Visit> {
        let join = |all: &[Self], join: fn(Predicate<Visit>, Predicate<Visit>) -> Predicate<Visit>| {
            all.iter().map(Self::predicate).reduce(join).expect("never empty")
        };
        match self {
            Self::Region(op, text) => build!(Visit::REGION, op, text.as_str(), Visit::REGION.prefix(text)),
            Self::Team(op, number) => build!(Visit::TEAM, op, number, Visit::TEAM.eq(number)),
            Self::Customer(op, text) => build!(Visit::CUSTOMER, op, text.as_str(), Visit::CUSTOMER.prefix(text)),
            Self::Floor(op, number) => build!(Visit::FLOOR, op, number, Visit::FLOOR.eq(number)),
            Self::Vip(op, truth) => build!(Visit::VIP, op, truth, Visit::VIP.eq(truth)),
            Self::Note(op, text) => build!(Visit::NOTE, op, text.as_str(), Visit::NOTE.prefix(text)),
            Self::Age(op, number) => build!(Visit::AGE, op, number, Visit::AGE.eq(number)),
            Self::And(all) => join(all, Predicate::and),
            Self::Or(any) => join(any, Predicate::or),
            Self::Not(inner) => !inner.predicate(),
        }
    }

    fn holds(&self, visit: &Visit) -> bool {
        fn test<T: Ord>(op: Op, a: &T, b: &T) -> bool {
            match op {
                Op::Eq | Op::Prefix => a == b,
                Op::Ne => a != b,
                Op::Gt => a > b,
                Op::Ge => a >= b,
                Op::Lt => a < b,
                Op::Le => a <= b,
            }
        }
        let text = |op: Op, a: &str, b: &str| {
            let units = |text: &str| text.encode_utf16().collect::<Vec<_>>();
            if op == Op::Prefix { a.starts_with(b) } else { test(op, &units(a), &units(b)) }
        };
        match self {
            Self::Region(op, value) => text(*op, &visit.region, value),
            Self::Team(op, value) => test(*op, &visit.team, value),
            Self::Customer(op, value) => text(*op, &visit.customer, value),
            Self::Floor(op, value) => test(*op, &visit.floor, value),
            Self::Vip(op, value) => test(*op, &visit.vip, value),
            Self::Note(op, value) => text(*op, &visit.note, value),
            Self::Age(op, value) => test(*op, &visit.age, value),
            Self::And(all) => all.iter().all(|each| each.holds(visit)),
            Self::Or(any) => any.iter().any(|each| each.holds(visit)),
            Self::Not(inner) => !inner.holds(visit),
        }
    }
}

fn texts() -> impl Strategy<Value = String> {
    prop::sample::select(&["", "a", "a_", "a.", "a/", "a/b", "ab", "b", "^", "_", "~", "é", "}é", "\u{e000}", "😀"][..])
        .prop_map(str::to_owned)
}

fn visits() -> impl Strategy<Value = Visit> {
    (texts(), 0..3_u8, texts(), -2..2_i8, any::<bool>(), texts(), 0..3_i32).prop_map(
        |(region, team, customer, floor, vip, note, age)| Visit {
            region,
            team,
            customer,
            floor,
            vip,
            note,
            age,
            rating: None,
        },
    )
}

fn ops() -> impl Strategy<Value = Op> {
    prop::sample::select(&[Op::Eq, Op::Ne, Op::Gt, Op::Ge, Op::Lt, Op::Le, Op::Prefix][..])
}

/// What any text may be asked, wherever it stands in a key.
fn text_ops() -> impl Strategy<Value = Op> {
    prop::sample::select(&[Op::Eq, Op::Ne, Op::Prefix][..])
}

fn age() -> impl Strategy<Value = Cond> {
    (ops(), 0..3_i32).prop_map(|(op, number)| Cond::Age(op, number))
}

/// Leading row parts fixed, then one in any condition: what a key can always say.
fn leading() -> impl Strategy<Value = Cond> {
    let last = (texts(), -2..2_i8, any::<bool>(), text_ops(), ops(), ops(), ops(), texts());
    let partition = (texts(), 0..3_u8, text_ops(), ops(), 0..3_usize);
    (0..5_usize, last, partition, prop::option::of(age())).prop_map(|(fixed, last, partition, age)| {
        let (customer, floor, vip, text_op, floor_op, vip_op, note_op, note) = last;
        let op = |position: usize, last: Op| if fixed > position { Op::Eq } else { last };
        let mut all = vec![
            Cond::Customer(op(0, text_op), customer),
            Cond::Floor(op(1, floor_op), floor),
            Cond::Vip(op(2, vip_op), vip),
            Cond::Note(op(3, note_op), note),
        ];
        all.truncate(fixed + 1);
        let (region, team, region_op, team_op, parts) = partition;
        match parts {
            0 => {}
            1 => all.push(Cond::Region(region_op, region)),
            _ => all.extend([Cond::Region(Op::Eq, region), Cond::Team(team_op, team)]),
        }
        all.extend(age);
        Cond::And(all)
    })
}

fn expressible() -> impl Strategy<Value = Cond> {
    let simple = prop_oneof![
        leading(),
        age(),
        (text_ops(), texts()).prop_map(|(op, text)| Cond::Not(Box::new(Cond::Customer(op, text)))),
    ];
    prop::collection::vec(simple, 1..4).prop_map(Cond::Or)
}

fn anything() -> impl Strategy<Value = Cond> {
    let leaf = prop_oneof![
        (ops(), texts()).prop_map(|(op, text)| Cond::Region(op, text)),
        (ops(), 0..3_u8).prop_map(|(op, number)| Cond::Team(op, number)),
        (ops(), texts()).prop_map(|(op, text)| Cond::Customer(op, text)),
        (ops(), -2..2_i8).prop_map(|(op, number)| Cond::Floor(op, number)),
        (ops(), texts()).prop_map(|(op, text)| Cond::Note(op, text)),
        age(),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Cond::And),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Cond::Or),
            inner.prop_map(|cond| Cond::Not(Box::new(cond))),
        ]
    })
}

fn check(cond: &Cond, visits: &[Visit]) -> Result<(), TestCaseError> {
    let explain = match Query::all().filter(cond.predicate()).explain() {
        Ok(explain) => explain,
        Err(error) => {
            let refused = matches!(error.kind(), ErrorKind::InvalidQuery | ErrorKind::LimitExceeded);
            prop_assert!(refused, "{}", error);
            return Ok(());
        }
    };
    for visit in visits {
        let row = visit.to_row().unwrap();
        let read = explain.steps().iter().any(|step| {
            step.range.contains(&row.key.partition, &row.key.row)
                && step.filter.as_ref().is_none_or(|filter| filter.matches(&row))
        });
        prop_assert_eq!(read, cond.holds(visit), "{:?} as {}", visit, explain);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn what_keys_can_say_they_say_exactly(
        cond in expressible(),
        others in prop::collection::vec(visits(), 12),
    ) {
        prop_assert!(Query::all().filter(cond.predicate()).explain().is_ok(), "{:?}", cond);
        check(&cond, &others)?;
    }

    #[test]
    fn any_condition_is_exact_or_refused(cond in anything(), others in prop::collection::vec(visits(), 12)) {
        check(&cond, &others)?;
    }
}
