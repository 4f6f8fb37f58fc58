//! From a filter to the key ranges that are read for it, and what that costs.
//!
//! A filter is planned in two passes over its tree. The first finds ranges of keys outside of
//! which no row can match; they are disjoint and in key order. The second looks at the filter
//! again from within each range, where most key comparisons are known to hold or to fail, and
//! keeps what is left for the store to check.
//!
//! The invariant: a row fulfils the filter exactly when it lies in one of the ranges and fulfils
//! what that range has left.

use std::fmt;

use super::filter::{Field, Filter};
use super::range::spans_where;
use crate::error::{Error, Result};
use crate::keys::{KeyRange, Span};
use crate::value::Value;

/// How many ranges a query may have, since each is a request at least.
pub(super) const MAX_RANGES: usize = 128;

/// What a query costs, in the words of the table design guide.
///
/// ```
/// use table_core::query::CostClass;
/// use table_core::{Entity, Query};
///
/// #[derive(Entity)]
/// #[entity(partition = "{department}", row = "empid_{id:06}")]
/// struct Employee {
///     department: String,
///     id: u32,
///     age: i32,
/// }
///
/// let some = Employee::range("Sales").id_range(200..300);
/// assert_eq!(some.explain()?.class(), CostClass::Range);
/// let anywhere = Query::<Employee>::all().filter(Employee::AGE.ge(40));
/// assert_eq!(anywhere.explain()?.class(), CostClass::TableScan);
/// assert!(CostClass::Range < CostClass::TableScan);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CostClass {
    /// No key can match, so nothing is read.
    Empty,
    /// One entity by its full key.
    Point,
    /// A range of row keys in one partition.
    Range,
    /// Several entities or ranges, read in parallel.
    MultiRange,
    /// Whole partitions.
    PartitionScan,
    /// More than one partition, not each named: the whole table, or a range of its partitions.
    TableScan,
}

impl CostClass {
    /// Whether a query must be allowed to scan.
    #[must_use]
    pub const fn is_scan(self) -> bool {
        matches!(self, Self::PartitionScan | Self::TableScan)
    }

    /// The name of the class.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::Point => "Point",
            Self::Range => "Range",
            Self::MultiRange => "MultiRange",
            Self::PartitionScan => "PartitionScan",
            Self::TableScan => "TableScan",
        }
    }

    fn of(steps: &[Step]) -> Self {
        let each = steps.iter().map(|Step { range, .. }| {
            if range.partition.as_exact().is_none() {
                Self::TableScan
            } else if range.row.is_all() {
                Self::PartitionScan
            } else if range.row.as_exact().is_some() {
                Self::Point
            } else {
                Self::Range
            }
        });
        match each.max() {
            None => Self::Empty,
            Some(class) if class.is_scan() || steps.len() == 1 => class,
            Some(_) => Self::MultiRange,
        }
    }
}

impl fmt::Display for CostClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One range that a query reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The keys.
    pub range: KeyRange,
    /// What a row in the range must still fulfil; none where the range says it all.
    pub filter: Option<Filter>,
}

/// What a query reads, in key order.
///
/// ```
/// use table_core::keys::KeyRange;
/// use table_core::query::{CostClass, Plan};
///
/// let filter = "PartitionKey eq 'Sales' and (RowKey eq '121' or RowKey eq '322') and Age ge 40".parse()?;
/// let plan = Plan::new(&filter, &KeyRange::ALL)?;
/// assert_eq!(plan.class(), CostClass::MultiRange);
/// assert_eq!(plan.steps().len(), 2);
/// assert_eq!(plan.steps()[0].filter, Some("Age ge 40".parse()?));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    steps: Vec<Step>,
    class: CostClass,
}

impl Plan {
    /// Plans how the rows of a range that fulfil a filter are read.
    ///
    /// # Errors
    /// [`LimitExceeded`](crate::ErrorKind::LimitExceeded) where the filter names more than 128
    /// separate ranges of keys.
    pub fn new(filter: &Filter, within: &KeyRange) -> Result<Self> {
        let cover = intersect(&cover(filter, false)?, std::slice::from_ref(within));
        let mut steps = Vec::new();
        for range in in_order(cover) {
            match left_over(filter, &range) {
                filter if filter == Filter::NEVER => {}
                filter if filter == Filter::ALWAYS => steps.push(Step { range, filter: None }),
                filter => steps.push(Step { range, filter: Some(filter) }),
            }
        }
        Ok(Self { class: CostClass::of(&steps), steps })
    }

    /// The ranges, disjoint and in key order.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// What the query costs.
    #[must_use]
    pub const fn class(&self) -> CostClass {
        self.class
    }
}

/// Ranges that hold every row that fulfils the filter, or its opposite.
fn cover(filter: &Filter, opposite: bool) -> Result<Vec<KeyRange>> {
    match (filter, opposite) {
        (Filter::Compare { field, comparison, value }, _) => {
            let Some(text) = key_text(field, value) else {
                // A key compared with anything but a text is false; any other field is not known here.
                let never = is_key(field) && !opposite;
                return Ok(if never { Vec::new() } else { vec![KeyRange::ALL] });
            };
            let spans = spans_where(if opposite { comparison.opposite() } else { *comparison }, text);
            Ok(spans.into_iter().map(|span| on(field, span)).collect())
        }
        (Filter::Not(inner), _) => cover(inner, !opposite),
        (Filter::And(parts), false) | (Filter::Or(parts), true) => parts
            .iter()
            .try_fold(vec![KeyRange::ALL], |ranges, part| bounded(intersect(&ranges, &cover(part, opposite)?))),
        (Filter::Or(parts), false) | (Filter::And(parts), true) => {
            parts.iter().try_fold(Vec::new(), |mut ranges, part| {
                ranges.extend(cover(part, opposite)?);
                bounded(ranges)
            })
        }
    }
}

/// The text that a key is compared with.
fn key_text<'f>(field: &Field, value: &'f Value) -> Option<&'f str> {
    if is_key(field) { value.as_str() } else { None }
}

const fn is_key(field: &Field) -> bool {
    matches!(field, Field::PartitionKey | Field::RowKey)
}

fn on(field: &Field, span: Span) -> KeyRange {
    match field {
        Field::PartitionKey => KeyRange { partition: span, row: Span::ALL },
        _ => KeyRange { partition: Span::ALL, row: span },
    }
}

fn intersect(some: &[KeyRange], others: &[KeyRange]) -> Vec<KeyRange> {
    let pairs = some.iter().flat_map(|one| others.iter().map(|other| one.intersect(other)));
    pairs.filter(|range| !range.is_empty()).collect()
}

/// The same ranges in as few as is easily seen, and never more than [`MAX_RANGES`].
fn bounded(ranges: Vec<KeyRange>) -> Result<Vec<KeyRange>> {
    let ranges = join_rows(ranges);
    if ranges.len() <= MAX_RANGES {
        return Ok(ranges);
    }
    Err(Error::limit_exceeded(format!(
        "the filter names more than {MAX_RANGES} separate ranges of keys; split it into several queries and run them together with stream_many"
    )))
}

/// Sorts ranges, and joins those that touch within the same partitions.
fn join_rows(mut ranges: Vec<KeyRange>) -> Vec<KeyRange> {
    ranges.sort_by(|a, b| a.partition.compare_bounds(&b.partition).then_with(|| a.row.compare_bounds(&b.row)));
    let mut joined: Vec<KeyRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        let last = joined.last_mut().filter(|last| last.partition == range.partition);
        match last.and_then(|last| last.row.join(&range.row).map(|row| (last, row))) {
            Some((last, row)) => last.row = row,
            None => joined.push(range),
        }
    }
    joined
}

/// The ranges made disjoint and put in key order.
///
/// Ranges of several partitions that overlap become the one that holds them all: their rows
/// alternate, partition by partition, and a scan reads them anyway.
fn in_order(ranges: Vec<KeyRange>) -> Vec<KeyRange> {
    let mut ordered: Vec<KeyRange> = Vec::with_capacity(ranges.len());
    for mut range in join_rows(ranges) {
        while let Some(last) = ordered.pop_if(|last| alternate(last, &range)) {
            range = KeyRange { partition: last.partition.hull(&range.partition), row: last.row.hull(&range.row) };
        }
        ordered.push(range);
    }
    ordered
}

/// Whether rows of two ranges may alternate in key order. In one and the same partition they don't,
/// since rows that touch were joined.
fn alternate(one: &KeyRange, other: &KeyRange) -> bool {
    let same = one.partition == other.partition && one.partition.as_exact().is_some();
    !same && !one.partition.intersect(&other.partition).is_empty()
}

/// What the filter still asks of rows in a range.
fn left_over(filter: &Filter, range: &KeyRange) -> Filter {
    match filter {
        Filter::Compare { field, comparison, value } if is_key(field) => {
            let Some(text) = value.as_str() else { return Filter::NEVER };
            let span = if *field == Field::PartitionKey { &range.partition } else { &range.row };
            let can = |comparison| spans_where(comparison, text).iter().any(|each| !each.intersect(span).is_empty());
            if !can(comparison.opposite()) {
                Filter::ALWAYS
            } else if !can(*comparison) {
                Filter::NEVER
            } else {
                filter.clone()
            }
        }
        Filter::Compare { .. } => filter.clone(),
        Filter::And(all) => Filter::all_of(all.iter().map(|each| left_over(each, range))),
        Filter::Or(any) => match Filter::any_of(any.iter().map(|each| left_over(each, range))) {
            // Ranges that touch became one, so that none of them holds in all of it but any does.
            either @ Filter::Or(_) if always_holds(&either, range) => Filter::ALWAYS,
            either => either,
        },
        Filter::Not(inner) => left_over(inner, range).negated(),
    }
}

/// Whether the keys alone say that every row of the range fulfils the filter.
fn always_holds(filter: &Filter, range: &KeyRange) -> bool {
    cover(filter, true).is_ok_and(|outside| intersect(&outside, std::slice::from_ref(range)).is_empty())
}
