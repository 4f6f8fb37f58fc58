//! Key templates: literals and fields, such as `empid_{id:06}`.

use smol_str::{SmolStr, SmolStrBuilder};

use super::text::can_terminate;
use super::utf16::is_key_char;
use super::{KeyValue, PartFormat, PartitionKey, RowKey};
use crate::error::{Error, Result};

/// One part of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplatePart {
    /// Text that stands in every key.
    Literal(&'static str),
    /// A field's value.
    Field {
        /// The field's name.
        name: &'static str,
        /// How its value is written.
        format: PartFormat,
    },
}

/// How fields make a key. Written by the derive macros, checked at compile time.
///
/// ```
/// use table_core::keys::{KeyTemplate, KeyValue, PartFormat, PartKind, PartSpec, TemplatePart};
///
/// const ROW: KeyTemplate = KeyTemplate::new(&[
///     TemplatePart::Literal("empid_"),
///     TemplatePart::Field {
///         name: "id",
///         format: PartFormat::new(PartKind::Unsigned { digits: 10 }, PartSpec::Width(6), None),
///     },
/// ]);
/// let key = ROW.row_key(&[KeyValue::Unsigned(223)])?;
/// assert_eq!(key.as_str(), "empid_000223");
///
/// let mut fields = [KeyValue::Lost];
/// ROW.decode(key.as_str(), &mut fields)?;
/// assert_eq!(fields, [KeyValue::Unsigned(223)]);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyTemplate {
    parts: &'static [TemplatePart],
}

impl KeyTemplate {
    /// Checks that the parts can always be told apart.
    ///
    /// # Panics
    /// At compile time, where a text is followed by another field, or by a literal that cannot end it.
    #[must_use]
    #[expect(clippy::panic, clippy::indexing_slicing, reason = "evaluated at compile time, where a panic is the error")]
    pub const fn new(parts: &'static [TemplatePart]) -> Self {
        let mut at = 0;
        while at < parts.len() {
            match parts[at] {
                TemplatePart::Literal(literal) => check_literal(literal),
                TemplatePart::Field { format: PartFormat::Text { terminator }, .. } if at + 1 < parts.len() => {
                    let TemplatePart::Literal(next) = parts[at + 1] else {
                        panic!("a text in a key template must be followed by a literal such as `_`, or end the key");
                    };
                    let first = next.as_bytes()[0];
                    assert!(
                        can_terminate(first as char) && matches!(terminator, Some(end) if end as u32 == first as u32),
                        "this character cannot end a text in a key template; use `_`, `-`, `!`, `|` or a letter"
                    );
                }
                TemplatePart::Field { .. } => {}
            }
            at += 1;
        }
        Self { parts }
    }

    /// The parts.
    #[must_use]
    pub const fn parts(&self) -> &'static [TemplatePart] {
        self.parts
    }

    /// The names and forms of the fields, in order.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, PartFormat)> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Literal(_) => None,
            TemplatePart::Field { name, format } => Some((*name, *format)),
        })
    }

    /// What every key of this template begins with.
    #[must_use]
    pub const fn literal_prefix(&self) -> &'static str {
        match self.parts {
            [TemplatePart::Literal(literal), ..] => literal,
            _ => "",
        }
    }

    /// The partition key of these field values, in the template's order.
    ///
    /// # Errors
    /// [`InvalidKey`](crate::ErrorKind::InvalidKey) for a value that does not fit,
    /// [`LimitExceeded`](crate::ErrorKind::LimitExceeded) for a key that gets too long.
    pub fn partition_key(&self, values: &[KeyValue<'_>]) -> Result<PartitionKey> {
        PartitionKey::from_encoded(self.encode(values.iter().map(Ok))?)
    }

    /// The row key of these field values, in the template's order.
    ///
    /// # Errors
    /// As [`KeyTemplate::partition_key`].
    pub fn row_key(&self, values: &[KeyValue<'_>]) -> Result<RowKey> {
        RowKey::from_encoded(self.encode(values.iter().map(Ok))?)
    }

    /// The text of these field values, or the first error among them.
    #[inline]
    pub(crate) fn encode<'v>(&self, values: impl IntoIterator<Item = Result<&'v KeyValue<'v>>>) -> Result<SmolStr> {
        let mut out = SmolStrBuilder::new();
        let mut values = values.into_iter();
        for part in self.parts {
            match part {
                TemplatePart::Literal(literal) => out.push_str(literal),
                TemplatePart::Field { name, format } => {
                    let value = values.next().ok_or_else(|| missing(name))??;
                    format.push(&mut out, value).map_err(|error| error.with_property(*name))?;
                }
            }
        }
        Ok(out.finish())
    }

    /// Reads a key back into its field values; a part that loses information gives [`KeyValue::Lost`].
    ///
    /// # Errors
    /// [`Corrupted`](crate::ErrorKind::Corrupted) where the key is not one of this template.
    #[inline]
    pub fn decode<'k>(&self, key: &'k str, values: &mut [KeyValue<'k>]) -> Result<()> {
        let mut rest = key;
        let mut slots = values.iter_mut();
        for part in self.parts {
            rest = match part {
                TemplatePart::Literal(literal) => rest.strip_prefix(literal).ok_or_else(|| self.foreign(key, None))?,
                TemplatePart::Field { name, format } => {
                    let (value, rest) = format.take(rest).ok_or_else(|| self.foreign(key, Some(name)))?;
                    *slots.next().ok_or_else(|| missing(name))? = value;
                    rest
                }
            };
        }
        if rest.is_empty() { Ok(()) } else { Err(self.foreign(key, None)) }
    }

    /// The form of the field that is the part at this position.
    ///
    /// # Panics
    /// At compile time, where that part is no field.
    #[must_use]
    #[expect(clippy::panic, clippy::indexing_slicing, reason = "evaluated at compile time, where a panic is the error")]
    pub(crate) const fn format_at(&self, position: usize) -> PartFormat {
        match self.parts[position] {
            TemplatePart::Field { format, .. } => format,
            TemplatePart::Literal(_) => panic!("this part of the key template is no field"),
        }
    }

    /// Whether a key is one of this template.
    #[must_use]
    pub fn matches(&self, key: &str) -> bool {
        let rest = self.parts.iter().try_fold(key, |rest, part| match part {
            TemplatePart::Literal(literal) => rest.strip_prefix(literal),
            TemplatePart::Field { format, .. } => format.take(rest).map(|(_, rest)| rest),
        });
        rest == Some("")
    }

    /// A key that is none of this template, perhaps because of the part of that name.
    #[cold]
    pub(super) fn foreign(&self, key: &str, name: Option<&'static str>) -> Error {
        let error = Error::corrupted(format!("the key {key:?} does not follow the template {self}"));
        match name {
            Some(name) => error.with_property(name),
            None => error,
        }
    }
}

/// A literal must be ready to stand in a key.
#[expect(clippy::indexing_slicing, reason = "evaluated at compile time, where a panic is the error")]
const fn check_literal(literal: &str) {
    let bytes = literal.as_bytes();
    assert!(!bytes.is_empty(), "a literal in a key template must not be empty");
    assert!(bytes[0] != b'~', "a literal in a key template must not begin with `~`");
    let mut at = 0;
    while at < bytes.len() {
        assert!(
            bytes[at] >= 0x80 || is_key_char(bytes[at] as char),
            "a key template must not hold `/`, `\\`, `#`, `?` or control characters"
        );
        at += 1;
    }
}

#[cold]
fn missing(name: &str) -> Error {
    Error::invalid_key(format!("the key template needs a value for {name}"))
}

impl std::fmt::Display for KeyTemplate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            TemplatePart::Literal(literal) => f.write_str(literal),
            TemplatePart::Field { name, .. } => write!(f, "{{{name}}}"),
        })
    }
}
