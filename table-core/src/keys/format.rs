//! The form of one part of a key: how a value is written, and read back.

use smol_str::SmolStrBuilder;
use uuid::Uuid;

use super::text::{self, Guard};
use super::{Buckets, Calendar, KeyValue, PartKind, number};
use crate::error::{Error, Result};
use crate::timestamp::Timestamp;

/// Digits of .NET ticks.
const TICK_DIGITS: u8 = 19;

/// What a template says about a part beside its name: the text after the colon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartSpec {
    /// `{id}`: the default form of the type.
    Default,
    /// `{id:06}`: a number of this many digits.
    Width(u8),
    /// `{at:desc}`: a time, latest first.
    Desc,
    /// `{at:%Y%m%d}`: a time by calendar format.
    Calendar(&'static str),
    /// `{bucket(id, 16):02}`: the bucket of a value.
    Bucket {
        /// How many buckets there are.
        count: u16,
        /// How many digits their numbers take.
        width: u8,
    },
}

/// How one part of a key is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartFormat {
    /// Digits with leading zeros.
    Unsigned {
        /// How many digits.
        width: u8,
    },
    /// `p` and digits, or `n` and digits that fall as the number does.
    Signed {
        /// How many digits.
        digits: u8,
    },
    /// A signed number as plain digits; negative ones are refused.
    Plain {
        /// How many digits.
        width: u8,
    },
    /// Eight hexadecimal digits that sort as the numbers do.
    Float32,
    /// Sixteen hexadecimal digits that sort as the numbers do.
    Float64,
    /// `false` or `true`.
    Bool,
    /// Lower-case hyphenated.
    Uuid,
    /// Nineteen digits of .NET ticks.
    Ticks,
    /// Nineteen digits of what the ticks lack to `DateTime.MaxValue`: latest first.
    InvertedTicks,
    /// A calendar format, which loses what is finer.
    Calendar(Calendar),
    /// The bucket of a value, which loses the value.
    Bucket(Buckets),
    /// A text, escaped, up to the literal that follows.
    Text {
        /// What the literal that follows begins with; none at the end of a key.
        terminator: Option<char>,
    },
}

impl PartFormat {
    /// The form of a part.
    ///
    /// # Panics
    /// At compile time, where the template says something that does not fit the type.
    #[must_use]
    #[expect(clippy::panic, reason = "evaluated at compile time, where a panic is the error")]
    pub const fn new(kind: PartKind, spec: PartSpec, terminator: Option<char>) -> Self {
        match (kind, spec) {
            (PartKind::Unsigned { digits }, PartSpec::Default) => Self::Unsigned { width: digits },
            (PartKind::Unsigned { .. }, PartSpec::Width(width)) => Self::Unsigned { width },
            (PartKind::Signed { digits }, PartSpec::Default) => Self::Signed { digits },
            (PartKind::Signed { .. }, PartSpec::Width(width)) => Self::Plain { width },
            (PartKind::Float32, PartSpec::Default) => Self::Float32,
            (PartKind::Float64, PartSpec::Default) => Self::Float64,
            (PartKind::Bool, PartSpec::Default) => Self::Bool,
            (PartKind::Uuid, PartSpec::Default) => Self::Uuid,
            (PartKind::Time, PartSpec::Default) => Self::Ticks,
            (PartKind::Time, PartSpec::Desc) => Self::InvertedTicks,
            (PartKind::Time, PartSpec::Calendar(format)) => Self::Calendar(Calendar::new(format)),
            (PartKind::Text, PartSpec::Default) => Self::Text { terminator },
            (PartKind::Float32 | PartKind::Float64, PartSpec::Bucket { .. }) => {
                panic!("a float has no bucket in a key template; use another field")
            }
            (_, PartSpec::Bucket { count, width }) => Self::Bucket(Buckets::new(count, width)),
            (_, PartSpec::Width(_)) => panic!("a width such as `:06` fits only an integer in a key template"),
            (_, PartSpec::Desc) => panic!("`:desc` fits only a time in a key template"),
            (_, PartSpec::Calendar(_)) => panic!("a calendar format fits only a time in a key template"),
        }
    }

    /// Whether the part loses information, so that its field is stored as a property too.
    #[must_use]
    pub const fn is_lossy(self) -> bool {
        matches!(self, Self::Calendar(_) | Self::Bucket(_))
    }

    /// Whether greater values are written as smaller texts.
    #[must_use]
    pub const fn is_descending(self) -> bool {
        matches!(self, Self::InvertedTicks)
    }

    pub(crate) const fn is_text(self) -> bool {
        matches!(self, Self::Text { .. })
    }

    /// Writes a value.
    #[inline]
    pub(super) fn push(self, out: &mut SmolStrBuilder, value: &KeyValue<'_>) -> Result<()> {
        match (self, value) {
            (Self::Unsigned { width }, KeyValue::Unsigned(number)) => number::push_padded(out, *number, width),
            (Self::Signed { digits }, KeyValue::Signed(number)) => number::push_signed(out, *number, digits),
            (Self::Plain { width }, KeyValue::Signed(number)) => {
                let number = u64::try_from(*number).map_err(|_| negative(*number))?;
                number::push_padded(out, number, width)
            }
            (Self::Float32 | Self::Float64, KeyValue::Float(number)) if number.is_nan() => Err(Error::invalid_key(
                "NaN cannot stand in a key, since it has no place in the order; leave the field out of the key",
            )),
            #[expect(clippy::cast_possible_truncation, reason = "an f32 was widened to get here")]
            (Self::Float32, KeyValue::Float(number)) => {
                number::push_hex(out, u64::from(number::ordered_f32(*number as f32)), 8);
                Ok(())
            }
            (Self::Float64, KeyValue::Float(number)) => {
                number::push_hex(out, number::ordered_f64(*number), 16);
                Ok(())
            }
            (Self::Bool, KeyValue::Bool(truth)) => {
                out.push_str(if *truth { "true" } else { "false" });
                Ok(())
            }
            (Self::Uuid, KeyValue::Uuid(uuid)) => {
                out.push_str(uuid.hyphenated().encode_lower(&mut Uuid::encode_buffer()));
                Ok(())
            }
            (Self::Ticks, KeyValue::Time(at)) => push_ticks(out, at.ticks()),
            (Self::InvertedTicks, KeyValue::Time(at)) => push_ticks(out, at.inverted_ticks()),
            (Self::Calendar(calendar), KeyValue::Time(at)) => calendar.push(out, *at),
            (Self::Bucket(buckets), value) => buckets.push(out, value),
            (Self::Text { .. }, KeyValue::Text(text)) => self.push_text(out, text).map(|_| ()),
            _ => Err(Error::invalid_key("the value's type is not the one that the key template was made for")),
        }
    }

    /// Writes a text, and says whether it ends where a guard is needed.
    #[inline]
    pub(super) fn push_text(self, out: &mut SmolStrBuilder, text: &str) -> Result<Guard> {
        let Self::Text { terminator } = self else {
            return Err(Error::invalid_key("only a text in a key has a prefix"));
        };
        text::push_text(out, text, terminator)
    }

    /// Takes a value off the front. Only what [`PartFormat::push`] writes is taken.
    #[expect(clippy::inline_always, reason = "generated code gives a constant form, of which one line is left")]
    #[inline(always)]
    pub(super) fn take(self, text: &str) -> Option<(KeyValue<'_>, &str)> {
        match self {
            Self::Unsigned { width } => {
                number::take_padded(text, width).map(|(number, rest)| (KeyValue::Unsigned(number), rest))
            }
            Self::Signed { digits } => {
                number::take_signed(text, digits).map(|(number, rest)| (KeyValue::Signed(number), rest))
            }
            Self::Plain { width } => {
                let (number, rest) = number::take_padded(text, width)?;
                Some((KeyValue::Signed(i64::try_from(number).ok()?), rest))
            }
            Self::Float32 => {
                let (bits, rest) = number::take_hex(text, 8)?;
                let number = number::from_ordered_f32(u32::try_from(bits).ok()?);
                (!number.is_nan()).then_some((KeyValue::Float(f64::from(number)), rest))
            }
            Self::Float64 => {
                let (bits, rest) = number::take_hex(text, 16)?;
                let number = number::from_ordered_f64(bits);
                (!number.is_nan()).then_some((KeyValue::Float(number), rest))
            }
            Self::Bool => text
                .strip_prefix("true")
                .map(|rest| (KeyValue::Bool(true), rest))
                .or_else(|| text.strip_prefix("false").map(|rest| (KeyValue::Bool(false), rest))),
            Self::Uuid => take_uuid(text),
            Self::Ticks => take_ticks(text, |ticks| ticks),
            Self::InvertedTicks => take_ticks(text, |ticks| Timestamp::MAX.ticks() - ticks),
            Self::Calendar(calendar) => calendar.take(text).map(|rest| (KeyValue::Lost, rest)),
            Self::Bucket(buckets) => buckets.take(text).map(|rest| (KeyValue::Lost, rest)),
            Self::Text { terminator } => {
                text::take_text(text, terminator).map(|(text, rest)| (KeyValue::Text(text), rest))
            }
        }
    }
}

fn negative(number: i64) -> Error {
    Error::invalid_key(format!(
        "{number} is negative, and its key template gives a width; leave the width out to have negative numbers sorted"
    ))
}

fn push_ticks(out: &mut SmolStrBuilder, ticks: i64) -> Result<()> {
    number::push_padded(out, u64::try_from(ticks).unwrap_or(0), TICK_DIGITS)
}

fn take_ticks(text: &str, turn: impl Fn(i64) -> i64) -> Option<(KeyValue<'_>, &str)> {
    let (ticks, rest) = number::take_padded(text, TICK_DIGITS)?;
    let at = Timestamp::from_ticks(turn(i64::try_from(ticks).ok()?)).ok()?;
    Some((KeyValue::Time(at), rest))
}

fn take_uuid(text: &str) -> Option<(KeyValue<'_>, &str)> {
    let (hyphenated, rest) = text.split_at_checked(uuid::fmt::Hyphenated::LENGTH)?;
    let uuid = Uuid::try_parse(hyphenated).ok()?;
    let canonical = hyphenated == uuid.hyphenated().encode_lower(&mut Uuid::encode_buffer());
    canonical.then_some((KeyValue::Uuid(uuid), rest))
}
