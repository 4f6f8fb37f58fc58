//! What a query asks for, as the text of `$filter`.
//!
//! Range and filter become one text. What the service has no literal for, or reads otherwise than the contract, is
//! said in other words first: infinities as "beyond every number", and comparisons that never hold (with NaN, or of a key
//! with a number) as nothing.

use std::ops::Bound;

use table_core::Value;
use table_core::keys::{KeyRange, Span};
use table_core::query::{Comparison, Field, Filter};

/// A filter that no row fulfils, in words that the service takes: nothing comes before the empty key.
const NOTHING: &str = "PartitionKey lt ''";

/// The text of `$filter` for a range and a filter; none where every row is wanted.
pub(super) fn text(range: &KeyRange, filter: Option<&Filter>) -> Option<String> {
    if range.is_empty() {
        return Some(NOTHING.to_owned());
    }
    let parts = bounds(&Field::PartitionKey, &range.partition)
        .into_iter()
        .chain(bounds(&Field::RowKey, &range.row))
        .chain(filter.map(|filter| reworded(filter).normalised()));
    match Filter::all_of(parts) {
        all if all == Filter::ALWAYS => None,
        none if none == Filter::NEVER => Some(NOTHING.to_owned()),
        some => Some(some.to_string()),
    }
}

fn bounds(field: &Field, span: &Span) -> Vec<Filter> {
    let compare = |comparison, text: &str| Filter::compare(field.clone(), comparison, text);
    if let Some(exact) = span.as_exact() {
        return vec![compare(Comparison::Eq, exact)];
    }
    let lower = match span.lower() {
        Bound::Included(text) => Some(compare(Comparison::Ge, text)),
        Bound::Excluded(text) => Some(compare(Comparison::Gt, text)),
        Bound::Unbounded => None,
    };
    let upper = match span.upper() {
        Bound::Included(text) => Some(compare(Comparison::Le, text)),
        Bound::Excluded(text) => Some(compare(Comparison::Lt, text)),
        Bound::Unbounded => None,
    };
    lower.into_iter().chain(upper).collect()
}

fn reworded(filter: &Filter) -> Filter {
    match filter {
        Filter::And(all) => Filter::And(all.iter().map(reworded).collect()),
        Filter::Or(any) => Filter::Or(any.iter().map(reworded).collect()),
        Filter::Not(inner) => Filter::Not(Box::new(reworded(inner))),
        Filter::Compare { field, value, .. } if never_compares(field, value) => Filter::NEVER,
        Filter::Compare { field, comparison, value: Value::Double(number) } if number.is_infinite() => {
            beyond(field, *comparison, *number)
        }
        compare @ Filter::Compare { .. } => compare.clone(),
    }
}

/// Whether no row can fulfil a comparison with this value, `ne` included.
fn never_compares(field: &Field, value: &Value) -> bool {
    match (field, value) {
        (_, Value::Double(number)) if number.is_nan() => true,
        (Field::PartitionKey | Field::RowKey, value) => !matches!(value, Value::String(_)),
        (Field::Timestamp, value) => !matches!(value, Value::DateTime(_)),
        (Field::Property(_), _) => false,
    }
}

/// A comparison with an infinity in terms of the last finite number before it.
fn beyond(field: &Field, comparison: Comparison, infinity: f64) -> Filter {
    let up = infinity > 0.0;
    // Below is written as above with its sides exchanged.
    let seen = if up { comparison } else { comparison.mirrored() };
    let last = if up { f64::MAX } else { f64::MIN };
    let compare = |comparison: Comparison| {
        Filter::compare(field.clone(), if up { comparison } else { comparison.mirrored() }, last)
    };
    match seen {
        Comparison::Eq | Comparison::Ge => compare(Comparison::Gt),
        Comparison::Gt => Filter::NEVER,
        Comparison::Lt | Comparison::Ne => compare(Comparison::Le),
        // Every number, and no row that lacks the property or holds NaN.
        Comparison::Le => Filter::any_of([compare(Comparison::Le), compare(Comparison::Gt)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use table_core::{DynamicEntity, EntityKey, PartitionKey};

    fn of(filter: &str) -> Option<String> {
        text(&KeyRange::ALL, Some(&filter.parse().unwrap()))
    }

    #[test]
    fn a_range_and_a_filter_are_joined() {
        let range =
            KeyRange { row: Span::prefix("empid_"), ..KeyRange::partition(&PartitionKey::new("It's").unwrap()) };
        let filter: Filter = "Age ge 40 or Name eq 'Jo'".parse().unwrap();
        assert_eq!(
            text(&range, Some(&filter)).as_deref(),
            Some(
                "PartitionKey eq 'It''s' and RowKey ge 'empid_' and RowKey lt 'empid`' and (Age ge 40 or Name eq 'Jo')"
            )
        );
        assert_eq!(text(&KeyRange::ALL, None), None);
    }

    #[test]
    fn what_is_always_or_never_true_is_not_sent_as_such() {
        assert_eq!(text(&KeyRange::ALL, Some(&Filter::ALWAYS)), None);
        for never in [Filter::NEVER, Filter::And(vec![Filter::NEVER, Filter::ALWAYS])] {
            assert_eq!(text(&KeyRange::ALL, Some(&never)).as_deref(), Some(NOTHING));
        }
        let empty =
            KeyRange { partition: Span::new(Bound::Excluded("a".into()), Bound::Excluded("a".into())), row: Span::ALL };
        assert_eq!(text(&empty, None).as_deref(), Some(NOTHING));
    }

    #[test]
    fn comparisons_that_never_hold_vanish() {
        assert_eq!(of("A eq NaN"), Some(NOTHING.to_owned()));
        assert_eq!(of("not (A ne NaN)"), None);
        let one: Filter = "A eq 1".parse().unwrap();
        let number = Filter::compare(Field::RowKey, Comparison::Ne, 5);
        let day = Filter::compare(Field::Timestamp, Comparison::Gt, "x");
        let said = |filter: Filter| text(&KeyRange::ALL, Some(&filter));
        assert_eq!(said(Filter::Or(vec![number, one.clone()])), Some("A eq 1".to_owned()));
        assert_eq!(said(Filter::And(vec![day, one])), Some(NOTHING.to_owned()));
    }

    #[test]
    fn infinities_are_said_in_numbers_and_mean_the_same() {
        let numbers = [f64::NEG_INFINITY, f64::MIN, -1.0, 0.0, f64::MAX, f64::INFINITY, f64::NAN];
        let rows: Vec<_> = numbers
            .iter()
            .map(|number| DynamicEntity::new(EntityKey::parse("p", "r").unwrap()).with("A", *number).unwrap())
            .collect();
        for comparison in ["eq", "ne", "gt", "ge", "lt", "le"] {
            for infinity in ["INF", "-INF"] {
                let filter: Filter = format!("A {comparison} {infinity}").parse().unwrap();
                let said = reworded(&filter).normalised();
                assert!(!said.to_string().contains("INF"), "{said}");
                for row in &rows {
                    assert_eq!(said.matches(row), filter.matches(row), "{filter}: {said}: {row:?}");
                }
            }
        }
    }
}
