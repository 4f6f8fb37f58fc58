//! Names that the service accepts: of tables, queues and properties.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use serde::Serialize;
use smol_str::SmolStr;

use crate::checked_text::checked_text;
use crate::error::{Error, Result};
use crate::limits;

/// A valid table name: 3 to 63 letters and digits, beginning with a letter.
///
/// Names are compared without case and kept as written.
///
/// ```
/// use table_core::TableName;
///
/// assert_eq!(TableName::new("Employees")?, TableName::new("EMPLOYEES")?);
/// assert!(TableName::new("em").is_err());
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Serialize)]
#[serde(transparent)]
pub struct TableName(SmolStr);

impl TableName {
    /// Checks a table name.
    ///
    /// # Errors
    /// [`InvalidName`](crate::ErrorKind::InvalidName), with the rule that is broken.
    pub fn new(name: impl AsRef<str>) -> Result<Self> {
        let name = name.as_ref();
        let rule = if !(limits::TABLE_NAME_MIN_CHARS..=limits::TABLE_NAME_MAX_CHARS).contains(&name.len()) {
            "must have 3 to 63 characters"
        } else if !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            "must hold only the letters a to z and digits"
        } else if name.starts_with(|first: char| first.is_ascii_digit()) {
            "must begin with a letter"
        } else if name.eq_ignore_ascii_case("tables") {
            "must not be the reserved word `tables`"
        } else {
            return Ok(Self(SmolStr::new(name)));
        };
        Err(Error::invalid_name(format!("a table name {rule}, which {name:?} does not")))
    }

    /// The name as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn folded(&self) -> impl Iterator<Item = u8> {
        self.0.bytes().map(|byte| byte.to_ascii_lowercase())
    }
}

impl PartialEq for TableName {
    fn eq(&self, other: &Self) -> bool {
        // Mostly they are written alike.
        self.0 == other.0 || self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Eq for TableName {}

impl PartialOrd for TableName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TableName {
    fn cmp(&self, other: &Self) -> Ordering {
        self.folded().cmp(other.folded())
    }
}

impl Hash for TableName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // One write of all bytes: a hasher takes as long for each write as for many bytes.
        let mut folded = [0xff; limits::TABLE_NAME_MAX_CHARS + 1];
        for (slot, byte) in folded.iter_mut().zip(self.folded()) {
            *slot = byte;
        }
        state.write(folded.get(..=self.0.len()).unwrap_or_default());
    }
}

/// A valid queue name: 3 to 63 lower-case letters, digits and single hyphens inside.
///
/// ```
/// use table_core::QueueName;
///
/// assert!(QueueName::new("archive-employees").is_ok());
/// assert!(QueueName::new("Archive").is_err());
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct QueueName(SmolStr);

impl QueueName {
    /// Checks a queue name.
    ///
    /// # Errors
    /// [`InvalidName`](crate::ErrorKind::InvalidName), with the rule that is broken.
    pub fn new(name: impl AsRef<str>) -> Result<Self> {
        let name = name.as_ref();
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let rule = if !(limits::QUEUE_NAME_MIN_CHARS..=limits::QUEUE_NAME_MAX_CHARS).contains(&name.len()) {
            "must have 3 to 63 characters"
        } else if !name.bytes().all(allowed) {
            "must hold only lower-case letters, digits and hyphens"
        } else if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
            "must not begin or end with a hyphen or hold two in a row"
        } else {
            return Ok(Self(SmolStr::new(name)));
        };
        Err(Error::invalid_name(format!("a queue name {rule}, which {name:?} does not")))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A valid property name: a C# identifier of up to 255 characters, compared with case.
///
/// Names of up to 23 bytes are kept inline, so decoding a usual row allocates nothing for them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct PropertyName(SmolStr);

/// The names that every entity has beside its properties.
pub(crate) const SYSTEM_PROPERTIES: [&str; 3] = ["PartitionKey", "RowKey", "Timestamp"];

impl PropertyName {
    /// Checks a property name.
    ///
    /// # Errors
    /// [`InvalidName`](crate::ErrorKind::InvalidName), with the rule that is broken.
    pub fn new(name: impl AsRef<str>) -> Result<Self> {
        let name = name.as_ref();
        Self::check(name)?;
        Ok(Self(SmolStr::new(name)))
    }

    /// A name known at compile time, which takes no memory of its own.
    ///
    /// # Errors
    /// As [`PropertyName::new`].
    pub fn from_static(name: &'static str) -> Result<Self> {
        Self::check(name)?;
        Ok(Self(SmolStr::new_static(name)))
    }

    /// A name that the derive macro or this crate has checked already.
    #[doc(hidden)]
    #[must_use]
    pub const fn checked(name: &'static str) -> Self {
        Self(SmolStr::new_static(name))
    }

    fn check(name: &str) -> Result<()> {
        let rule = if name.is_empty() || name.chars().count() > limits::PROPERTY_NAME_CHARS {
            "must have 1 to 255 characters"
        } else if !name.starts_with(|first: char| first == '_' || first.is_alphabetic()) {
            "must begin with a letter or an underscore"
        } else if !name.chars().all(|each| each == '_' || each.is_alphanumeric()) {
            "must hold only letters, digits and underscores"
        } else if SYSTEM_PROPERTIES.contains(&name) {
            "must not be PartitionKey, RowKey or Timestamp"
        } else {
            return Ok(());
        };
        Err(Error::invalid_name(format!("a property name {rule}, which {name:?} does not")))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for PropertyName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

checked_text!(TableName, QueueName, PropertyName);
