//! Rust types as properties, without loss either way.

use bytes::Bytes;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::reserved::BLOB_REFERENCE;
use crate::timestamp::Timestamp;
use crate::value::{EdmType, Value};

/// A type that a property can hold.
///
/// Implemented for `bool`, the integers, `f32` and `f64`, `String`, `Vec<u8>`, `Bytes`, `Uuid`,
/// [`Timestamp`], `time::OffsetDateTime`, and `Option` of each, which is an absent property when
/// `None`. `#[derive(Property)]` implements it for C-like enums (as text) and newtypes;
/// `#[entity(json)]` stores anything else that serde knows.
///
/// Reading never guesses: a number that does not fit, or a value of another type, is an error.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a property",
    label = "not one of the service's property types",
    note = "mark the field `#[entity(json)]` to store it as JSON, or derive `Property` for a C-like enum or a newtype"
)]
pub trait Property: Sized {
    /// The type under which the service keeps it.
    const EDM: EdmType;

    /// The value to be stored, or `None` to leave the property out.
    ///
    /// # Errors
    /// [`InvalidValue`](crate::ErrorKind::InvalidValue) for a value that would not come back as it is.
    fn to_value(&self) -> Result<Option<Value>>;

    /// The value that was stored.
    ///
    /// # Errors
    /// [`Corrupted`](crate::ErrorKind::Corrupted) for a value of another type or out of range.
    fn from_value(value: Value) -> Result<Self>;

    /// What an absent property stands for, where that is allowed.
    #[must_use]
    fn absent() -> Option<Self> {
        None
    }
}

/// A stored value whose type is not the field's.
#[cold]
#[must_use]
pub(crate) fn wrong_type(expected: EdmType, found: &Value) -> Error {
    if is_blob_reference(found) {
        return Error::corrupted(
            "the field is kept in a blob, and the row holds a reference to it; read the entity through `Large` of table-patterns, or read a projection without the field",
        );
    }
    Error::corrupted(format!("the stored value is an {}, where the field needs an {expected}", found.edm_type()))
}

/// Whether a value begins as a reference to a blob does. It is stored as the type that the field is not,
/// so that no reader takes it for the field's value.
fn is_blob_reference(value: &Value) -> bool {
    match value {
        Value::String(text) => text.starts_with(BLOB_REFERENCE),
        Value::Binary(bytes) => bytes.starts_with(BLOB_REFERENCE.as_bytes()),
        _ => false,
    }
}

#[cold]
fn out_of_range(type_name: &str) -> Error {
    Error::corrupted(format!("the stored number does not fit the field's type {type_name}"))
}

macro_rules! integer_property {
    ($($type:ident as $edm:ident from $wire:ty;)*) => {
        $(impl Property for $type {
            const EDM: EdmType = EdmType::$edm;

            #[inline]
            fn to_value(&self) -> Result<Option<Value>> {
                <$wire>::try_from(*self).map(|number| Some(Value::$edm(number))).map_err(|_| {
                    Error::invalid_value(
                        "the number is above the largest Int64, so it cannot be stored; store it as text or as two fields",
                    )
                })
            }

            #[inline]
            fn from_value(value: Value) -> Result<Self> {
                match value {
                    Value::Int32(number) => Self::try_from(number).map_err(|_| out_of_range(stringify!($type))),
                    Value::Int64(number) => Self::try_from(number).map_err(|_| out_of_range(stringify!($type))),
                    other => Err(wrong_type(Self::EDM, &other)),
                }
            }
        })*
    };
}

integer_property! {
    i8 as Int32 from i32;
    i16 as Int32 from i32;
    i32 as Int32 from i32;
    u8 as Int32 from i32;
    u16 as Int32 from i32;
    u32 as Int64 from i64;
    i64 as Int64 from i64;
    u64 as Int64 from i64;
}

impl Property for f64 {
    const EDM: EdmType = EdmType::Double;

    #[inline]
    fn to_value(&self) -> Result<Option<Value>> {
        Ok(Some(Value::Double(*self)))
    }

    #[inline]
    fn from_value(value: Value) -> Result<Self> {
        match value {
            Value::Double(number) => Ok(number),
            Value::Int32(number) => Ok(Self::from(number)),
            other => Err(wrong_type(Self::EDM, &other)),
        }
    }
}

impl Property for f32 {
    const EDM: EdmType = EdmType::Double;

    #[inline]
    fn to_value(&self) -> Result<Option<Value>> {
        Ok(Some(Value::Double(f64::from(*self))))
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "what does not come back exactly is refused")]
    fn from_value(value: Value) -> Result<Self> {
        let wide = f64::from_value(value)?;
        let narrow = wide as Self;
        if wide.is_nan() || f64::from(narrow).to_bits() == wide.to_bits() {
            Ok(narrow)
        } else {
            Err(out_of_range("f32"))
        }
    }
}

macro_rules! plain_property {
    ($($type:ty as $edm:ident;)*) => {
        $(impl Property for $type {
            const EDM: EdmType = EdmType::$edm;

            #[inline]
            fn to_value(&self) -> Result<Option<Value>> {
                Ok(Some(Value::$edm(self.clone())))
            }

            #[inline]
            fn from_value(value: Value) -> Result<Self> {
                match value {
                    Value::$edm(inner) => Ok(inner),
                    other => Err(wrong_type(Self::EDM, &other)),
                }
            }
        })*
    };
}

plain_property! {
    bool as Boolean;
    String as String;
    Bytes as Binary;
    Uuid as Guid;
    Timestamp as DateTime;
}

impl Property for Vec<u8> {
    const EDM: EdmType = EdmType::Binary;

    #[inline]
    fn to_value(&self) -> Result<Option<Value>> {
        Ok(Some(Value::Binary(Bytes::copy_from_slice(self))))
    }

    #[inline]
    fn from_value(value: Value) -> Result<Self> {
        Bytes::from_value(value).map(Self::from)
    }
}

/// In UTC, cut to 100 ns.
impl Property for OffsetDateTime {
    const EDM: EdmType = EdmType::DateTime;

    #[inline]
    fn to_value(&self) -> Result<Option<Value>> {
        Timestamp::try_from(*self).map(|at| Some(Value::DateTime(at)))
    }

    #[inline]
    fn from_value(value: Value) -> Result<Self> {
        Timestamp::from_value(value).map(Self::from)
    }
}

#[cfg(feature = "chrono")]
mod with_chrono {
    use chrono::{DateTime, Utc};

    use super::{EdmType, Error, Property, Result, Timestamp, Value};

    /// Cuts to 100 ns, towards the past.
    impl TryFrom<DateTime<Utc>> for Timestamp {
        type Error = Error;

        fn try_from(at: DateTime<Utc>) -> Result<Self> {
            let nanos = i128::from(at.timestamp()) * 1_000_000_000 + i128::from(at.timestamp_subsec_nanos());
            time::OffsetDateTime::from_unix_timestamp_nanos(nanos)
                .map_err(|_| Error::invalid_value("a time must lie within the years 1 to 9999 in UTC"))
                .and_then(Self::try_from)
        }
    }

    impl From<Timestamp> for DateTime<Utc> {
        fn from(at: Timestamp) -> Self {
            let at = at.to_offset_date_time();
            Self::from_timestamp(at.unix_timestamp(), at.nanosecond()).unwrap_or(Self::UNIX_EPOCH)
        }
    }

    /// Cut to 100 ns.
    impl Property for DateTime<Utc> {
        const EDM: EdmType = EdmType::DateTime;

        #[inline]
        fn to_value(&self) -> Result<Option<Value>> {
            Timestamp::try_from(*self).map(|at| Some(Value::DateTime(at)))
        }

        #[inline]
        fn from_value(value: Value) -> Result<Self> {
            Timestamp::from_value(value).map(Self::from)
        }
    }
}

/// `None` is an absent property.
impl<T: Property> Property for Option<T> {
    const EDM: EdmType = T::EDM;

    #[inline]
    fn to_value(&self) -> Result<Option<Value>> {
        self.as_ref().map_or(Ok(None), T::to_value)
    }

    #[inline]
    fn from_value(value: Value) -> Result<Self> {
        T::from_value(value).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<T: Property + PartialEq + std::fmt::Debug>(value: &T) {
        let stored = value.to_value().unwrap().unwrap();
        assert_eq!(stored.edm_type(), T::EDM);
        assert_eq!(T::from_value(stored).unwrap(), *value);
    }

    #[test]
    fn the_extremes_of_every_type_come_back() {
        round_trip(&i8::MIN);
        round_trip(&i16::MAX);
        round_trip(&i32::MIN);
        round_trip(&u8::MAX);
        round_trip(&u16::MAX);
        round_trip(&u32::MAX);
        round_trip(&i64::MIN);
        round_trip(&(i64::MAX as u64));
        round_trip(&f32::MIN_POSITIVE);
        round_trip(&f32::NEG_INFINITY);
        round_trip(&f64::INFINITY);
        round_trip(&-0.0_f64);
        round_trip(&true);
        round_trip(&String::from("é😀"));
        round_trip(&vec![0_u8, 255]);
        round_trip(&Bytes::from_static(b"\0"));
        round_trip(&Uuid::from_u128(7));
        round_trip(&Timestamp::MAX);
        round_trip(&Some(7_i32));
        let nan = f64::from_value(f64::NAN.to_value().unwrap().unwrap()).unwrap();
        assert!(nan.is_nan());
        assert!(f32::from_value(Value::Double(f64::NAN)).unwrap().is_nan());
        assert_eq!(None::<i32>.to_value().unwrap(), None);
        assert_eq!(<Option<i32>>::absent(), Some(None));
        assert_eq!(i32::absent(), None);
    }

    #[cfg(feature = "chrono")]
    #[test]
    fn times_of_chrono_come_back_cut_to_ticks() {
        use chrono::{DateTime, Utc};

        let at: DateTime<Utc> = DateTime::from_timestamp(-5, 123_456_789).unwrap();
        let cut = DateTime::from_timestamp(-5, 123_456_700).unwrap();
        assert_eq!(<DateTime<Utc>>::from_value(at.to_value().unwrap().unwrap()).unwrap(), cut);
        round_trip(&cut);
        assert!(DateTime::<Utc>::MAX_UTC.to_value().is_err());
    }

    #[test]
    fn nothing_wraps_and_nothing_is_guessed() {
        use crate::error::ErrorKind;

        assert_eq!((i64::MAX as u64 + 1).to_value().unwrap_err().kind(), ErrorKind::InvalidValue);
        assert_eq!(u8::from_value(Value::Int32(256)).unwrap_err().kind(), ErrorKind::Corrupted);
        assert_eq!(u32::from_value(Value::Int64(-1)).unwrap_err().kind(), ErrorKind::Corrupted);
        assert_eq!(f32::from_value(Value::Double(0.1)).unwrap_err().kind(), ErrorKind::Corrupted);
        assert_eq!(i32::from_value(Value::String("1".into())).unwrap_err().kind(), ErrorKind::Corrupted);
        assert_eq!(f64::from_value(Value::Int64(1)).unwrap_err().kind(), ErrorKind::Corrupted);
        assert_eq!(i64::from_value(Value::Int32(5)).unwrap(), 5);
    }
}
