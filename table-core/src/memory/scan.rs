//! One page of a query over the rows of a table.

use std::cmp::Ordering;
use std::ops::Bound;

use super::rows::{Row, Rows};
use crate::dynamic::{DynamicEntity, Properties};
use crate::error::{Error, Result};
use crate::keys::{EntityKey, KeyRange, SortKey, Span, utf16};
use crate::limits;
use crate::query::Filter;
use crate::store::{PageToken, Selection, StoreQuery};

/// Rows that one page looks at. The service stops after five seconds; we stop after a count, so
/// that a selective filter gives short and empty pages here too, the same on every run.
pub(super) const ROWS_LOOKED_AT: usize = 2 * limits::PAGE_ENTITIES;

/// The first words of our tokens, so that those of other stores are refused.
const TOKEN_MARK: &str = "memory-1";

/// What a page found: pointers to rows, to be copied once the lock is gone.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) rows: Vec<Row>,
    /// The first row that was not looked at.
    pub(super) next: Option<PageToken>,
}

/// Where a page begins, and how far it may go.
#[derive(Debug)]
pub(super) struct Scan<'q> {
    range: &'q KeyRange,
    filter: Option<&'q Filter>,
    page_size: usize,
    start: SortKey,
}

/// Where a row lies, seen from the range.
enum Place {
    Inside,
    /// The next row inside lies at or after this place.
    Skip(SortKey),
    /// Only rows outside follow.
    Beyond,
}

impl<'q> Scan<'q> {
    /// Checks a query before any lock is taken.
    pub(super) fn new(query: &'q StoreQuery) -> Result<Self> {
        let page_size = query.page_size();
        if page_size == 0 {
            return Err(Error::invalid_query("a page of no entities never ends; ask for one entity at least"));
        }
        let mut start = first_place(&query.range);
        if let Some(token) = &query.after {
            start = start.max(SortKey::of(&decode_token(token)?));
        }
        Ok(Self { range: &query.range, filter: query.filter.as_ref(), page_size, start })
    }

    /// Looks at rows until the page is full, the range ends, or enough were looked at.
    pub(super) fn run(self, rows: &Rows) -> Found {
        let mut found = Found::default();
        let mut looked_at = 0;
        let mut start = self.start.clone();
        'seek: loop {
            for (key, row) in rows.from(&start) {
                if found.rows.len() == self.page_size || looked_at == ROWS_LOOKED_AT {
                    if !matches!(self.place(key, &row.key), Place::Beyond) {
                        found.next = Some(encode_token(&row.key));
                    }
                    return found;
                }
                looked_at += 1;
                match self.place(key, &row.key) {
                    Place::Inside if self.filter.is_none_or(|filter| filter.matches(row)) => {
                        found.rows.push(row.clone());
                    }
                    Place::Inside => {}
                    Place::Skip(place) => {
                        start = place;
                        continue 'seek;
                    }
                    Place::Beyond => return found,
                }
            }
            return found;
        }
    }

    fn place(&self, at: &SortKey, key: &EntityKey) -> Place {
        let KeyRange { partition, row } = self.range;
        match compare(partition, key.partition.as_str()) {
            Ordering::Less => return Place::Skip(SortKey::after_partition(key.partition.as_str())),
            Ordering::Greater => return Place::Beyond,
            Ordering::Equal => {}
        }
        let only_partition = partition.as_exact().is_some();
        match compare(row, key.row.as_str()) {
            Ordering::Equal => Place::Inside,
            Ordering::Greater if only_partition => Place::Beyond,
            Ordering::Greater => Place::Skip(SortKey::after_partition(key.partition.as_str())),
            Ordering::Less => Place::Skip(first_row(key.partition.as_str(), row).max(successor(at))),
        }
    }
}

/// Whether a key lies before, in or after a range of texts.
fn compare(span: &Span, key: &str) -> Ordering {
    let before = match span.lower() {
        Bound::Unbounded => false,
        Bound::Included(lower) => utf16::compare(key, lower).is_lt(),
        Bound::Excluded(lower) => utf16::compare(key, lower).is_le(),
    };
    let after = match span.upper() {
        Bound::Unbounded => false,
        Bound::Included(upper) => utf16::compare(key, upper).is_gt(),
        Bound::Excluded(upper) => utf16::compare(key, upper).is_ge(),
    };
    match (before, after) {
        (true, _) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => Ordering::Equal,
    }
}

/// A place at or before the first key of a range.
fn first_place(range: &KeyRange) -> SortKey {
    match range.partition.lower() {
        Bound::Unbounded => SortKey::from_bytes(Vec::new()),
        Bound::Included(partition) => first_row(partition, &range.row),
        Bound::Excluded(partition) => SortKey::after_partition(partition),
    }
}

/// A place at or before the first row of a range in a partition.
fn first_row(partition: &str, row: &Span) -> SortKey {
    match row.lower() {
        Bound::Unbounded => SortKey::from_text(partition, ""),
        Bound::Included(row) | Bound::Excluded(row) => SortKey::from_text(partition, row),
    }
}

/// The place right after a key.
fn successor(key: &SortKey) -> SortKey {
    let mut bytes = key.as_bytes().to_vec();
    bytes.push(0);
    SortKey::from_bytes(bytes)
}

/// Copies what a read returns, and nothing that it leaves out.
pub(super) fn select(row: &DynamicEntity, selection: &Selection) -> DynamicEntity {
    if *selection == Selection::All {
        return row.clone();
    }
    let chosen = row.properties.iter().filter(|(name, _)| selection.includes(name.as_str()));
    DynamicEntity {
        key: row.key.clone(),
        etag: row.etag.clone(),
        timestamp: row.timestamp,
        properties: chosen.map(|(name, value)| (name.clone(), value.clone())).collect::<Properties>(),
    }
}

/// The next key in words. No key holds a line feed, so the parts cannot run into each other.
fn encode_token(next: &EntityKey) -> PageToken {
    PageToken::new(format!("{TOKEN_MARK}\n{}\n{}", next.partition, next.row))
}

fn decode_token(token: &PageToken) -> Result<EntityKey> {
    let foreign = || Error::invalid_query("the continuation is not this store's; begin the query anew");
    let mut lines = token.as_str().split('\n');
    match (lines.next(), lines.next(), lines.next(), lines.next()) {
        (Some(TOKEN_MARK), Some(partition), Some(row), None) => {
            EntityKey::parse(partition, row).map_err(|error| foreign().with_source(error))
        }
        _ => Err(foreign()),
    }
}
