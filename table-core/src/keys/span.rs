//! Ranges of keys.

use std::cmp::Ordering;
use std::ops::Bound;

use smol_str::SmolStr;

use super::utf16;
use crate::keys::{EntityKey, PartitionKey, RowKey};

/// A range of key texts in UTF-16 order. Bounds need not be valid keys themselves.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Span {
    lower: Bound<SmolStr>,
    upper: Bound<SmolStr>,
}

impl Span {
    /// Every key.
    pub const ALL: Self = Self { lower: Bound::Unbounded, upper: Bound::Unbounded };

    /// From one bound to another.
    #[must_use]
    pub const fn new(lower: Bound<SmolStr>, upper: Bound<SmolStr>) -> Self {
        Self { lower, upper }
    }

    /// One key alone.
    #[must_use]
    pub fn exact(key: impl Into<SmolStr>) -> Self {
        let key = key.into();
        Self { lower: Bound::Included(key.clone()), upper: Bound::Included(key) }
    }

    /// All keys that begin with a text.
    #[must_use]
    pub fn prefix(prefix: &str) -> Self {
        if prefix.is_empty() {
            return Self::ALL;
        }
        Self {
            lower: Bound::Included(prefix.into()),
            upper: utf16::prefix_end(prefix).map_or(Bound::Unbounded, |end| Bound::Excluded(end.into())),
        }
    }

    /// The lower bound.
    #[must_use]
    pub fn lower(&self) -> Bound<&str> {
        self.lower.as_ref().map(SmolStr::as_str)
    }

    /// The upper bound.
    #[must_use]
    pub fn upper(&self) -> Bound<&str> {
        self.upper.as_ref().map(SmolStr::as_str)
    }

    /// The one key in this range, where its bounds leave one.
    #[must_use]
    pub fn as_exact(&self) -> Option<&str> {
        match (&self.lower, &self.upper) {
            (Bound::Included(lower), Bound::Included(upper)) if lower == upper => Some(lower),
            _ => None,
        }
    }

    /// Whether the range has no bounds.
    #[must_use]
    pub const fn is_all(&self) -> bool {
        matches!((&self.lower, &self.upper), (Bound::Unbounded, Bound::Unbounded))
    }

    /// Whether the bounds leave no room for a key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let (Bound::Included(lower) | Bound::Excluded(lower), Bound::Included(upper) | Bound::Excluded(upper)) =
            (&self.lower, &self.upper)
        else {
            return matches!(&self.upper, Bound::Excluded(upper) if upper.is_empty());
        };
        match utf16::compare(lower, upper) {
            Ordering::Less => false,
            Ordering::Equal => self.as_exact().is_none(),
            Ordering::Greater => true,
        }
    }

    /// Whether a key lies in the range.
    #[must_use]
    pub fn contains(&self, key: &str) -> bool {
        let above = match &self.lower {
            Bound::Unbounded => true,
            Bound::Included(lower) => utf16::compare(key, lower).is_ge(),
            Bound::Excluded(lower) => utf16::compare(key, lower).is_gt(),
        };
        above
            && match &self.upper {
                Bound::Unbounded => true,
                Bound::Included(upper) => utf16::compare(key, upper).is_le(),
                Bound::Excluded(upper) => utf16::compare(key, upper).is_lt(),
            }
    }

    /// The keys in both ranges.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        let lower = if compare_lower(&self.lower, &other.lower).is_ge() { &self.lower } else { &other.lower };
        let upper = if compare_upper(&self.upper, &other.upper).is_le() { &self.upper } else { &other.upper };
        Self { lower: lower.clone(), upper: upper.clone() }
    }

    /// Both ranges as one, where no key lies between them.
    pub(crate) fn join(&self, other: &Self) -> Option<Self> {
        let (first, second) =
            if compare_lower(&self.lower, &other.lower).is_le() { (self, other) } else { (other, self) };
        let touching = match (&first.upper, &second.lower) {
            (Bound::Unbounded, _) | (_, Bound::Unbounded) => true,
            (Bound::Excluded(end), Bound::Excluded(start)) => utf16::compare(end, start).is_gt(),
            (Bound::Included(end) | Bound::Excluded(end), Bound::Included(start) | Bound::Excluded(start)) => {
                utf16::compare(end, start).is_ge()
            }
        };
        touching.then(|| Self {
            lower: first.lower.clone(),
            upper: if compare_upper(&first.upper, &second.upper).is_ge() {
                first.upper.clone()
            } else {
                second.upper.clone()
            },
        })
    }

    /// The smallest range that holds both.
    pub(crate) fn hull(&self, other: &Self) -> Self {
        let lower = if compare_lower(&self.lower, &other.lower).is_le() { &self.lower } else { &other.lower };
        let upper = if compare_upper(&self.upper, &other.upper).is_ge() { &self.upper } else { &other.upper };
        Self { lower: lower.clone(), upper: upper.clone() }
    }

    /// The keys outside of the range: those below it and those above it.
    pub(crate) fn complement(&self) -> [Self; 2] {
        let none = || Self { lower: Bound::Unbounded, upper: Bound::Excluded(SmolStr::default()) };
        let below = match &self.lower {
            Bound::Unbounded => none(),
            Bound::Included(lower) => Self { lower: Bound::Unbounded, upper: Bound::Excluded(lower.clone()) },
            Bound::Excluded(lower) => Self { lower: Bound::Unbounded, upper: Bound::Included(lower.clone()) },
        };
        let above = match &self.upper {
            Bound::Unbounded => none(),
            Bound::Included(upper) => Self { lower: Bound::Excluded(upper.clone()), upper: Bound::Unbounded },
            Bound::Excluded(upper) => Self { lower: Bound::Included(upper.clone()), upper: Bound::Unbounded },
        };
        [below, above]
    }

    /// By lower bound, then by upper bound.
    pub(crate) fn compare_bounds(&self, other: &Self) -> Ordering {
        compare_lower(&self.lower, &other.lower).then_with(|| compare_upper(&self.upper, &other.upper))
    }
}

fn compare_lower(a: &Bound<SmolStr>, b: &Bound<SmolStr>) -> Ordering {
    match (a, b) {
        (Bound::Unbounded, Bound::Unbounded) => Ordering::Equal,
        (Bound::Unbounded, _) => Ordering::Less,
        (_, Bound::Unbounded) => Ordering::Greater,
        (Bound::Included(x) | Bound::Excluded(x), Bound::Included(y) | Bound::Excluded(y)) => {
            utf16::compare(x, y).then_with(|| matches!(a, Bound::Excluded(_)).cmp(&matches!(b, Bound::Excluded(_))))
        }
    }
}

fn compare_upper(a: &Bound<SmolStr>, b: &Bound<SmolStr>) -> Ordering {
    match (a, b) {
        (Bound::Unbounded, Bound::Unbounded) => Ordering::Equal,
        (Bound::Unbounded, _) => Ordering::Greater,
        (_, Bound::Unbounded) => Ordering::Less,
        (Bound::Included(x) | Bound::Excluded(x), Bound::Included(y) | Bound::Excluded(y)) => {
            utf16::compare(x, y).then_with(|| matches!(a, Bound::Included(_)).cmp(&matches!(b, Bound::Included(_))))
        }
    }
}

/// What a query reads: partitions in one range, and in each the rows in another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeyRange {
    /// The partitions.
    pub partition: Span,
    /// The rows in each.
    pub row: Span,
}

impl KeyRange {
    /// The whole table.
    pub const ALL: Self = Self { partition: Span::ALL, row: Span::ALL };

    /// One partition, whole.
    #[must_use]
    pub fn partition(partition: &PartitionKey) -> Self {
        Self { partition: Span::exact(partition.as_smol_str().clone()), row: Span::ALL }
    }

    /// One entity.
    #[must_use]
    pub fn entity(key: &EntityKey) -> Self {
        Self {
            partition: Span::exact(key.partition.as_smol_str().clone()),
            row: Span::exact(key.row.as_smol_str().clone()),
        }
    }

    /// Whether the key lies in the range.
    #[must_use]
    pub fn contains(&self, partition: &PartitionKey, row: &RowKey) -> bool {
        self.partition.contains(partition.as_str()) && self.row.contains(row.as_str())
    }

    /// Whether no key lies in the range.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.partition.is_empty() || self.row.is_empty()
    }

    /// The keys in both.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        Self { partition: self.partition.intersect(&other.partition), row: self.row.intersect(&other.row) }
    }

    /// The key, where both ranges leave one.
    #[must_use]
    pub fn as_entity(&self) -> Option<(&str, &str)> {
        Some((self.partition.as_exact()?, self.row.as_exact()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(lower: Bound<&str>, upper: Bound<&str>) -> Span {
        Span::new(lower.map(SmolStr::new), upper.map(SmolStr::new))
    }

    #[test]
    fn ranges_meet_and_part() {
        let a = span(Bound::Included("b"), Bound::Excluded("d"));
        let b = span(Bound::Excluded("c"), Bound::Unbounded);
        assert_eq!(a.intersect(&b), span(Bound::Excluded("c"), Bound::Excluded("d")));
        assert_eq!(a.join(&b), Some(span(Bound::Included("b"), Bound::Unbounded)));
        let apart = span(Bound::Included("e"), Bound::Included("f"));
        assert_eq!(a.join(&apart), None);
        assert!(a.intersect(&apart).is_empty());
        let gap = span(Bound::Excluded("d"), Bound::Unbounded);
        assert_eq!(a.join(&gap), None);
        assert!(span(Bound::Unbounded, Bound::Excluded("")).is_empty());
        assert!(!Span::exact("").is_empty());
    }

    #[test]
    fn employee_12_is_not_a_prefix_of_123() {
        let twelve = Span::prefix("empid_000012");
        assert!(twelve.contains("empid_000012") && twelve.contains("empid_000012_2012"));
        assert!(!twelve.contains("empid_000123"));
    }
}
