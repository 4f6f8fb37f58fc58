//! Where a projection's fields come from: the columns of its entity.

use std::fmt;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;

use super::rows::{from_json, lacking};
use crate::dynamic::Properties;
use crate::entity::Entity;
use crate::error::{Error, Result};
use crate::keys::{EntityKey, KeyPart, KeyTemplate, KeyValue};
use crate::names::PropertyName;
use crate::property::Property;
use crate::query::{BlobColumn, Column, KeyColumn};

/// A column of `E` that gives values of type `T`.
#[diagnostic::on_unimplemented(
    message = "the field's type `{T}` is not that of the entity's field",
    label = "another type than in the entity",
    note = "a projection's field has the name and the type of its entity's field"
)]
pub trait Source<E, T> {
    /// The property to be selected, where the key does not hold the field.
    fn property(&self) -> Option<PropertyName>;

    /// The value, where there is one.
    fn read(&self, key: &EntityKey, properties: &mut Properties) -> Result<Option<T>>;
}

impl<E, T: Property> Source<E, T> for Column<E, T> {
    fn property(&self) -> Option<PropertyName> {
        Some(self.name().clone())
    }

    fn read(&self, _: &EntityKey, properties: &mut Properties) -> Result<Option<T>> {
        read_property(self.name(), properties)
    }
}

fn read_property<T: Property>(name: &PropertyName, properties: &mut Properties) -> Result<Option<T>> {
    let name = name.as_str();
    properties.remove(name).map(T::from_value).transpose().map_err(|error| error.with_property(name))
}

impl<E, T: Property> Source<E, T> for BlobColumn<E, T> {
    fn property(&self) -> Option<PropertyName> {
        Some(self.name().clone())
    }

    fn read(&self, _: &EntityKey, properties: &mut Properties) -> Result<Option<T>> {
        read_property(self.name(), properties)
    }
}

impl<E: Entity, T: KeyPart> Source<E, T> for KeyColumn<E, T> {
    fn property(&self) -> Option<PropertyName> {
        None
    }

    fn read(&self, key: &EntityKey, _: &mut Properties) -> Result<Option<T>> {
        let (partition, row) = (E::SCHEMA.partition, E::SCHEMA.row);
        decode_field(&partition, key.partition.as_str(), self.field())
            .or_else(|| decode_field(&row, key.row.as_str(), self.field()))
            .map(|value| value.and_then(T::from_key))
            .transpose()
            .map_err(|error| error.with_property(self.field()))
    }
}

/// The value of a field, where the template holds it exactly.
fn decode_field<'k>(template: &KeyTemplate, key: &'k str, field: &str) -> Option<Result<KeyValue<'k>>> {
    let position = template.fields().position(|(name, format)| name == field && !format.is_lossy())?;
    let mut values: Vec<KeyValue<'k>> = template.fields().map(|_| KeyValue::Lost).collect();
    Some(template.decode(key, &mut values).map(|()| values.swap_remove(position)))
}

/// A field that is stored as JSON, which can be read and not compared.
pub struct JsonColumn<E, T> {
    name: &'static str,
    types: PhantomData<fn() -> (E, T)>,
}

impl<E, T> JsonColumn<E, T> {
    /// The column of a property whose name the derive macro has checked.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, types: PhantomData }
    }
}

impl<E, T: DeserializeOwned> Source<E, T> for JsonColumn<E, T> {
    fn property(&self) -> Option<PropertyName> {
        Some(PropertyName::checked(self.name))
    }

    fn read(&self, _: &EntityKey, properties: &mut Properties) -> Result<Option<T>> {
        properties.remove(self.name).map(from_json).transpose().map_err(|error| error.with_property(self.name))
    }
}

impl<E, T> fmt::Debug for JsonColumn<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JsonColumn").field(&self.name).finish()
    }
}

/// A field that the row lacks, and that is no `Option`.
#[must_use]
pub fn absent(field: &'static str) -> Error {
    lacking().with_property(field)
}
