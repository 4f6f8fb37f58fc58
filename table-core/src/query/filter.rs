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
    /// All operators.
    pub(crate) const ALL: [Self; 6] = [Self::Eq, Self::Ne, Self::Gt, Self::Ge, Self::Lt, Self::Le];

    /// The operator that holds exactly where this one does not, for values that can be compared.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
            Self::Gt => Self::Le,
            Self::Ge => Self::Lt,
            Self::Lt => Self::Ge,
            Self::Le => Self::Gt,
        }
    }

    /// The operator that says the same with its sides exchanged.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        match self {
            Self::Eq => Self::Eq,
            Self::Ne => Self::Ne,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
        }
    }

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
    /// The filter that every row fulfils.
    pub const ALWAYS: Self = Self::And(Vec::new());
    /// The filter that no row fulfils.
    pub const NEVER: Self = Self::Or(Vec::new());

    /// A comparison.
    #[must_use]
    pub fn compare(field: Field, comparison: Comparison, value: impl Into<Value>) -> Self {
        Self::Compare { field, comparison, value: value.into() }
    }

    /// All of these filters, in as few levels as it takes.
    ///
    /// ```
    /// use table_core::query::Filter;
    ///
    /// let both: Filter = "Age ge 40 and (LastName eq 'Jones')".parse()?;
    /// assert_eq!(Filter::all_of([both.clone(), Filter::ALWAYS]), both);
    /// assert_eq!(Filter::all_of([both, Filter::NEVER]), Filter::NEVER);
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[must_use]
    pub fn all_of(filters: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Vec::new();
        for filter in filters {
            match filter {
                Self::And(inner) => all.extend(inner),
                Self::Or(inner) if inner.is_empty() => return Self::NEVER,
                other => all.push(other),
            }
        }
        single_or(all, Self::And)
    }

    /// Any of these filters, in as few levels as it takes.
    #[must_use]
    pub fn any_of(filters: impl IntoIterator<Item = Self>) -> Self {
        let mut any = Vec::new();
        for filter in filters {
            match filter {
                Self::Or(inner) => any.extend(inner),
                Self::And(inner) if inner.is_empty() => return Self::ALWAYS,
                other => any.push(other),
            }
        }
        single_or(any, Self::Or)
    }

    /// The opposite of this filter.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Not(inner) => *inner,
            Self::And(all) if all.is_empty() => Self::NEVER,
            Self::Or(any) if any.is_empty() => Self::ALWAYS,
            other => Self::Not(Box::new(other)),
        }
    }

    /// The same filter without nesting that says nothing: no `and` directly in an `and`, no `or`
    /// in an `or`, no double `not`, and no constant but the whole.
    ///
    /// This is the form that parsing gives, so printing and parsing lead back to it.
    #[must_use]
    pub fn normalised(self) -> Self {
        match self {
            Self::And(all) => Self::all_of(all.into_iter().map(Self::normalised)),
            Self::Or(any) => Self::any_of(any.into_iter().map(Self::normalised)),
            Self::Not(inner) => inner.normalised().negated(),
            // There are many NaNs and one way to write them.
            Self::Compare { field, comparison, value: Value::Double(number) } if number.is_nan() => {
                Self::compare(field, comparison, f64::NAN)
            }
            compare @ Self::Compare { .. } => compare,
        }
    }
}

/// The only filter of a list, or the list joined.
fn single_or(mut filters: Vec<Filter>, join: fn(Vec<Filter>) -> Filter) -> Filter {
    match filters.pop() {
        Some(only) if filters.is_empty() => only,
        Some(last) => {
            filters.push(last);
            join(filters)
        }
        None => join(filters),
    }
}
