//! Key comparisons as ranges of keys, and ranges as comparisons.

use std::ops::Bound;

use super::filter::{Comparison, Field, Filter};
use crate::keys::{KeyRange, Span};
use crate::store::StoreQuery;

/// The keys for which a comparison with a text holds: one range, or the two beside a value.
pub(super) fn spans_where(comparison: Comparison, text: &str) -> Vec<Span> {
    let spans = match comparison {
        Comparison::Eq => vec![Span::exact(text)],
        Comparison::Ne => Span::exact(text).complement().to_vec(),
        Comparison::Gt => vec![Span::new(Bound::Excluded(text.into()), Bound::Unbounded)],
        // Every key is at or above the empty one, so this is no bound at all.
        Comparison::Ge if text.is_empty() => vec![Span::ALL],
        Comparison::Ge => vec![Span::new(Bound::Included(text.into()), Bound::Unbounded)],
        Comparison::Lt => vec![Span::new(Bound::Unbounded, Bound::Excluded(text.into()))],
        Comparison::Le => vec![Span::new(Bound::Unbounded, Bound::Included(text.into()))],
    };
    spans.into_iter().filter(|span| !span.is_empty()).collect()
}

/// The comparisons that hold exactly for the keys of a range.
pub(super) fn span_filter(field: &Field, span: &Span) -> Filter {
    if let Some(exact) = span.as_exact() {
        return Filter::compare(field.clone(), Comparison::Eq, exact);
    }
    let lower = match span.lower() {
        Bound::Unbounded => None,
        Bound::Included(text) => Some((Comparison::Ge, text)),
        Bound::Excluded(text) => Some((Comparison::Gt, text)),
    };
    let upper = match span.upper() {
        Bound::Unbounded => None,
        Bound::Included(text) => Some((Comparison::Le, text)),
        Bound::Excluded(text) => Some((Comparison::Lt, text)),
    };
    let bounds = lower.into_iter().chain(upper);
    Filter::all_of(bounds.map(|(comparison, text)| Filter::compare(field.clone(), comparison, text)))
}

impl From<&KeyRange> for Filter {
    /// The filter that exactly the rows of the range fulfil.
    ///
    /// ```
    /// use table_core::keys::{KeyRange, Span};
    /// use table_core::query::Filter;
    ///
    /// let range = KeyRange { partition: Span::exact("Sales"), row: Span::prefix("empid_") };
    /// assert_eq!(
    ///     Filter::from(&range).to_string(),
    ///     "PartitionKey eq 'Sales' and RowKey ge 'empid_' and RowKey lt 'empid`'"
    /// );
    /// ```
    fn from(range: &KeyRange) -> Self {
        Self::all_of([span_filter(&Field::PartitionKey, &range.partition), span_filter(&Field::RowKey, &range.row)])
    }
}

impl StoreQuery {
    /// Range and filter as one filter, as a service takes it; none where the query reads every row.
    #[must_use]
    pub fn to_filter(&self) -> Option<Filter> {
        let whole = Filter::all_of([Filter::from(&self.range), self.filter.clone().unwrap_or(Filter::ALWAYS)]);
        (whole != Filter::ALWAYS).then_some(whole)
    }
}
