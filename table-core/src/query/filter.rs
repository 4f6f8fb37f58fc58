//! Filters over rows: comparisons of keys and properties, joined by `and`, `or` and `not`.

use std::fmt;

use crate::error::Result;
use crate::names::{PropertyName, SYSTEM_PROPERTIES};
use crate::value::Value;

/// What a comparison looks at.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// The partition key.
    PartitionKey,
    /// The row key.
    RowKey,
    /// The time of the last write.
    Timestamp,
    /// A property.
    Property(PropertyName),
}

impl Field {
    /// The field of this name.
    ///
    /// # Errors
    /// [`InvalidName`](crate::ErrorKind::InvalidName) for a name that no property can have.
    pub fn new(name: &str) -> Result<Self> {
        let [partition_key, row_key, timestamp] = SYSTEM_PROPERTIES;
        match name {
            _ if name == partition_key => Ok(Self::PartitionKey),
            _ if name == row_key => Ok(Self::RowKey),
            _ if name == timestamp => Ok(Self::Timestamp),
            _ => PropertyName::new(name).map(Self::Property),
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let [partition_key, row_key, timestamp] = SYSTEM_PROPERTIES;
        match self {
            Self::PartitionKey => partition_key,
            Self::RowKey => row_key,
            Self::Timestamp => timestamp,
            Self::Property(name) => name.as_str(),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a comparison compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Comparison {
    /// `eq`.
    Eq,
    /// `ne`.
    Ne,
    /// `gt`.
    Gt,
    /// `ge`.
    Ge,
    /// `lt`.
    Lt,
    /// `le`.
    Le,
}

impl Comparison {
    /// The operator's name in OData.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Gt => "gt",
            Self::Ge => "ge",
            Self::Lt => "lt",
            Self::Le => "le",
        }
    }
}

/// A condition on a row.
///
/// A comparison on a property that a row lacks, or with a value of another type, is false, for
/// `ne` too; so `not (Age eq 40)` includes rows without `Age`.
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    /// A field compared with a value.
    Compare {
        /// What is compared.
        field: Field,
        /// How.
        comparison: Comparison,
        /// With what.
        value: Value,
    },
    /// All of these; true where there are none.
    And(Vec<Filter>),
    /// Any of these; false where there are none.
    Or(Vec<Filter>),
    /// The opposite.
    Not(Box<Filter>),
}

impl Filter {
    /// A comparison.
    #[must_use]
    pub fn compare(field: Field, comparison: Comparison, value: impl Into<Value>) -> Self {
        Self::Compare { field, comparison, value: value.into() }
    }
}
