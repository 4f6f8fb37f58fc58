//! Filters and values as OData text.

use std::fmt::{self, Display, Formatter, Write};

use crate::query::{Filter, ValueRef};

impl Display for ValueRef<'_> {
    /// Writes the value as an OData literal.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Binary(bytes) => {
                f.write_str("X'")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_char('\'')
            }
            Self::Boolean(truth) => write!(f, "{truth}"),
            Self::DateTime(at) => write!(f, "datetime'{at}'"),
            Self::Double(number) => print_double(f, *number),
            Self::Guid(uuid) => write!(f, "guid'{uuid}'"),
            Self::Int32(number) => write!(f, "{number}"),
            Self::Int64(number) => write!(f, "{number}L"),
            Self::String(text) => {
                f.write_char('\'')?;
                // A quote within a text is written twice.
                for (position, piece) in text.split('\'').enumerate() {
                    if position > 0 {
                        f.write_str("''")?;
                    }
                    f.write_str(piece)?;
                }
                f.write_char('\'')
            }
        }
    }
}

fn print_double(f: &mut Formatter<'_>, number: f64) -> fmt::Result {
    if number.is_nan() {
        f.write_str("NaN")
    } else if number.is_infinite() {
        f.write_str(if number > 0.0 { "INF" } else { "-INF" })
    } else {
        // The shortest digits that read back as the same number, always with a point or an exponent.
        write!(f, "{number:?}")
    }
}

/// What stands around a filter, which decides whether it needs parentheses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Nothing,
    And,
}

impl Display for Filter {
    /// Writes the filter as OData, with no more parentheses than it needs.
    ///
    /// ```
    /// use table_core::query::Filter;
    ///
    /// let filter: Filter = "((PartitionKey eq 'Sales') and (Age ge 40 or not IsActive))".parse()?;
    /// assert_eq!(
    ///     filter.to_string(),
    ///     "PartitionKey eq 'Sales' and (Age ge 40 or not (IsActive eq true))"
    /// );
    /// # Ok::<(), table_core::Error>(())
    /// ```
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        print(f, self, Around::Nothing)
    }
}

fn print(f: &mut Formatter<'_>, filter: &Filter, around: Around) -> fmt::Result {
    match filter {
        Filter::Compare { field, comparison, value } => {
            write!(f, "{field} {} {}", comparison.as_str(), ValueRef::from(value))
        }
        Filter::Not(inner) => {
            f.write_str("not (")?;
            print(f, inner, Around::Nothing)?;
            f.write_char(')')
        }
        Filter::And(all) => match all.as_slice() {
            [] => f.write_str("true"),
            [only] => print(f, only, around),
            all => print_joined(f, all, " and ", Around::And),
        },
        Filter::Or(any) => match any.as_slice() {
            [] => f.write_str("false"),
            [only] => print(f, only, around),
            any if around == Around::And => {
                f.write_char('(')?;
                print_joined(f, any, " or ", Around::Nothing)?;
                f.write_char(')')
            }
            any => print_joined(f, any, " or ", Around::Nothing),
        },
    }
}

fn print_joined(f: &mut Formatter<'_>, filters: &[Filter], joint: &str, around: Around) -> fmt::Result {
    for (position, filter) in filters.iter().enumerate() {
        if position > 0 {
            f.write_str(joint)?;
        }
        print(f, filter, around)?;
    }
    Ok(())
}
