//! Keys part by part, as generated code writes and reads them: straight down the template.
//!
//! A template that is known when the program is compiled needs no walk at run time: each part is a call whose form is
//! a constant, so the compiler keeps only the lines for that form. The invariant: bytes and refusals are those of
//! [`KeyTemplate`], which walks the same forms at run time; errors too, but a part that does not fit is told before a
//! key that is too long.

use smol_str::{SmolStr, SmolStrBuilder};

use super::number::Digits;
use super::text::is_plain;
use super::{KeyPart, KeyTemplate, KeyValue, PartFormat};
use crate::error::Result;

/// A field on its way into a key, with room for its text.
#[derive(Debug)]
pub struct KeyPiece<'v> {
    name: &'static str,
    format: PartFormat,
    value: KeyValue<'v>,
    digits: Digits,
    other: SmolStr,
}

impl<'v> KeyPiece<'v> {
    /// A field.
    ///
    /// # Errors
    /// That of the value.
    #[inline]
    pub fn new(name: &'static str, format: PartFormat, value: Result<KeyValue<'v>>) -> Result<Self> {
        Ok(Self { name, format, value: value?, digits: Digits::new(), other: SmolStr::default() })
    }

    /// The field's text: as it is where it needs no escape, else as [`PartFormat`] writes it.
    ///
    /// # Errors
    /// As [`KeyTemplate::partition_key`].
    #[expect(clippy::inline_always, reason = "the form is a constant where this is called, and must be seen here")]
    #[inline(always)]
    pub fn text(&mut self) -> Result<&str> {
        let Self { name, format, value, digits, other } = self;
        match (*format, &*value) {
            (PartFormat::Text { terminator }, KeyValue::Text(text)) if is_plain(text, terminator) => Ok(text),
            (PartFormat::Unsigned { width }, KeyValue::Unsigned(number)) if Digits::holds(*number, width) => {
                Ok(digits.padded(*number, width))
            }
            (format, value) => {
                *other = written(name, format, value)?;
                Ok(other)
            }
        }
    }
}

/// A field as [`PartFormat`] writes it.
fn written(name: &'static str, format: PartFormat, value: &KeyValue<'_>) -> Result<SmolStr> {
    let mut out = SmolStrBuilder::new();
    format.push(&mut out, value).map_err(|error| error.with_property(name))?;
    Ok(out.finish())
}

/// A key that is being read.
#[derive(Debug)]
pub struct KeyReader<'k> {
    template: &'static KeyTemplate,
    key: &'k str,
    rest: &'k str,
}

impl<'k> KeyReader<'k> {
    /// Begins a key of a template, by which errors name it.
    #[inline]
    #[must_use]
    pub const fn new(template: &'static KeyTemplate, key: &'k str) -> Self {
        Self { template, key, rest: key }
    }

    /// Reads a literal.
    ///
    /// # Errors
    /// As [`KeyTemplate::decode`].
    #[inline]
    pub fn literal(&mut self, literal: &'static str) -> Result<()> {
        if self.has_literal(literal) { Ok(()) } else { Err(self.template.foreign(self.key, None)) }
    }

    /// Whether a literal comes next, which is read then.
    #[inline]
    #[must_use]
    pub fn has_literal(&mut self, literal: &'static str) -> bool {
        let rest = self.rest.strip_prefix(literal);
        rest.is_some_and(|rest| {
            self.rest = rest;
            true
        })
    }

    /// Whether a field comes next, which is read past then.
    #[expect(clippy::inline_always, reason = "the form is a constant where this is called, and must be seen here")]
    #[inline(always)]
    #[must_use]
    pub fn has_field(&mut self, format: PartFormat) -> bool {
        let taken = format.take(self.rest);
        taken.is_some_and(|(_, rest)| {
            self.rest = rest;
            true
        })
    }

    /// Whether nothing is left.
    #[inline]
    #[must_use]
    pub const fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Reads a field.
    ///
    /// # Errors
    /// As [`KeyTemplate::decode`].
    #[expect(clippy::inline_always, reason = "the form is a constant where this is called, and must be seen here")]
    #[inline(always)]
    pub fn field<T: KeyPart>(&mut self, name: &'static str, format: PartFormat) -> Result<T> {
        let value = self.value(name, format)?;
        T::from_key(value).map_err(|error| error.with_property(name))
    }

    /// Reads past a field that another part or a property gives.
    ///
    /// # Errors
    /// As [`KeyTemplate::decode`].
    #[expect(clippy::inline_always, reason = "the form is a constant where this is called, and must be seen here")]
    #[inline(always)]
    pub fn skip(&mut self, name: &'static str, format: PartFormat) -> Result<()> {
        self.value(name, format).map(drop)
    }

    #[expect(clippy::inline_always, reason = "the form is a constant where this is called, and must be seen here")]
    #[inline(always)]
    fn value(&mut self, name: &'static str, format: PartFormat) -> Result<KeyValue<'k>> {
        let (value, rest) = format.take(self.rest).ok_or_else(|| self.template.foreign(self.key, Some(name)))?;
        self.rest = rest;
        Ok(value)
    }

    /// Sees that nothing is left.
    ///
    /// # Errors
    /// As [`KeyTemplate::decode`].
    #[inline]
    pub fn end(self) -> Result<()> {
        if self.is_at_end() { Ok(()) } else { Err(self.template.foreign(self.key, None)) }
    }
}
