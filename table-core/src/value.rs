//! The eight property types of the service.

use std::fmt;

use bytes::Bytes;
use uuid::Uuid;

use crate::timestamp::Timestamp;

/// A property's value: one of the eight Edm types.
///
/// Two values are equal when their types and contents are; a double equals itself bit by bit, so
/// that NaN can be compared and found again.
///
/// ```
/// use table_core::Value;
///
/// assert_eq!(Value::from(41), Value::Int32(41));
/// assert_eq!(Value::from("Jo").as_str(), Some("Jo"));
/// assert_ne!(Value::Int32(41), Value::Int64(41), "types count");
/// ```
#[derive(Debug, Clone)]
pub enum Value {
    /// `Edm.Binary`, up to 64 KiB.
    Binary(Bytes),
    /// `Edm.Boolean`.
    Boolean(bool),
    /// `Edm.DateTime`, from the year 1601, in 100 ns ticks.
    DateTime(Timestamp),
    /// `Edm.Double`, NaN and infinities included.
    Double(f64),
    /// `Edm.Guid`.
    Guid(Uuid),
    /// `Edm.Int32`.
    Int32(i32),
    /// `Edm.Int64`.
    Int64(i64),
    /// `Edm.String`, up to 32,768 UTF-16 units.
    String(String),
}

/// The type of a [`Value`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is the type that `Value` documents under the same name")]
pub enum EdmType {
    Binary,
    Boolean,
    DateTime,
    Double,
    Guid,
    Int32,
    Int64,
    String,
}

impl EdmType {
    /// The name on the wire, such as `Edm.Int64`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Binary => "Edm.Binary",
            Self::Boolean => "Edm.Boolean",
            Self::DateTime => "Edm.DateTime",
            Self::Double => "Edm.Double",
            Self::Guid => "Edm.Guid",
            Self::Int32 => "Edm.Int32",
            Self::Int64 => "Edm.Int64",
            Self::String => "Edm.String",
        }
    }
}

impl fmt::Display for EdmType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Value {
    /// The type of this value.
    #[must_use]
    pub const fn edm_type(&self) -> EdmType {
        match self {
            Self::Binary(_) => EdmType::Binary,
            Self::Boolean(_) => EdmType::Boolean,
            Self::DateTime(_) => EdmType::DateTime,
            Self::Double(_) => EdmType::Double,
            Self::Guid(_) => EdmType::Guid,
            Self::Int32(_) => EdmType::Int32,
            Self::Int64(_) => EdmType::Int64,
            Self::String(_) => EdmType::String,
        }
    }

    /// The bytes that the service counts for this value, strings as UTF-16.
    #[must_use]
    pub fn counted_bytes(&self) -> usize {
        match self {
            Self::Binary(bytes) => bytes.len() + 4,
            Self::Boolean(_) => 1,
            Self::DateTime(_) | Self::Double(_) | Self::Int64(_) => 8,
            Self::Guid(_) => 16,
            Self::Int32(_) => 4,
            Self::String(text) => utf16_units(text) * 2 + 4,
        }
    }

    /// The text, where this is a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }
}

/// How many UTF-16 code units a text takes.
#[must_use]
pub(crate) fn utf16_units(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Binary(a), Self::Binary(b)) => a == b,
            (Self::Boolean(a), Self::Boolean(b)) => a == b,
            (Self::DateTime(a), Self::DateTime(b)) => a == b,
            (Self::Double(a), Self::Double(b)) => a.to_bits() == b.to_bits(),
            (Self::Guid(a), Self::Guid(b)) => a == b,
            (Self::Int32(a), Self::Int32(b)) => a == b,
            (Self::Int64(a), Self::Int64(b)) => a == b,
            (Self::String(a), Self::String(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

macro_rules! value_from {
    ($($type:ty => $variant:ident;)*) => {
        $(impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        })*
    };
}

value_from! {
    Bytes => Binary;
    Vec<u8> => Binary;
    bool => Boolean;
    Timestamp => DateTime;
    f32 => Double;
    f64 => Double;
    Uuid => Guid;
    i8 => Int32;
    i16 => Int32;
    i32 => Int32;
    u8 => Int32;
    u16 => Int32;
    u32 => Int64;
    i64 => Int64;
    String => String;
    &str => String;
}
