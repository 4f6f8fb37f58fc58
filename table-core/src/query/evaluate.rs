//! What a filter says of a row, read property by property.

use std::cmp::Ordering;

use uuid::Uuid;

use super::filter::{Comparison, Field, Filter};
use crate::dynamic::DynamicEntity;
use crate::keys::utf16;
use crate::timestamp::Timestamp;
use crate::value::Value;

/// A value that is looked at where it lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueRef<'a> {
    /// `Edm.Binary`.
    Binary(&'a [u8]),
    /// `Edm.Boolean`.
    Boolean(bool),
    /// `Edm.DateTime`.
    DateTime(Timestamp),
    /// `Edm.Double`.
    Double(f64),
    /// `Edm.Guid`.
    Guid(Uuid),
    /// `Edm.Int32`.
    Int32(i32),
    /// `Edm.Int64`.
    Int64(i64),
    /// `Edm.String`.
    String(&'a str),
}

impl<'a> From<&'a Value> for ValueRef<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Binary(bytes) => Self::Binary(bytes),
            Value::Boolean(truth) => Self::Boolean(*truth),
            Value::DateTime(at) => Self::DateTime(*at),
            Value::Double(number) => Self::Double(*number),
            Value::Guid(uuid) => Self::Guid(*uuid),
            Value::Int32(number) => Self::Int32(*number),
            Value::Int64(number) => Self::Int64(*number),
            Value::String(text) => Self::String(text),
        }
    }
}

impl ValueRef<'_> {
    /// How two values of one type compare; none for different types and for NaN.
    ///
    /// The three number types compare by their value.
    #[must_use]
    pub fn compare(self, other: ValueRef<'_>) -> Option<Ordering> {
        use ValueRef::{Binary, Boolean, DateTime, Double, Guid, Int32, Int64, String};
        match (self, other) {
            (Binary(a), Binary(b)) => Some(a.cmp(b)),
            (Boolean(a), Boolean(b)) => Some(a.cmp(&b)),
            (DateTime(a), DateTime(b)) => Some(a.cmp(&b)),
            (Guid(a), Guid(b)) => Some(a.cmp(&b)),
            (String(a), String(b)) => Some(utf16::compare(a, b)),
            (Double(a), Double(b)) => a.partial_cmp(&b),
            (Double(a), Int32(b)) => a.partial_cmp(&f64::from(b)),
            (Int32(a), Double(b)) => f64::from(a).partial_cmp(&b),
            (Double(a), Int64(b)) => compare_wide(b, a).map(Ordering::reverse),
            (Int64(a), Double(b)) => compare_wide(a, b),
            (Int32(a), Int32(b)) => Some(a.cmp(&b)),
            (Int32(a), Int64(b)) => Some(i64::from(a).cmp(&b)),
            (Int64(a), Int32(b)) => Some(a.cmp(&i64::from(b))),
            (Int64(a), Int64(b)) => Some(a.cmp(&b)),
            _ => None,
        }
    }
}

/// Compares exactly, though no double holds every `i64`.
#[expect(clippy::cast_possible_truncation, reason = "the double is known to lie within i64 there")]
fn compare_wide(a: i64, b: f64) -> Option<Ordering> {
    const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
    if b.is_nan() {
        return None;
    }
    if b >= TWO_TO_63 {
        return Some(Ordering::Less);
    }
    if b < -TWO_TO_63 {
        return Some(Ordering::Greater);
    }
    let whole = b.floor();
    Some(a.cmp(&(whole as i64)).then(if b > whole { Ordering::Less } else { Ordering::Equal }))
}

impl Comparison {
    pub(super) const fn holds(self, ordering: Ordering) -> bool {
        match self {
            Self::Eq => ordering.is_eq(),
            Self::Ne => ordering.is_ne(),
            Self::Gt => ordering.is_gt(),
            Self::Ge => ordering.is_ge(),
            Self::Lt => ordering.is_lt(),
            Self::Le => ordering.is_le(),
        }
    }
}

impl Filter {
    /// Whether a row fulfils the filter.
    #[must_use]
    pub fn matches(&self, row: &DynamicEntity) -> bool {
        self.matches_fields(&|field| match field {
            Field::PartitionKey => Some(ValueRef::String(row.key.partition.as_str())),
            Field::RowKey => Some(ValueRef::String(row.key.row.as_str())),
            Field::Timestamp => row.timestamp.map(ValueRef::DateTime),
            Field::Property(name) => row.properties.get(name.as_str()).map(ValueRef::from),
        })
    }

    /// Whether a row fulfils the filter, given how to look at its fields one by one.
    pub fn matches_fields<'r>(&self, look: &dyn Fn(&Field) -> Option<ValueRef<'r>>) -> bool {
        match self {
            Self::Compare { field, comparison, value } => look(field)
                .and_then(|found| found.compare(ValueRef::from(value)))
                .is_some_and(|ordering| comparison.holds(ordering)),
            Self::And(all) => all.iter().all(|each| each.matches_fields(look)),
            Self::Or(any) => any.iter().any(|each| each.matches_fields(look)),
            Self::Not(inner) => !inner.matches_fields(look),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_and_doubles_compare_exactly() {
        use Ordering::{Equal, Greater, Less};
        let cases = [
            (i64::MAX, 9_223_372_036_854_775_808.0, Some(Less)),
            (i64::MIN, -9_223_372_036_854_775_808.0, Some(Equal)),
            (9_007_199_254_740_993, 9_007_199_254_740_992.0, Some(Greater)),
            (0, -0.0, Some(Equal)),
            (-1, -0.5, Some(Less)),
            (-1, -1.5, Some(Greater)),
            (1, 0.999, Some(Greater)),
            (i64::MAX, f64::INFINITY, Some(Less)),
            (i64::MIN, f64::NEG_INFINITY, Some(Greater)),
            (0, f64::NAN, None),
        ];
        for (whole, double, expected) in cases {
            let (whole, double) = (ValueRef::Int64(whole), ValueRef::Double(double));
            assert_eq!(whole.compare(double), expected, "{whole} {double}");
            assert_eq!(double.compare(whole), expected.map(Ordering::reverse), "{double} {whole}");
        }
    }

    #[test]
    fn different_types_do_not_compare() {
        let values =
            [ValueRef::String("1"), ValueRef::Int32(1), ValueRef::Boolean(true), ValueRef::Guid(Uuid::from_u128(1))];
        for (position, value) in values.iter().enumerate() {
            for (other_position, other) in values.iter().enumerate() {
                assert_eq!(value.compare(*other).is_some(), position == other_position, "{value} {other}");
            }
        }
    }
}
