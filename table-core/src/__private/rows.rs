//! Rows in generated code: values in and out, and which type a row is of.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::dynamic::{DynamicEntity, Properties};
use crate::entity::{Entity, IndexKey, IndexSchema, Schema, marks};
use crate::error::{Error, Result};
use crate::keys::{EntityKey, KeyTemplate};
use crate::names::PropertyName;
use crate::property::{Property, wrong_type};
use crate::reserved;
use crate::store::Selection;
use crate::value::{EdmType, Value};
use crate::versioned::Versioned;

/// Writes a property.
#[inline]
pub fn write<T: Property>(properties: &mut Properties, name: &'static str, value: &T) -> Result<()> {
    if let Some(value) = value.to_value().map_err(|error| error.with_property(name))? {
        properties.insert(PropertyName::checked(name), value);
    }
    Ok(())
}

/// Writes a property as JSON.
pub fn write_json<T: Serialize + ?Sized>(properties: &mut Properties, name: &'static str, value: &T) -> Result<()> {
    if let Some(text) = json_value(value).map_err(|error| error.with_property(name))? {
        properties.insert(PropertyName::checked(name), text);
    }
    Ok(())
}

/// A value as JSON, for a patch.
pub fn json_value<T: Serialize + ?Sized>(value: &T) -> Result<Option<Value>> {
    serde_json::to_string(value)
        .map(|text| Some(Value::String(text)))
        .map_err(|_| Error::invalid_value("the field cannot be written as JSON; a map needs keys that are texts"))
}

/// Reads JSON. The parser's own words could hold the value, so only the place is told.
pub(super) fn from_json<T: DeserializeOwned>(value: Value) -> Result<T> {
    let Value::String(text) = value else {
        return Err(wrong_type(EdmType::String, &value));
    };
    serde_json::from_str(&text).map_err(|error| {
        Error::corrupted(format!(
            "the stored text is no JSON of the field's type, at line {} column {}",
            error.line(),
            error.column()
        ))
    })
}

/// A property that must be there.
pub(super) fn lacking() -> Error {
    Error::corrupted(
        "the row lacks the property; make the field an Option, or give it a default with `#[entity(default)]`",
    )
}

/// Reads a property.
#[inline]
pub fn read<T: Property>(name: &'static str, value: Option<Value>) -> Result<T> {
    match value {
        Some(value) => T::from_value(value),
        None => T::absent().ok_or_else(lacking),
    }
    .map_err(|error| error.with_property(name))
}

/// Reads a property that may be absent.
#[inline]
pub fn read_or<T: Property>(name: &'static str, value: Option<Value>, default: impl FnOnce() -> T) -> Result<T> {
    value.map_or_else(|| Ok(default()), T::from_value).map_err(|error| error.with_property(name))
}

/// Reads a property that holds JSON.
pub fn read_json<T: DeserializeOwned>(name: &'static str, value: Option<Value>) -> Result<T> {
    value.ok_or_else(lacking).and_then(from_json).map_err(|error| error.with_property(name))
}

/// Reads a property that holds JSON and may be absent.
pub fn read_json_or<T: DeserializeOwned>(
    name: &'static str,
    value: Option<Value>,
    default: impl FnOnce() -> T,
) -> Result<T> {
    value.map_or_else(|| Ok(default()), from_json).map_err(|error| error.with_property(name))
}

/// The values of a flattened field, as they are found.
#[derive(Debug)]
pub struct Flat {
    names: &'static [&'static str],
    values: Vec<Option<Value>>,
}

impl Flat {
    /// No value yet.
    #[must_use]
    pub fn new(names: &'static [&'static str]) -> Self {
        Self { names, values: names.iter().map(|_| None).collect() }
    }

    /// Takes a value of one of the names, and gives another's back.
    pub fn offer(&mut self, name: &str, value: Value) -> Option<Value> {
        let slot = self.names.iter().position(|each| *each == name).and_then(|at| self.values.get_mut(at));
        match slot {
            Some(slot) => {
                *slot = Some(value);
                None
            }
            None => Some(value),
        }
    }

    /// The field.
    pub fn read<T: crate::Flatten>(mut self) -> Result<T> {
        T::read(self.names, &mut self.values)
    }
}

/// Refuses a row that a newer program wrote.
#[inline]
pub fn check_version(schema: &Schema, row: &DynamicEntity) -> Result<()> {
    let version = Schema::version_of(row);
    if version <= schema.version {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "the row is of version {version} of {}, and this program knows only up to version {}; upgrade the program",
        schema.name, schema.version
    ))
    .with_key(row.key.clone()))
}

/// Reads an entity, with the keys of its index copies.
#[inline]
pub fn read_entity<E: Entity>(
    row: DynamicEntity,
    read: impl FnOnce(&EntityKey, &mut Properties) -> Result<E>,
) -> Result<Versioned<E>> {
    let (value, row) = read_value(row, read)?;
    Versioned::from_read_finding(value, row, stored_index_keys)
}

/// The keys of the copies that a stored entity has.
fn stored_index_keys<E: Entity>(value: &E) -> Vec<IndexKey> {
    // A row of another program may hold what fits no index key; then it has no copy there, and
    // it must be readable all the same to be repaired.
    let copies = E::SCHEMA.indexes.iter().enumerate().filter_map(|(position, index)| {
        let key = value.index_key(position).ok().flatten()?;
        Some(IndexKey { index: index.name, table: index.table, key })
    });
    copies.collect()
}

/// Reads a row that has no index copies of its own.
#[inline]
pub fn read_row<R>(
    row: DynamicEntity,
    read: impl FnOnce(&EntityKey, &mut Properties) -> Result<R>,
) -> Result<Versioned<R>> {
    let (value, row) = read_value(row, read)?;
    Versioned::from_read(value, row, Vec::new())
}

#[inline]
fn read_value<R>(
    mut row: DynamicEntity,
    read: impl FnOnce(&EntityKey, &mut Properties) -> Result<R>,
) -> Result<(R, DynamicEntity)> {
    match read(&row.key, &mut row.properties) {
        Ok(value) => Ok((value, row)),
        Err(error) => Err(error.with_key(row.key)),
    }
}

/// Whether a row is a primary row of this type, but for its keys.
#[must_use]
pub fn is_primary(schema: &Schema, row: &DynamicEntity) -> bool {
    schema.is_primary(row)
}

/// Whether a row is a copy of this index, by its mark and its keys.
#[must_use]
pub fn recognizes_copy(schema: &Schema, index: &IndexSchema, partition: &KeyTemplate, row: &DynamicEntity) -> bool {
    schema.recognizes_copy(index, row)
        && index.row.matches(row.key.row.as_str())
        && partition.matches(row.key.partition.as_str())
}

/// A row that is no copy of an index.
#[must_use]
pub fn no_copy(row: DynamicEntity) -> Error {
    Error::corrupted("the row is no copy of an index of this type").with_key(row.key)
}

/// What two texts both begin with.
#[must_use]
pub fn common_prefix(a: &'static str, b: &'static str) -> &'static str {
    let end = a.char_indices().zip(b.chars()).find(|((_, x), y)| x != y).map(|((at, _), _)| at);
    a.get(..end.unwrap_or_else(|| a.len().min(b.len()))).unwrap_or_default()
}

/// These properties, and those by which a row is recognised.
#[must_use]
pub fn selection(properties: impl IntoIterator<Item = PropertyName>) -> Selection {
    Selection::Only(properties.into_iter().chain(marks()).collect())
}

/// A row that belongs to no member of a set.
#[must_use]
pub fn unknown_member(set: &str, members: &[&Schema], row: &DynamicEntity) -> Error {
    let message = match row.get(reserved::ENTITY_TYPE.as_str()).and_then(Value::as_str) {
        Some(name) if members.iter().any(|member| member.name == name) => {
            format!("the row says that it is of type {name}, but its key does not follow that type's templates")
        }
        Some(name) => format!(
            "the row is of type {name}, which the set {set} does not have; add it, or a variant `#[entity(other)] Other(DynamicEntity)`"
        ),
        None => format!(
            "the row names no type, and its key follows no template of the set {set}; add a variant `#[entity(other)] Other(DynamicEntity)`"
        ),
    };
    Error::corrupted(message).with_key(row.key.clone())
}

/// A text that is no variant of an enum.
#[must_use]
pub fn corrupted_variant(name: &str) -> Error {
    Error::corrupted(format!("the stored text is no variant of {name}; add the variant, or repair the row"))
}
