//! Filters: comparisons by type, and how they join.

use table_core::query::{Comparison, Field, Filter};
use table_core::{Timestamp, Value};
use uuid::Uuid;

use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};

use crate::context::Context;
use crate::failure::{Failure, Outcome, ensure};
use crate::test_table::{TestTable, row};

/// A comparison of the property `V`.
fn v(comparison: Comparison, value: impl Into<Value>) -> Filter {
    Filter::compare(Field::Property(table_core::PropertyName::checked("V")), comparison, value)
}

fn not(filter: Filter) -> Filter {
    Filter::Not(Box::new(filter))
}

/// A table of rows that hold these values as `V`; the row `none` lacks it.
async fn table(context: &Context, rows: Vec<(&str, Value)>) -> Result<TestTable, Failure> {
    let table = context.table().await?;
    table.insert(row("none")?.with("Other", 1)?).await?;
    for (name, value) in rows {
        table.insert(row(name)?.with("V", value)?).await?;
    }
    Ok(table)
}

/// Checks all six comparisons with the middle one of three values.
async fn three_values(context: Context, low: Value, middle: Value, high: Value) -> Outcome {
    let rows = vec![("high", high), ("low", low), ("middle", middle.clone())];
    let table = table(&context, rows).await?;
    table.expect_matches(v(Eq, middle.clone()), &["middle"], "eq").await?;
    table.expect_matches(v(Ne, middle.clone()), &["high", "low"], "ne").await?;
    table.expect_matches(v(Gt, middle.clone()), &["high"], "gt").await?;
    table.expect_matches(v(Ge, middle.clone()), &["high", "middle"], "ge").await?;
    table.expect_matches(v(Lt, middle.clone()), &["low"], "lt").await?;
    table.expect_matches(v(Le, middle), &["low", "middle"], "le").await
}

pub(crate) async fn int32_compares_by_value(context: Context) -> Outcome {
    three_values(context, Value::Int32(i32::MIN), Value::Int32(-1), Value::Int32(i32::MAX)).await
}

pub(crate) async fn int64_compares_by_value(context: Context) -> Outcome {
    three_values(context, Value::Int64(i64::MIN), Value::Int64(i64::MAX - 1), Value::Int64(i64::MAX)).await
}

pub(crate) async fn double_compares_by_value(context: Context) -> Outcome {
    three_values(context, Value::Double(-1e300), Value::Double(0.1), Value::Double(0.1 + f64::EPSILON)).await
}

pub(crate) async fn infinities_compare_by_value(context: Context) -> Outcome {
    three_values(context, Value::Double(f64::NEG_INFINITY), Value::Double(0.0), Value::Double(f64::INFINITY)).await
}

pub(crate) async fn boolean_compares_false_before_true(context: Context) -> Outcome {
    let table = table(&context, vec![("no", false.into()), ("yes", true.into())]).await?;
    table.expect_matches(v(Eq, true), &["yes"], "eq true").await?;
    table.expect_matches(v(Ne, true), &["no"], "ne true").await?;
    table.expect_matches(v(Lt, true), &["no"], "lt true").await?;
    table.expect_matches(v(Ge, false), &["no", "yes"], "ge false").await
}

pub(crate) async fn date_time_compares_to_the_tick(context: Context) -> Outcome {
    let middle: Timestamp = "2014-08-22T00:50:32.1234567Z".parse()?;
    let before = Timestamp::from_ticks(middle.ticks() - 1)?;
    three_values(context, before.into(), middle.into(), middle.next_tick().into()).await
}

pub(crate) async fn string_compares_by_utf16_unit(context: Context) -> Outcome {
    three_values(context, "Z".into(), "\u{1f600}".into(), "\u{e000}".into()).await
}

pub(crate) async fn string_compares_with_case_and_length(context: Context) -> Outcome {
    let rows = vec![("a", "Jones".into()), ("b", "jones".into()), ("c", "Jones ".into()), ("d", "".into())];
    let table = table(&context, rows).await?;
    table.expect_matches(v(Eq, "Jones"), &["a"], "eq").await?;
    table.expect_matches(v(Ge, "Jones"), &["a", "b", "c"], "ge").await?;
    table.expect_matches(v(Eq, ""), &["d"], "eq the empty text").await
}

pub(crate) async fn text_in_a_filter_is_taken_literally(context: Context) -> Outcome {
    let odd = ["it's", "''", "100%", "a+b&c=d", "a b", "\"quoted\"", "(x) or (1 eq 1)", "caf\u{e9} \u{1f600}", "%27"];
    let table = context.table().await?;
    for (index, text) in odd.iter().enumerate() {
        table.insert(row(&index.to_string())?.with("V", *text)?).await?;
    }
    for (index, text) in odd.iter().enumerate() {
        table.expect_matches(v(Eq, *text), &[&index.to_string()], text).await?;
    }
    Ok(())
}

pub(crate) async fn guid_compares_for_equality(context: Context) -> Outcome {
    let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(u128::MAX - 5));
    let table =
        table(&context, vec![("one", one.into()), ("text", one.to_string().into()), ("two", two.into())]).await?;
    table.expect_matches(v(Eq, one), &["one"], "eq").await?;
    table.expect_matches(v(Ne, one), &["two"], "ne").await
}

pub(crate) async fn binary_compares_by_bytes(context: Context) -> Outcome {
    three_values(context, vec![0x7f].into(), vec![0x80].into(), vec![0x80, 0].into()).await
}

pub(crate) async fn number_types_compare_by_value(context: Context) -> Outcome {
    let rows = vec![
        ("double 2", Value::Double(2.0)),
        ("double 2.5", Value::Double(2.5)),
        ("int32 2", Value::Int32(2)),
        ("int64 2", Value::Int64(2)),
        ("int64 3", Value::Int64(3)),
    ];
    let table = table(&context, rows).await?;
    let twos = ["double 2", "int32 2", "int64 2"];
    for two in [Value::Int32(2), Value::Int64(2), Value::Double(2.0)] {
        table.expect_matches(v(Eq, two.clone()), &twos, "eq 2").await?;
        table.expect_matches(v(Gt, two), &["double 2.5", "int64 3"], "gt 2").await?;
    }
    table.expect_matches(v(Lt, 2.5), &twos, "lt 2.5").await
}

pub(crate) async fn wide_numbers_compare_exactly(context: Context) -> Outcome {
    // The nearest double of i64::MAX is 2^63, one above it.
    let rows = vec![("below", Value::Int64(i64::MAX - 1)), ("max", Value::Int64(i64::MAX))];
    let table = table(&context, rows).await?;
    let two_to_63 = 9_223_372_036_854_775_808.0;
    table.expect_matches(v(Eq, two_to_63), &[], "eq 2^63").await?;
    table.expect_matches(v(Lt, two_to_63), &["below", "max"], "lt 2^63").await
}

pub(crate) async fn nan_compares_with_nothing(context: Context) -> Outcome {
    let table = table(&context, vec![("nan", f64::NAN.into()), ("one", 1.0.into())]).await?;
    for comparison in [Eq, Ne, Gt, Ge, Lt, Le] {
        table.expect_matches(v(comparison, f64::NAN), &[], "a comparison with NaN").await?;
    }
    table.expect_matches(v(Ge, 0.0), &["one"], "ge 0").await?;
    table.expect_matches(not(v(Ge, 0.0)), &["nan", "none"], "not ge 0").await
}

pub(crate) async fn a_missing_property_fails_every_comparison(context: Context) -> Outcome {
    let table = table(&context, vec![("has", 1.into())]).await?;
    for (comparison, expected) in [(Eq, &["has"][..]), (Ne, &[]), (Gt, &[]), (Ge, &["has"]), (Lt, &[]), (Le, &["has"])]
    {
        table.expect_matches(v(comparison, 1), expected, comparison.as_str()).await?;
    }
    Ok(())
}

pub(crate) async fn a_missing_property_is_not_different(context: Context) -> Outcome {
    let table = table(&context, vec![("one", 1.into()), ("two", 2.into())]).await?;
    table.expect_matches(v(Ne, 1), &["two"], "ne 1").await
}

pub(crate) async fn not_includes_rows_without_the_property(context: Context) -> Outcome {
    let table = table(&context, vec![("one", 1.into()), ("two", 2.into())]).await?;
    table.expect_matches(not(v(Eq, 1)), &["none", "two"], "not (V eq 1)").await?;
    table.expect_matches(not(v(Ne, 1)), &["none", "one"], "not (V ne 1)").await?;
    table.expect_matches(not(not(v(Eq, 1))), &["one"], "not (not (V eq 1))").await
}

pub(crate) async fn another_type_fails_every_comparison(context: Context) -> Outcome {
    let rows = vec![
        ("binary", vec![1].into()),
        ("boolean", true.into()),
        ("datetime", Timestamp::UNIX_EPOCH.into()),
        ("guid", Uuid::from_u128(1).into()),
        ("int", 1.into()),
        ("string", "1".into()),
    ];
    let table = table(&context, rows.clone()).await?;
    for (name, value) in rows {
        table.expect_matches(v(Eq, value.clone()), &[name], &format!("eq of a {name}")).await?;
        table.expect_matches(v(Ne, value), &[], &format!("ne of a {name}")).await?;
    }
    Ok(())
}

pub(crate) async fn and_or_and_not_join(context: Context) -> Outcome {
    let names = ["1", "2", "3", "4", "5", "6"];
    let table = table(&context, names.into_iter().zip((1..).map(Value::Int32)).collect()).await?;
    let between = Filter::And(vec![v(Gt, 2), v(Lt, 5)]);
    table.expect_matches(between.clone(), &["3", "4"], "and").await?;
    let ends = Filter::Or(vec![v(Lt, 2), v(Gt, 5)]);
    table.expect_matches(ends.clone(), &["1", "6"], "or").await?;
    table.expect_matches(Filter::Or(vec![between.clone(), ends.clone()]), &["1", "3", "4", "6"], "or of both").await?;
    table.expect_matches(Filter::And(vec![v(Ge, 2), not(between)]), &["2", "5", "6"], "and not").await?;
    table.expect_matches(not(Filter::Or(vec![ends, v(Eq, 3)])), &["2", "4", "5", "none"], "not or").await
}

pub(crate) async fn and_binds_as_the_tree_says(context: Context) -> Outcome {
    let table = table(&context, vec![("1", 1.into()), ("2", 2.into()), ("3", 3.into())]).await?;
    // As text without parentheses both would read the same.
    let or_inside = Filter::And(vec![Filter::Or(vec![v(Eq, 1), v(Eq, 2)]), v(Gt, 1)]);
    let and_inside = Filter::Or(vec![v(Eq, 1), Filter::And(vec![v(Eq, 2), v(Gt, 1)])]);
    table.expect_matches(or_inside, &["2"], "(1 or 2) and > 1").await?;
    table.expect_matches(and_inside, &["1", "2"], "1 or (2 and > 1)").await
}

pub(crate) async fn a_join_of_nothing_is_all_or_none(context: Context) -> Outcome {
    let table = table(&context, vec![("one", 1.into())]).await?;
    table.expect_matches(Filter::And(Vec::new()), &["none", "one"], "and of nothing").await?;
    table.expect_matches(Filter::Or(Vec::new()), &[], "or of nothing").await?;
    table.expect_matches(not(Filter::Or(Vec::new())), &["none", "one"], "not or of nothing").await?;
    table.expect_matches(Filter::And(vec![v(Eq, 1), Filter::And(Vec::new())]), &["one"], "a join of one").await
}

pub(crate) async fn keys_can_be_filtered(context: Context) -> Outcome {
    let table = table(&context, vec![("one", 1.into()), ("two", 2.into())]).await?;
    let row_key = |comparison, value: &str| Filter::compare(Field::RowKey, comparison, value);
    table.expect_matches(row_key(Eq, "two"), &["two"], "RowKey eq").await?;
    table.expect_matches(row_key(Gt, "none"), &["one", "two"], "RowKey gt").await?;
    let partition = Filter::compare(Field::PartitionKey, Ne, "p");
    table.expect_matches(partition, &[], "PartitionKey ne").await
}

pub(crate) async fn the_timestamp_can_be_filtered(context: Context) -> Outcome {
    let table = table(&context, vec![("one", 1.into()), ("two", 2.into())]).await?;
    let Some(at) = table.require("one").await?.timestamp else {
        return Err(Failure::new("a read gave no timestamp"));
    };
    let timestamp = |comparison| Filter::compare(Field::Timestamp, comparison, at);
    table.expect_matches(timestamp(Eq), &["one"], "Timestamp eq").await?;
    table.expect_matches(timestamp(Gt), &["two"], "Timestamp gt").await?;
    table.expect_matches(timestamp(Lt), &["none"], "Timestamp lt").await
}

pub(crate) async fn property_names_are_compared_with_case(context: Context) -> Outcome {
    let table = context.table().await?;
    table.insert(row("lower")?.with("v", 1)?).await?;
    table.insert(row("upper")?.with("V", 1)?).await?;
    table.expect_matches(v(Eq, 1), &["upper"], "V eq 1").await
}

pub(crate) async fn a_filter_and_a_range_both_hold(context: Context) -> Outcome {
    use table_core::keys::{KeyRange, Span};
    use table_core::store::StoreQuery;

    let table = table(&context, vec![("a1", 1.into()), ("a2", 2.into()), ("b1", 1.into())]).await?;
    let range = KeyRange { partition: Span::exact("p"), row: Span::prefix("a") };
    let rows = table.rows(StoreQuery { filter: Some(v(Eq, 1)), ..StoreQuery::new(range) }).await?;
    ensure(rows.len() == 1 && rows.iter().all(|row| row.key.row.as_str() == "a1"), "not exactly the row a1")
}
