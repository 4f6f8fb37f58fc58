//! The types that a key template can hold.

use std::borrow::Cow;

use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::timestamp::Timestamp;

/// A field's value on its way into a key or out of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum KeyValue<'a> {
    /// Nothing: what a part that loses information gives back.
    Lost,
    /// An unsigned number.
    Unsigned(u64),
    /// A signed number.
    Signed(i64),
    /// A floating number.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A UUID.
    Uuid(Uuid),
    /// An instant.
    Time(Timestamp),
    /// A text.
    Text(Cow<'a, str>),
    /// A bucket by its number, in place of a value that falls into it.
    Bucket(u16),
}

impl KeyValue<'_> {
    /// The same value, owning its text.
    #[must_use]
    pub fn into_owned(self) -> KeyValue<'static> {
        match self {
            Self::Lost => KeyValue::Lost,
            Self::Unsigned(number) => KeyValue::Unsigned(number),
            Self::Signed(number) => KeyValue::Signed(number),
            Self::Float(number) => KeyValue::Float(number),
            Self::Bool(truth) => KeyValue::Bool(truth),
            Self::Uuid(uuid) => KeyValue::Uuid(uuid),
            Self::Time(at) => KeyValue::Time(at),
            Self::Text(text) => KeyValue::Text(Cow::Owned(text.into_owned())),
            Self::Bucket(bucket) => KeyValue::Bucket(bucket),
        }
    }
}

/// What sort of key part a type gives, which decides its default form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    /// Unsigned, of at most this many digits.
    Unsigned {
        /// Digits of the type's largest value.
        digits: u8,
    },
    /// Signed, of at most this many digits.
    Signed {
        /// Digits of the type's largest magnitude.
        digits: u8,
    },
    /// A 32-bit float.
    Float32,
    /// A 64-bit float.
    Float64,
    /// A truth value.
    Bool,
    /// A UUID.
    Uuid,
    /// An instant.
    Time,
    /// A text.
    Text,
}

/// A type that can stand in a key template.
///
/// Implemented for the integers, floats, `bool`, `String`, `Uuid`, [`Timestamp`] and
/// `time::OffsetDateTime` (and `chrono::DateTime<Utc>` with the feature `chrono`); `#[derive(Property)]`
/// implements it for C-like enums and newtypes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand in a key",
    label = "not a key part",
    note = "use a number, bool, String, Uuid or time; derive `Property` for a C-like enum or a newtype"
)]
pub trait KeyPart: Sized {
    /// What sort of part the type gives.
    const KIND: PartKind;

    /// The value to be written.
    ///
    /// # Errors
    /// [`InvalidKey`](crate::ErrorKind::InvalidKey) for a value that no key can hold.
    fn to_key(&self) -> Result<KeyValue<'_>>;

    /// The value that was read.
    ///
    /// # Errors
    /// [`Corrupted`](crate::ErrorKind::Corrupted) where the key holds no such value.
    fn from_key(value: KeyValue<'_>) -> Result<Self>;
}

#[cold]
fn mismatch(expected: &str) -> Error {
    Error::corrupted(format!("the key does not hold {expected} where its template says so"))
}

macro_rules! unsigned_part {
    ($($type:ty, $digits:literal;)*) => {
        $(impl KeyPart for $type {
            const KIND: PartKind = PartKind::Unsigned { digits: $digits };

            #[inline]
            fn to_key(&self) -> Result<KeyValue<'_>> {
                Ok(KeyValue::Unsigned(u64::from(*self)))
            }

            #[inline]
            fn from_key(value: KeyValue<'_>) -> Result<Self> {
                match value {
                    KeyValue::Unsigned(number) => Self::try_from(number).ok(),
                    _ => None,
                }
                .ok_or_else(|| mismatch(concat!("a ", stringify!($type))))
            }
        })*
    };
}

unsigned_part! { u8, 3; u16, 5; u32, 10; u64, 20; }

macro_rules! signed_part {
    ($($type:ty, $digits:literal;)*) => {
        $(impl KeyPart for $type {
            const KIND: PartKind = PartKind::Signed { digits: $digits };

            #[inline]
            fn to_key(&self) -> Result<KeyValue<'_>> {
                Ok(KeyValue::Signed(i64::from(*self)))
            }

            #[inline]
            fn from_key(value: KeyValue<'_>) -> Result<Self> {
                match value {
                    KeyValue::Signed(number) => Self::try_from(number).ok(),
                    _ => None,
                }
                .ok_or_else(|| mismatch(concat!("an ", stringify!($type))))
            }
        })*
    };
}

signed_part! { i8, 3; i16, 5; i32, 10; i64, 19; }

impl KeyPart for f64 {
    const KIND: PartKind = PartKind::Float64;

    #[inline]
    fn to_key(&self) -> Result<KeyValue<'_>> {
        Ok(KeyValue::Float(*self))
    }

    #[inline]
    fn from_key(value: KeyValue<'_>) -> Result<Self> {
        match value {
            KeyValue::Float(number) => Ok(number),
            _ => Err(mismatch("an f64")),
        }
    }
}

impl KeyPart for f32 {
    const KIND: PartKind = PartKind::Float32;

    #[inline]
    fn to_key(&self) -> Result<KeyValue<'_>> {
        Ok(KeyValue::Float(f64::from(*self)))
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the form for f32 holds nothing wider")]
    fn from_key(value: KeyValue<'_>) -> Result<Self> {
        match value {
            KeyValue::Float(number) => Ok(number as Self),
            _ => Err(mismatch("an f32")),
        }
    }
}

impl KeyPart for bool {
    const KIND: PartKind = PartKind::Bool;

    #[inline]
    fn to_key(&self) -> Result<KeyValue<'_>> {
        Ok(KeyValue::Bool(*self))
    }

    #[inline]
    fn from_key(value: KeyValue<'_>) -> Result<Self> {
        match value {
            KeyValue::Bool(truth) => Ok(truth),
            _ => Err(mismatch("true or false")),
        }
    }
}

impl KeyPart for Uuid {
    const KIND: PartKind = PartKind::Uuid;

    #[inline]
    fn to_key(&self) -> Result<KeyValue<'_>> {
        Ok(KeyValue::Uuid(*self))
    }

    #[inline]
    fn from_key(value: KeyValue<'_>) -> Result<Self> {
        match value {
            KeyValue::Uuid(uuid) => Ok(uuid),
            _ => Err(mismatch("a UUID")),
        }
    }
}

impl KeyPart for Timestamp {
    const KIND: PartKind = PartKind::Time;

    #[inline]
    fn to_key(&self) -> Result<KeyValue<'_>> {
        Ok(KeyValue::Time(*self))
    }

    #[inline]
    fn from_key(value: KeyValue<'_>) -> Result<Self> {
        match value {
            KeyValue::Time(at) => Ok(at),
            _ => Err(mismatch("a time")),
        }
    }
}

impl KeyPart for OffsetDateTime {
    const KIND: PartKind = PartKind::Time;

    #[inline]
    fn to_key(&self) -> Result<KeyValue<'_>> {
        Timestamp::try_from(*self).map(KeyValue::Time)
    }

    #[inline]
    fn from_key(value: KeyValue<'_>) -> Result<Self> {
        Timestamp::from_key(value).map(Self::from)
    }
}

#[cfg(feature = "chrono")]
impl KeyPart for chrono::DateTime<chrono::Utc> {
    const KIND: PartKind = PartKind::Time;

    #[inline]
    fn to_key(&self) -> Result<KeyValue<'_>> {
        Timestamp::try_from(*self).map(KeyValue::Time)
    }

    #[inline]
    fn from_key(value: KeyValue<'_>) -> Result<Self> {
        Timestamp::from_key(value).map(Self::from)
    }
}

impl KeyPart for String {
    const KIND: PartKind = PartKind::Text;

    #[inline]
    fn to_key(&self) -> Result<KeyValue<'_>> {
        Ok(KeyValue::Text(Cow::Borrowed(self)))
    }

    #[inline]
    fn from_key(value: KeyValue<'_>) -> Result<Self> {
        match value {
            KeyValue::Text(text) => Ok(text.into_owned()),
            _ => Err(mismatch("a text")),
        }
    }
}
