//! Ranges of rows by their leading key parts.

use std::ops::Bound;
use std::time::Duration;

use smol_str::{SmolStr, SmolStrBuilder};

use super::text::text_prefix_end;
use super::{KeyRange, KeyTemplate, KeyValue, PartFormat, PartitionKey, Span, TemplatePart, utf16};
use crate::error::{Error, Result};
use crate::timestamp::Timestamp;

/// The least time by which two instants differ.
const TICK: Duration = Duration::from_nanos(100);

/// The leading parts of a row key, on the way to a range of rows.
///
/// The generated range builders wrap it. It matches exactly: employee 12 never matches 123.
///
/// ```
/// use table_core::keys::{KeyPrefix, KeyTemplate, KeyValue, PartFormat, PartKind, PartSpec, TemplatePart};
/// use table_core::PartitionKey;
///
/// const ID: PartFormat = PartFormat::new(PartKind::Unsigned { digits: 10 }, PartSpec::Width(6), None);
/// const ROW: KeyTemplate =
///     KeyTemplate::new(&[TemplatePart::Literal("empid_"), TemplatePart::Field { name: "id", format: ID }]);
///
/// let range = KeyPrefix::new(PartitionKey::new("Sales"), &ROW).push(Ok(KeyValue::Unsigned(12))).finish()?;
/// assert!(range.row.contains("empid_000012"));
/// assert!(!range.row.contains("empid_000123"));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct KeyPrefix {
    partition: Result<PartitionKey>,
    row: Result<SmolStr>,
    /// What the template has left after the parts so far.
    rest: &'static [TemplatePart],
}

impl KeyPrefix {
    /// All rows of a template in a partition.
    pub fn new(partition: Result<PartitionKey>, row: &KeyTemplate) -> Self {
        Self { partition, row: Ok(SmolStr::default()), rest: row.parts() }.push_literals()
    }

    /// Takes the literals up to the next field.
    fn push_literals(mut self) -> Self {
        while let [TemplatePart::Literal(literal), rest @ ..] = self.rest {
            self.row = self.row.map(|row| SmolStr::from_iter([&*row, literal]));
            self.rest = rest;
        }
        self
    }

    fn next_field(&self) -> Result<(&'static str, PartFormat)> {
        match self.rest {
            [TemplatePart::Field { name, format }, ..] => Ok((*name, *format)),
            _ => Err(Error::invalid_key("the row key has no part left to fix")),
        }
    }

    /// Fixes the next part.
    pub fn push(mut self, value: Result<KeyValue<'_>>) -> Self {
        self.row = self.encode_next(value);
        self.rest = self.rest.get(1..).unwrap_or_default();
        self.push_literals()
    }

    /// The row text so far and the next part.
    fn encode_next(&self, value: Result<KeyValue<'_>>) -> Result<SmolStr> {
        let (name, format) = self.next_field()?;
        let mut out = SmolStrBuilder::new();
        out.push_str(self.row_so_far()?);
        format.push(&mut out, &value?).map_err(|error| error.with_property(name))?;
        Ok(out.finish())
    }

    fn row_so_far(&self) -> Result<&str> {
        self.row.as_deref().map_err(Clone::clone)
    }

    /// All rows with the parts so far.
    ///
    /// # Errors
    /// The first error of a part.
    pub fn finish(self) -> Result<KeyRange> {
        let row = self.row?;
        let span = if self.rest.is_empty() { Span::exact(row) } else { Span::prefix(&row) };
        within(self.partition, span)
    }

    /// All rows with the parts so far, whether or not their key goes on after the template's end.
    ///
    /// # Errors
    /// The first error of a part.
    pub fn finish_open(self) -> Result<KeyRange> {
        within(self.partition, Span::prefix(&self.row?))
    }

    /// All rows whose next part is a text that begins with `prefix`.
    ///
    /// # Errors
    /// The first error of a part; [`InvalidKey`](crate::ErrorKind::InvalidKey) where the next part is no text.
    pub fn text_prefix(self, prefix: &str) -> Result<KeyRange> {
        if prefix.is_empty() {
            return within(self.partition, Span::prefix(&self.row?));
        }
        let (name, format) = self.next_field()?;
        let mut out = SmolStrBuilder::new();
        out.push_str(self.row_so_far()?);
        let guard = format.push_text(&mut out, prefix).map_err(|error| error.with_property(name))?;
        let encoded = out.finish();
        let upper = text_prefix_end(&encoded, guard).map_or(Bound::Unbounded, |end| Bound::Excluded(end.into()));
        within(self.partition, Span::new(Bound::Included(encoded), upper))
    }

    /// All rows whose next part lies between two values.
    ///
    /// Of a time by calendar format these are the rows of every day, or what the format tells, that
    /// the range touches: no row in the range is left out.
    ///
    /// # Errors
    /// The first error of a part; [`InvalidKey`](crate::ErrorKind::InvalidKey) for a text that a
    /// literal follows, since such texts do not sort as their rows do, and for a bucket.
    pub fn between(self, lower: Bound<Result<KeyValue<'_>>>, upper: Bound<Result<KeyValue<'_>>>) -> Result<KeyRange> {
        let (name, format) = self.next_field()?;
        let last = self.rest.len() == 1;
        if format.is_text() && !last {
            return Err(Error::invalid_key(
                "a text that more parts follow does not sort as its rows do; use a prefix, or one value",
            )
            .with_property(name));
        }
        if matches!(format, PartFormat::Bucket(_)) {
            return Err(
                Error::invalid_key("buckets do not sort as the values in them do; fix one value").with_property(name)
            );
        }
        let (lower, upper) = if format.is_lossy() { (later(lower), earlier(upper)) } else { (lower, upper) };
        let (lower, upper) = if format.is_descending() { (upper, lower) } else { (lower, upper) };
        let lower = match lower {
            Bound::Unbounded => Bound::Included(self.row_so_far()?.into()),
            Bound::Included(value) => Bound::Included(self.encode_next(value)?),
            Bound::Excluded(value) => after(self.encode_next(value)?, last),
        };
        let upper = match upper {
            Bound::Unbounded => {
                utf16::prefix_end(self.row_so_far()?).map_or(Bound::Unbounded, |end| Bound::Excluded(end.into()))
            }
            Bound::Excluded(value) => Bound::Excluded(self.encode_next(value)?),
            Bound::Included(value) if last => Bound::Included(self.encode_next(value)?),
            Bound::Included(value) => {
                utf16::prefix_end(&self.encode_next(value)?).map_or(Bound::Unbounded, |end| Bound::Excluded(end.into()))
            }
        };
        within(self.partition, Span::new(lower, upper))
    }
}

/// The same lower bound of a time that its key does not tell whole. Leaving out a time must not
/// leave out its day, so the first time that is wanted takes its place.
fn later(bound: Bound<Result<KeyValue<'_>>>) -> Bound<Result<KeyValue<'_>>> {
    match bound {
        Bound::Excluded(Ok(KeyValue::Time(at))) if at < Timestamp::MAX => {
            Bound::Included(Ok(KeyValue::Time(at.next_tick())))
        }
        bound => bound,
    }
}

/// The same upper bound of a time that its key does not tell whole; see [`later`].
fn earlier(bound: Bound<Result<KeyValue<'_>>>) -> Bound<Result<KeyValue<'_>>> {
    match bound {
        Bound::Excluded(Ok(KeyValue::Time(at))) if at > Timestamp::MIN => {
            Bound::Included(Ok(KeyValue::Time(at.saturating_sub(TICK))))
        }
        bound => bound,
    }
}

/// The lower bound that leaves out a value: the value's own key, or every key that begins with it.
fn after(encoded: SmolStr, last: bool) -> Bound<SmolStr> {
    if last {
        return Bound::Excluded(encoded);
    }
    match utf16::prefix_end(&encoded) {
        Some(end) => Bound::Included(end.into()),
        None => Bound::Excluded(encoded),
    }
}

fn within(partition: Result<PartitionKey>, row: Span) -> Result<KeyRange> {
    Ok(KeyRange { partition: Span::exact(partition?.as_smol_str().clone()), row })
}
