//! Keys in generated code.

use std::borrow::Cow;
use std::ops::Bound;

use smol_str::SmolStr;

use crate::entity::{IndexSchema, Schema};
use crate::error::Result;
use crate::keys::{EntityKey, KeyPart, KeyTemplate, KeyValue, PartitionKey, RowKey};

/// A field on its way into a key.
#[inline]
pub fn part<'v, T: KeyPart>(name: &'static str, value: &'v T) -> Result<KeyValue<'v>> {
    value.to_key().map_err(|error| error.with_property(name))
}

/// A text on its way into a key.
#[inline]
pub fn text(value: &str) -> Result<KeyValue<'_>> {
    Ok(KeyValue::Text(Cow::Borrowed(value)))
}

/// The bound of a range of key parts.
#[must_use]
#[inline]
pub fn bound<'v, T: KeyPart>(name: &'static str, bound: Bound<&'v T>) -> Bound<Result<KeyValue<'v>>> {
    bound.map(|value| part(name, value))
}

/// The bound of a range of texts.
#[must_use]
#[inline]
pub fn text_bound<'v>(bound: Bound<&&'v str>) -> Bound<Result<KeyValue<'v>>> {
    bound.map(|value| text(value))
}

/// A field that a key gave back.
#[inline]
pub fn from_key<T: KeyPart>(name: &'static str, value: KeyValue<'_>) -> Result<T> {
    T::from_key(value).map_err(|error| error.with_property(name))
}

/// The text of these parts, or the first error among them.
#[inline]
fn text_of(template: &KeyTemplate, values: &[Result<KeyValue<'_>>]) -> Result<SmolStr> {
    template.encode(values.iter().map(|value| value.as_ref().map_err(Clone::clone)))
}

/// The partition key of these parts.
#[inline]
pub fn partition_key(template: &KeyTemplate, values: &[Result<KeyValue<'_>>]) -> Result<PartitionKey> {
    PartitionKey::from_encoded(text_of(template, values)?)
}

/// The key of these parts.
#[inline]
pub fn entity_key(
    partition: &KeyTemplate,
    partition_values: &[Result<KeyValue<'_>>],
    row: &KeyTemplate,
    row_values: &[Result<KeyValue<'_>>],
) -> Result<EntityKey> {
    let partition_key = partition_key(partition, partition_values)?;
    Ok(EntityKey::new(partition_key, RowKey::from_encoded(text_of(row, row_values)?)?))
}

/// The key of these parts in an index.
#[inline]
pub fn index_key(
    schema: &'static Schema,
    position: usize,
    partition_values: &[Result<KeyValue<'_>>],
    row_values: &[Result<KeyValue<'_>>],
) -> Result<EntityKey> {
    entity_key(index_partition(schema, position), partition_values, &index(schema, position).row, row_values)
}

/// Reads a key back into its parts.
#[inline]
pub fn decode<'k, const N: usize>(template: &KeyTemplate, key: &'k str) -> Result<[KeyValue<'k>; N]> {
    let mut values = std::array::from_fn(|_| KeyValue::Lost);
    template.decode(key, &mut values)?;
    Ok(values)
}

/// An index by its position.
#[must_use]
#[expect(clippy::indexing_slicing, reason = "the macro counts the indexes that it writes into the schema")]
pub const fn index(schema: &'static Schema, position: usize) -> &'static IndexSchema {
    &schema.indexes[position]
}

/// The partition template of an index: its own, or the entity's.
#[must_use]
pub const fn index_partition(schema: &'static Schema, position: usize) -> &'static KeyTemplate {
    match &index(schema, position).partition {
        Some(partition) => partition,
        None => &schema.partition,
    }
}
