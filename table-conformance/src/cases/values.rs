//! Values of all eight types, which come back with type and content.

use bytes::Bytes;
use table_core::keys::KeyRange;
use table_core::store::StoreQuery;
use table_core::{Action, Timestamp, Value};
use uuid::Uuid;

use crate::context::Context;
use crate::failure::{Failure, Outcome, ensure, ensure_eq};
use crate::test_table::row;

/// Writes each value in a row of its own, and reads it by get and by query.
async fn round_trip(context: Context, values: Vec<Value>) -> Outcome {
    let table = context.table().await?;
    for (index, value) in values.iter().enumerate() {
        table.insert(row(&index.to_string())?.with("V", value.clone())?).await?;
    }
    let queried = table.rows(StoreQuery::new(KeyRange::ALL)).await?;
    for (index, value) in values.iter().enumerate() {
        let name = index.to_string();
        ensure_eq(table.require(&name).await?.get("V"), Some(value), "the value of a get")?;
        let row = queried.iter().find(|row| row.key.row.as_str() == name);
        ensure_eq(row.and_then(|row| row.get("V")), Some(value), "the value of a query")?;
    }
    Ok(())
}

pub(crate) async fn int32_comes_back(context: Context) -> Outcome {
    round_trip(context, [i32::MIN, -1, 0, 1, i32::MAX].map(Value::from).to_vec()).await
}

pub(crate) async fn int64_comes_back(context: Context) -> Outcome {
    // 2^53 + 1 is the first whole number that a double cannot hold.
    round_trip(context, [i64::MIN, -1, 0, 5, (1 << 53) + 1, i64::MAX].map(Value::from).to_vec()).await
}

pub(crate) async fn double_comes_back_to_the_bit(context: Context) -> Outcome {
    let doubles = [
        0.0,
        -0.0,
        0.1,
        1.0,
        -1.5,
        1e21,
        1e-7,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        5e-324,
        std::f64::consts::PI,
        9_007_199_254_740_993.0,
    ];
    round_trip(context, doubles.map(Value::from).to_vec()).await
}

pub(crate) async fn infinities_come_back(context: Context) -> Outcome {
    round_trip(context, [f64::INFINITY, f64::NEG_INFINITY].map(Value::from).to_vec()).await
}

pub(crate) async fn nan_comes_back(context: Context) -> Outcome {
    let table = context.table().await?;
    table.insert(row("1")?.with("V", f64::NAN)?).await?;
    match table.require("1").await?.get("V") {
        Some(Value::Double(number)) => ensure(number.is_nan(), "NaN came back as a number"),
        other => Err(Failure::new(format!("NaN came back as {other:?}"))),
    }
}

pub(crate) async fn boolean_comes_back(context: Context) -> Outcome {
    round_trip(context, [true, false].map(Value::from).to_vec()).await
}

pub(crate) async fn date_time_comes_back_to_the_tick(context: Context) -> Outcome {
    let mut times = vec![Timestamp::MIN_PROPERTY, Timestamp::UNIX_EPOCH, Timestamp::MAX];
    for text in ["2014-08-22T00:50:32.1234567Z", "2024-02-29T23:59:59.0000001Z", "1999-12-31T23:59:59.5Z"] {
        times.push(text.parse()?);
    }
    round_trip(context, times.into_iter().map(Value::from).collect()).await
}

pub(crate) async fn guid_comes_back(context: Context) -> Outcome {
    let guids = [0, 1, 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff, u128::MAX];
    round_trip(context, guids.map(|bits| Value::from(Uuid::from_u128(bits))).to_vec()).await
}

pub(crate) async fn binary_comes_back(context: Context) -> Outcome {
    let all: Vec<u8> = (0..=u8::MAX).collect();
    let binaries = [Vec::new(), vec![0], vec![0xff; 3], all];
    round_trip(context, binaries.map(|bytes| Value::from(Bytes::from(bytes))).to_vec()).await
}

pub(crate) async fn string_comes_back(context: Context) -> Outcome {
    let texts = [
        "plain",
        " leading and trailing ",
        "it's \"quoted\" \\ / <tag> & {json: [1]}",
        "line\r\nfeed\ttab",
        "caf\u{e9} cafe\u{301}",
        "\u{4e2d}\u{6587} \u{5d0}\u{5d1} \u{1f600}\u{1f468}\u{200d}\u{1f469}",
        "\u{feff}\u{fffd}\u{10ffff}",
        "true",
        "42",
        "2014-08-22T00:50:32Z",
        "00112233-4455-6677-8899-aabbccddeeff",
        "NaN",
        "null",
    ];
    round_trip(context, texts.map(Value::from).to_vec()).await
}

pub(crate) async fn empty_values_are_values(context: Context) -> Outcome {
    let table = context.table().await?;
    table.insert(row("1")?.with("Text", "")?.with("Bytes", Bytes::new())?).await?;
    let read = table.require("1").await?;
    ensure_eq(read.get("Text"), Some(&Value::from("")), "the empty text")?;
    ensure_eq(read.get("Bytes"), Some(&Value::from(Bytes::new())), "the empty bytes")
}

pub(crate) async fn a_whole_double_stays_a_double(context: Context) -> Outcome {
    let table = context.table().await?;
    let numbers = row("1")?.with("D", 3.0)?.with("I", 3)?.with("L", 3_i64)?;
    table.insert(numbers.clone()).await?;
    ensure_eq(table.require("1").await?.properties, numbers.properties, "the same number in three types")
}

pub(crate) async fn all_types_live_in_one_row(context: Context) -> Outcome {
    let table = context.table().await?;
    let all = row("1")?
        .with("Binary", vec![1, 2, 3])?
        .with("Boolean", true)?
        .with("DateTime", Timestamp::UNIX_EPOCH)?
        .with("Double", 0.5)?
        .with("Guid", Uuid::from_u128(7))?
        .with("Int32", 1)?
        .with("Int64", 1_i64)?
        .with("Text", "text")?;
    table.insert(all.clone()).await?;
    ensure_eq(table.require("1").await?.properties, all.properties, "a row of all types")
}

pub(crate) async fn values_survive_a_merge_of_others(context: Context) -> Outcome {
    let table = context.table().await?;
    let values = row("1")?.with("D", f64::INFINITY)?.with("L", i64::MAX)?.with("G", Uuid::from_u128(9))?;
    table.insert(values.clone()).await?;
    table.put(Action::InsertOrMerge(row("1")?.with("New", 1)?)).await?;
    let mut read = table.require("1").await?;
    read.properties.remove("New");
    ensure_eq(read.properties, values.properties, "what the merge did not name")
}

pub(crate) async fn property_names_differ_by_case(context: Context) -> Outcome {
    let table = context.table().await?;
    let names = row("1")?.with("name", 1)?.with("Name", 2)?.with("NAME", 3)?;
    table.insert(names.clone()).await?;
    table.put(Action::InsertOrMerge(row("1")?.with("Name", 4)?)).await?;
    let read = table.require("1").await?;
    ensure_eq(read.properties, names.with("Name", 4)?.properties, "three names that differ by case")
}

pub(crate) async fn property_names_may_be_unusual(context: Context) -> Outcome {
    let table = context.table().await?;
    let mut entity = row("1")?;
    for name in ["_", "_1", "\u{c9}tat", "\u{540d}\u{524d}", "etag", "value", "key", "odata", "null", "and", "not"] {
        entity.set(name, name)?;
    }
    table.insert(entity.clone()).await?;
    ensure_eq(table.require("1").await?.properties, entity.properties, "unusual names")
}
