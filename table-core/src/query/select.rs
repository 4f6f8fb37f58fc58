//! Selections of columns: reading a few fields instead of whole entities.

use std::fmt;
use std::marker::PhantomData;

use super::column::{Column, KeyColumn};
use crate::dynamic::DynamicEntity;
use crate::entity::Entity;
use crate::error::{Error, Result};
use crate::keys::{KeyPart, KeyTemplate, KeyValue};
use crate::names::PropertyName;
use crate::property::Property;

/// One column, or a tuple of up to eight, and what reading them gives.
///
/// A [`Column`] reads as its type, and a row without the property is an error; as
/// [`optional`](Column::optional) it reads as an `Option`. A [`KeyColumn`] is read from the key.
pub trait Columns<E>: Send + Sync + 'static {
    /// What one row gives.
    type Row: Send + 'static;

    /// Adds the properties that reading needs.
    fn add_names(&self, names: &mut Vec<PropertyName>);

    /// Reads a row.
    ///
    /// # Errors
    /// [`Corrupted`](crate::ErrorKind::Corrupted), naming the property, where the row does not
    /// hold what the column says.
    fn read(&self, row: &DynamicEntity) -> Result<Self::Row>;
}

/// A column whose property a row may lack; see [`Column::optional`].
pub struct OptionalColumn<E, T> {
    name: PropertyName,
    types: PhantomData<fn() -> (E, T)>,
}

impl<E, T> Column<E, T> {
    /// The same column, read as an `Option`: for an optional field, or one that old rows lack.
    #[must_use]
    pub fn optional(&self) -> OptionalColumn<E, T> {
        OptionalColumn { name: self.name().clone(), types: PhantomData }
    }
}

impl<E, T> fmt::Debug for OptionalColumn<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OptionalColumn").field(&self.name).finish()
    }
}

fn read_property<T: Property>(row: &DynamicEntity, name: &PropertyName) -> Result<Option<T>> {
    row.get(name.as_str())
        .map(|value| T::from_value(value.clone()))
        .transpose()
        .map_err(|error| error.with_property(name.as_str()).with_key(row.key.clone()))
}

impl<E: 'static, T: Property + Send + 'static> Columns<E> for Column<E, T> {
    type Row = T;

    fn add_names(&self, names: &mut Vec<PropertyName>) {
        names.push(self.name().clone());
    }

    fn read(&self, row: &DynamicEntity) -> Result<T> {
        read_property(row, self.name())?.or_else(T::absent).ok_or_else(|| {
            Error::corrupted("the row lacks the property; select the column as optional()")
                .with_property(self.name().as_str())
                .with_key(row.key.clone())
        })
    }
}

impl<E: 'static, T: Property + Send + 'static> Columns<E> for OptionalColumn<E, T> {
    type Row = Option<T>;

    fn add_names(&self, names: &mut Vec<PropertyName>) {
        names.push(self.name.clone());
    }

    fn read(&self, row: &DynamicEntity) -> Result<Option<T>> {
        read_property(row, &self.name)
    }
}

impl<E: Entity, T: KeyPart + Send + 'static> Columns<E> for KeyColumn<E, T> {
    type Row = T;

    fn add_names(&self, _: &mut Vec<PropertyName>) {}

    fn read(&self, row: &DynamicEntity) -> Result<T> {
        let of = |template: &KeyTemplate, key: &str| read_part(template, key, self.field());
        of(&E::SCHEMA.row, row.key.row.as_str())
            .transpose()
            .or_else(|| of(&E::SCHEMA.partition, row.key.partition.as_str()).transpose())
            .unwrap_or_else(|| Err(Error::corrupted("the field is no part of the entity's key")))
            .map_err(|error| error.with_property(self.field()).with_key(row.key.clone()))
    }
}

/// The value of a field in a key, where its template has the field.
fn read_part<T: KeyPart>(template: &KeyTemplate, key: &str, field: &str) -> Result<Option<T>> {
    let Some(position) = template.fields().position(|(name, _)| name == field) else {
        return Ok(None);
    };
    let mut values = vec![KeyValue::Lost; template.fields().count()];
    template.decode(key, &mut values)?;
    values.into_iter().nth(position).map(T::from_key).transpose()
}

macro_rules! tuples {
    ($($($column:ident $position:tt),+;)*) => {
        $(impl<E, $($column: Columns<E>),+> Columns<E> for ($($column,)+) {
            type Row = ($($column::Row,)+);

            fn add_names(&self, names: &mut Vec<PropertyName>) {
                $(self.$position.add_names(names);)+
            }

            fn read(&self, row: &DynamicEntity) -> Result<Self::Row> {
                Ok(($(self.$position.read(row)?,)+))
            }
        })*
    };
}

tuples! {
    A 0;
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, F 4;
    A 0, B 1, C 2, D 3, F 4, G 5;
    A 0, B 1, C 2, D 3, F 4, G 5, H 6;
    A 0, B 1, C 2, D 3, F 4, G 5, H 6, I 7;
}
