//! Raw keys: checked text, ordered as the service orders it.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::utf16;
use crate::checked_text::checked_text;
use crate::error::{Error, Result};
use crate::limits;
use crate::value::utf16_units;

/// Says why a text cannot be a key, if it cannot.
fn check(text: &str, what: &str) -> Result<()> {
    check_length(text, what)?;
    if utf16::is_ascii_key(text) {
        return Ok(());
    }
    match text.chars().find(|each| !utf16::is_key_char(*each)) {
        None => Ok(()),
        Some(found) => Err(Error::invalid_key(format!(
            "a {what} must not hold {found:?}; `/ \\ # ?` and control characters are not allowed"
        ))),
    }
}

#[inline]
fn check_length(text: &str, what: &str) -> Result<()> {
    // A UTF-16 unit takes at least one byte of UTF-8, so a short text needs no counting.
    if text.len() <= limits::KEY_UTF16_UNITS { Ok(()) } else { check_units(text, what) }
}

#[inline]
fn check_pieces(pieces: &[&str], what: &str) -> Result<()> {
    let bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
    if bytes <= limits::KEY_UTF16_UNITS { Ok(()) } else { check_units(&pieces.concat(), what) }
}

fn check_units(text: &str, what: &str) -> Result<()> {
    let units = utf16_units(text);
    if units <= limits::KEY_UTF16_UNITS {
        return Ok(());
    }
    Err(Error::limit_exceeded(format!(
        "a {what} holds at most {} UTF-16 units, this one has {units}; shorten it",
        limits::KEY_UTF16_UNITS
    )))
}

macro_rules! raw_key {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, Default, Serialize)]
        #[serde(transparent)]
        pub struct $name(SmolStr);

        impl $name {
            /// Checks a key.
            ///
            /// # Errors
            /// [`InvalidKey`](crate::ErrorKind::InvalidKey) for `/ \ # ?` and control characters,
            /// [`LimitExceeded`](crate::ErrorKind::LimitExceeded) above 512 UTF-16 units.
            pub fn new(text: impl AsRef<str>) -> Result<Self> {
                let text = text.as_ref();
                check(text, $what)?;
                Ok(Self(SmolStr::new(text)))
            }

            /// The key as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            pub(crate) fn as_smol_str(&self) -> &SmolStr {
                &self.0
            }

            /// Whether texts that the template codec has written are not too long for a key together.
            #[inline]
            pub(crate) fn check_pieces(pieces: &[&str]) -> Result<()> {
                check_pieces(pieces, $what)
            }

            /// The key that [`check_pieces`](Self::check_pieces) has passed.
            #[inline]
            pub(crate) fn from_pieces<const N: usize>(pieces: [&str; N]) -> Self {
                Self(SmolStr::from_iter(pieces))
            }

            /// A text whose characters the template codec has written; only its length is open.
            #[inline]
            pub(crate) fn from_encoded(text: SmolStr) -> Result<Self> {
                check_length(&text, $what)?;
                Ok(Self(text))
            }
        }

        /// By UTF-16 code unit, as the service sorts.
        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                utf16::compare(&self.0, &other.0)
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        checked_text!($name);
    };
}

raw_key! {
    /// The key of a partition: what is transacted and scaled together.
    ///
    /// ```
    /// use table_core::PartitionKey;
    ///
    /// assert!(PartitionKey::new("Sales").is_ok());
    /// assert!(PartitionKey::new("Sales/West").is_err());
    /// ```
    PartitionKey, "partition key"
}

raw_key! {
    /// The key of an entity within its partition, and its place in the order.
    ///
    /// ```
    /// use table_core::RowKey;
    ///
    /// assert!(RowKey::new("empid_000223")? < RowKey::new("empid_001000")?);
    /// # Ok::<(), table_core::Error>(())
    /// ```
    RowKey, "row key"
}

/// The full key of an entity in its table.
///
/// ```
/// use table_core::EntityKey;
///
/// let key = EntityKey::parse("Sales", "empid_000223")?;
/// assert_eq!(key.to_string(), "(Sales, empid_000223)");
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EntityKey {
    /// The partition.
    pub partition: PartitionKey,
    /// The row in it.
    pub row: RowKey,
}

impl EntityKey {
    /// Both keys together.
    #[must_use]
    pub const fn new(partition: PartitionKey, row: RowKey) -> Self {
        Self { partition, row }
    }

    /// Checks two texts, partition first.
    ///
    /// # Errors
    /// As [`PartitionKey::new`].
    pub fn parse(partition: &str, row: &str) -> Result<Self> {
        Ok(Self::new(PartitionKey::new(partition)?, RowKey::new(row)?))
    }

    /// The bytes that the service counts for both keys, as UTF-16.
    pub(crate) fn counted_bytes(&self) -> usize {
        (utf16_units(self.partition.as_str()) + utf16_units(self.row.as_str())) * 2
    }
}

impl fmt::Display for EntityKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.partition, self.row)
    }
}
