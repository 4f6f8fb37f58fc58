//! A filter as the contract describes it, in the plainest words.

use table_core::query::{Comparison, Field, Filter};
use table_core::{DynamicEntity, Value};

/// The text as units that compare as the service compares.
pub(crate) fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

pub(crate) fn holds(filter: &Filter, row: &DynamicEntity) -> bool {
    match filter {
        Filter::And(filters) => !filters.iter().any(|each| !holds(each, row)),
        Filter::Or(filters) => filters.iter().any(|each| holds(each, row)),
        Filter::Not(inner) => !holds(inner, row),
        Filter::Compare { field, comparison, value } => {
            let found = match field {
                Field::PartitionKey => Some(Value::from(row.key.partition.as_str())),
                Field::RowKey => Some(Value::from(row.key.row.as_str())),
                Field::Timestamp => row.timestamp.map(Value::DateTime),
                Field::Property(name) => row.get(name.as_str()).cloned(),
            };
            found.is_some_and(|found| compare(&found, *comparison, value))
        }
    }
}

fn compare(left: &Value, comparison: Comparison, right: &Value) -> bool {
    match (left, right) {
        (Value::Binary(a), Value::Binary(b)) => ordered(comparison, &a[..], &b[..]),
        (Value::Boolean(a), Value::Boolean(b)) => ordered(comparison, a, b),
        (Value::DateTime(a), Value::DateTime(b)) => ordered(comparison, &a.ticks(), &b.ticks()),
        (Value::Guid(a), Value::Guid(b)) => ordered(comparison, &a.as_u128(), &b.as_u128()),
        (Value::String(a), Value::String(b)) => ordered(comparison, &units(a), &units(b)),
        _ => match (number(left), number(right)) {
            (Some(a), Some(b)) if !a.is_nan() && !b.is_nan() => ordered(comparison, &a, &b),
            _ => false,
        },
    }
}

/// The numbers of these tests are small enough for a double to hold them all.
#[expect(clippy::cast_precision_loss, reason = "the numbers of these tests are small")]
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int32(number) => Some(f64::from(*number)),
        Value::Int64(number) => Some(*number as f64),
        Value::Double(number) => Some(*number),
        _ => None,
    }
}

fn ordered<T: PartialOrd + ?Sized>(comparison: Comparison, a: &T, b: &T) -> bool {
    match comparison {
        Comparison::Eq => a == b,
        Comparison::Ne => a != b,
        Comparison::Gt => a > b,
        Comparison::Ge => a >= b,
        Comparison::Lt => a < b,
        Comparison::Le => a <= b,
    }
}
