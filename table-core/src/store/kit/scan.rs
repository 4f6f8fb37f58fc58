//! One page of a query over rows in the order of their [`SortKey`].

use std::ops::Bound;

use super::token::key_of_token;
use crate::error::{Error, Result};
use crate::keys::{EntityKey, KeyRange, SortKey, Span};
use crate::limits;
use crate::store::StoreQuery;

/// Rows that one page looks at. The service stops after five seconds; we stop after a count, so
/// that a selective filter gives short and empty pages here too, the same on every run.
pub const ROWS_LOOKED_AT: usize = 2 * limits::PAGE_ENTITIES;

/// Where the page of a query begins and ends.
///
/// Every key from [`start`](Scan::start) up to [`end`](Scan::end) lies in the query's range, unless
/// the range spans several partitions and only some rows of each: then [`step`](Scan::step) says
/// which do, how far that holds, and where to go on.
#[derive(Debug)]
pub struct Scan<'q> {
    range: &'q KeyRange,
    page_size: usize,
    start: SortKey,
    end: Option<SortKey>,
}

/// What to do with a row between start and end.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// It lies in the range, and so does every row from it up to this place.
    Take(SortKey),
    /// It does not, and the next one that does lies at or after this place.
    Skip(SortKey),
}

impl<'q> Scan<'q> {
    /// Checks a query before anything is read.
    ///
    /// # Errors
    /// [`InvalidQuery`](crate::ErrorKind::InvalidQuery) for a page of no entities, or a token of another store.
    pub fn new(query: &'q StoreQuery) -> Result<Self> {
        let page_size = query.page_size();
        if page_size == 0 {
            return Err(Error::invalid_query("a page of no entities never ends; ask for one entity at least"));
        }
        let mut start = first_place(&query.range);
        if let Some(token) = &query.after {
            start = start.max(SortKey::of(&key_of_token(token)?));
        }
        Ok(Self { range: &query.range, page_size, start, end: end_place(&query.range) })
    }

    /// The first place of the page.
    #[must_use]
    pub const fn start(&self) -> &SortKey {
        &self.start
    }

    /// The first place after the range; none where it has no end.
    #[must_use]
    pub const fn end(&self) -> Option<&SortKey> {
        self.end.as_ref()
    }

    /// Entities that the page holds at most.
    #[must_use]
    pub const fn page_size(&self) -> usize {
        self.page_size
    }

    /// Whether no key lies between start and end.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }

    /// The place before which no [`step`](Scan::step) needs asking: none where every key between start and end
    /// lies in the range.
    #[must_use]
    pub fn sure_until(&self) -> Option<SortKey> {
        let contiguous = self.range.row.is_all() || self.range.partition.as_exact().is_some();
        (!contiguous).then(|| SortKey::from_bytes(Vec::new()))
    }

    /// What to do with a row between start and end.
    #[must_use]
    pub fn step(&self, key: &EntityKey) -> Step {
        let KeyRange { partition, row } = self.range;
        let partition_key = key.partition.as_str();
        if !partition.contains(partition_key) {
            return Step::Skip(SortKey::after_partition(partition_key));
        }
        if row.contains(key.row.as_str()) {
            return Step::Take(end_of_rows(partition_key, row));
        }
        let first = first_row(partition_key, row);
        let here = SortKey::of(key);
        Step::Skip(if first > here { first } else { SortKey::after_partition(partition_key) })
    }
}

/// The first place of a range.
fn first_place(range: &KeyRange) -> SortKey {
    match range.partition.lower() {
        Bound::Unbounded => SortKey::from_bytes(Vec::new()),
        Bound::Included(partition) if !partition.contains('\0') => first_row(partition, &range.row),
        Bound::Included(partition) | Bound::Excluded(partition) => SortKey::after_partition(before_zero(partition)),
    }
}

/// A bound up to its first U+0000, which no key holds: of the keys that begin so, this alone lies before the bound.
fn before_zero(bound: &str) -> &str {
    bound.split('\0').next().unwrap_or(bound)
}

/// The first place of a range of rows in a partition.
fn first_row(partition: &str, row: &Span) -> SortKey {
    match row.lower() {
        Bound::Unbounded => SortKey::from_text(partition, ""),
        Bound::Included(row) => SortKey::from_text(partition, row),
        Bound::Excluded(row) => successor(SortKey::from_text(partition, row)),
    }
}

/// The first place after a range.
fn end_place(range: &KeyRange) -> Option<SortKey> {
    if let Some(partition) = range.partition.as_exact() {
        return Some(end_of_rows(partition, &range.row));
    }
    match range.partition.upper() {
        Bound::Unbounded => None,
        Bound::Excluded(partition) if !partition.contains('\0') => Some(SortKey::from_text(partition, "")),
        Bound::Included(partition) | Bound::Excluded(partition) => {
            Some(SortKey::after_partition(before_zero(partition)))
        }
    }
}

/// The first place after a range of rows in a partition.
fn end_of_rows(partition: &str, row: &Span) -> SortKey {
    match row.upper() {
        Bound::Unbounded => SortKey::after_partition(partition),
        Bound::Included(row) => successor(SortKey::from_text(partition, row)),
        Bound::Excluded(row) => SortKey::from_text(partition, row),
    }
}

/// The place right after a key.
fn successor(key: SortKey) -> SortKey {
    let mut bytes = key.into_bytes();
    bytes.push(0);
    SortKey::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The partitions among these that lie between the ends of a page.
    fn found(lower: Bound<&str>, upper: Bound<&str>) -> Vec<&'static str> {
        let partition = Span::new(lower.map(Into::into), upper.map(Into::into));
        let query = StoreQuery::new(KeyRange { partition, row: Span::ALL });
        let scan = Scan::new(&query).unwrap();
        let lies_in = |partition: &&str| {
            let row = SortKey::from_text(partition, "c");
            row >= *scan.start() && scan.end().is_none_or(|end| row < *end)
        };
        ["a", "ab", "b"].into_iter().filter(lies_in).collect()
    }

    #[test]
    fn a_bound_that_no_key_can_be_cuts_between_keys() {
        use Bound::{Excluded, Included, Unbounded};
        for lower in [Included("a\0b"), Excluded("a\0"), Excluded("a")] {
            assert_eq!(found(lower, Unbounded), ["ab", "b"], "{lower:?}");
        }
        for upper in [Included("a\0b"), Excluded("a\0"), Included("a")] {
            assert_eq!(found(Unbounded, upper), ["a"], "{upper:?}");
        }
        assert!(found(Included("a\0"), Included("a\0")).is_empty());
    }
}
