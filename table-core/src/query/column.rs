//! Typed columns: one for each field of an entity.

use std::fmt;
use std::marker::PhantomData;

use super::filter::{Comparison, Field, Filter};
use super::predicate::Predicate;
use crate::error::Result;
use crate::keys::{KeyPart, KeyValue};
use crate::names::PropertyName;
use crate::property::Property;
use crate::value::Value;

/// A value that a column of type `T` can be compared with: `T`, `&T`, and `&str` for `String`.
pub trait Operand<T> {
    /// The stored form.
    ///
    /// # Errors
    /// [`InvalidValue`](crate::ErrorKind::InvalidValue) for a value that cannot be stored.
    fn property_value(&self) -> Result<Option<Value>>
    where
        T: Property;

    /// The form in a key.
    ///
    /// # Errors
    /// [`InvalidKey`](crate::ErrorKind::InvalidKey) for a value that no key can hold.
    fn key_value(&self) -> Result<KeyValue<'_>>
    where
        T: KeyPart;
}

impl<T> Operand<T> for T {
    fn property_value(&self) -> Result<Option<Value>>
    where
        T: Property,
    {
        self.to_value()
    }

    fn key_value(&self) -> Result<KeyValue<'_>>
    where
        T: KeyPart,
    {
        self.to_key()
    }
}

impl<T> Operand<T> for &T {
    fn property_value(&self) -> Result<Option<Value>>
    where
        T: Property,
    {
        (*self).to_value()
    }

    fn key_value(&self) -> Result<KeyValue<'_>>
    where
        T: KeyPart,
    {
        (*self).to_key()
    }
}

impl Operand<String> for &str {
    fn property_value(&self) -> Result<Option<Value>> {
        Ok(Some(Value::from(*self)))
    }

    fn key_value(&self) -> Result<KeyValue<'_>> {
        Ok(KeyValue::Text((*self).into()))
    }
}

/// A field that is stored as a property, such as `Employee::AGE`.
///
/// For an `Option<T>` field the column is of type `T`; a row without the property matches no comparison.
///
/// ```
/// use table_core::Entity;
///
/// #[derive(Entity)]
/// #[entity(partition = "{department}", row = "empid_{id:06}")]
/// struct Employee {
///     department: String,
///     id: u32,
///     age: i32,
///     name: Option<String>,
/// }
///
/// let query = Employee::range("Sales").query().filter(Employee::AGE.ge(40) & Employee::NAME.ne("Jo"));
/// assert!(query.explain()?.to_string().contains("Age ge 40"));
/// # Ok::<(), table_core::Error>(())
/// ```
pub struct Column<E, T> {
    name: PropertyName,
    types: PhantomData<fn() -> (E, T)>,
}

/// A field that only the key holds, such as `Employee::ID`.
///
/// A comparison becomes a key range; where it cannot, the query is refused with a hint.
pub struct KeyColumn<E, T> {
    field: &'static str,
    types: PhantomData<fn() -> (E, T)>,
}

impl<E, T> Column<E, T> {
    /// The column of a property whose name the derive macro has checked.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name: PropertyName::checked(name), types: PhantomData }
    }

    /// The property's name.
    #[must_use]
    pub const fn name(&self) -> &PropertyName {
        &self.name
    }
}

impl<E, T> KeyColumn<E, T> {
    /// The column of a field that the entity's key templates name.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(field: &'static str) -> Self {
        Self { field, types: PhantomData }
    }

    /// The field's name.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        self.field
    }
}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident => $comparison:ident;)*) => {
        impl<E, T: Property> Column<E, T> {
            $($(#[$doc])* #[must_use] pub fn $name(&self, value: impl Operand<T>) -> Predicate<E> {
                self.compare(Comparison::$comparison, value.property_value())
            })*

            fn compare(&self, comparison: Comparison, value: Result<Option<Value>>) -> Predicate<E> {
                match value {
                    Ok(Some(value)) => {
                        Predicate::filter(Filter::Compare { field: Field::Property(self.name.clone()), comparison, value })
                    }
                    // No row is equal to, or on a side of, what is not stored.
                    Ok(None) => Predicate::filter(Filter::Or(Vec::new())),
                    Err(error) => Predicate::error(error.with_property(self.name.as_str())),
                }
            }
        }

        impl<E, T: KeyPart> KeyColumn<E, T> {
            $($(#[$doc])* #[must_use] pub fn $name(&self, value: impl Operand<T>) -> Predicate<E> {
                Predicate::key(self.field, Comparison::$comparison, value.key_value())
            })*
        }
    };
}

comparisons! {
    /// Equal to a value.
    eq => Eq;
    /// Different from a value.
    ne => Ne;
    /// Above a value.
    gt => Gt;
    /// At or above a value.
    ge => Ge;
    /// Below a value.
    lt => Lt;
    /// At or below a value.
    le => Le;
}

impl<E> Column<E, String> {
    /// Beginning with a text.
    #[must_use]
    pub fn prefix(&self, prefix: &str) -> Predicate<E> {
        let field = || Field::Property(self.name.clone());
        let mut both = vec![Filter::compare(field(), Comparison::Ge, prefix)];
        // Property texts may hold any character, so the bound is the next text of all.
        if let Some(end) = crate::keys::utf16::text_end(prefix) {
            both.push(Filter::compare(field(), Comparison::Lt, end));
        }
        Predicate::filter(Filter::And(both))
    }
}

impl<E> KeyColumn<E, String> {
    /// Beginning with a text.
    #[must_use]
    pub fn prefix(&self, prefix: &str) -> Predicate<E> {
        Predicate::key_prefix(self.field, prefix)
    }
}

impl<E, T> Clone for Column<E, T> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), types: PhantomData }
    }
}

impl<E, T> Clone for KeyColumn<E, T> {
    fn clone(&self) -> Self {
        Self { field: self.field, types: PhantomData }
    }
}

impl<E, T> fmt::Debug for Column<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Column").field(&self.name).finish()
    }
}

impl<E, T> fmt::Debug for KeyColumn<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyColumn").field(&self.field).finish()
    }
}
