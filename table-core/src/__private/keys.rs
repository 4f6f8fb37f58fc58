//! Keys in generated code.

use std::borrow::Cow;
use std::ops::Bound;

use crate::entity::{IndexSchema, Schema};
use crate::error::Result;
use crate::keys::{EntityKey, KeyPart, KeyTemplate, KeyValue, PartitionKey};

/// A field on its way into a key.
pub fn part<'v, T: KeyPart>(name: &'static str, value: &'v T) -> Result<KeyValue<'v>> {
    value.to_key().map_err(|error| error.with_property(name))
}

/// A text on its way into a key.
pub fn text(value: &str) -> Result<KeyValue<'_>> {
    Ok(KeyValue::Text(Cow::Borrowed(value)))
}

/// The bound of a range of key parts.
#[must_use]
pub fn bound<'v, T: KeyPart>(name: &'static str, bound: Bound<&'v T>) -> Bound<Result<KeyValue<'v>>> {
    bound.map(|value| part(name, value))
}

/// The bound of a range of texts.
#[must_use]
pub fn text_bound<'v>(bound: Bound<&&'v str>) -> Bound<Result<KeyValue<'v>>> {
    bound.map(|value| text(value))
}

/// A field that a key gave back.
pub fn from_key<T: KeyPart>(name: &'static str, value: KeyValue<'_>) -> Result<T> {
    T::from_key(value).map_err(|error| error.with_property(name))
}

/// The values, or the first error.
fn settle<const N: usize>(values: [Result<KeyValue<'_>>; N]) -> Result<[KeyValue<'_>; N]> {
    let mut settled = std::array::from_fn(|_| KeyValue::Lost);
    for (slot, value) in settled.iter_mut().zip(values) {
        *slot = value?;
    }
    Ok(settled)
}

/// The partition key of these parts.
pub fn partition_key<const N: usize>(
    template: &KeyTemplate,
    values: [Result<KeyValue<'_>>; N],
) -> Result<PartitionKey> {
    template.partition_key(&settle(values)?)
}

/// The key of these parts.
pub fn entity_key<const P: usize, const R: usize>(
    partition: &KeyTemplate,
    partition_values: [Result<KeyValue<'_>>; P],
    row: &KeyTemplate,
    row_values: [Result<KeyValue<'_>>; R],
) -> Result<EntityKey> {
    Ok(EntityKey::new(partition_key(partition, partition_values)?, row.row_key(&settle(row_values)?)?))
}

/// The key of these parts in an index.
pub fn index_key<const P: usize, const R: usize>(
    schema: &'static Schema,
    position: usize,
    partition_values: [Result<KeyValue<'_>>; P],
    row_values: [Result<KeyValue<'_>>; R],
) -> Result<EntityKey> {
    entity_key(index_partition(schema, position), partition_values, &index(schema, position).row, row_values)
}

/// Reads a key back into its parts.
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
