//! Keys in generated code.

use std::borrow::Cow;
use std::ops::Bound;

use crate::entity::{IndexSchema, Schema};
use crate::error::Result;
use crate::keys::{EntityKey, KeyPart, KeyTemplate, KeyValue, PartFormat, PartitionKey, RowKey};

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

/// The form of a part of a template, by its position.
#[must_use]
pub const fn format(template: &KeyTemplate, position: usize) -> PartFormat {
    template.format_at(position)
}

/// The partition key of these pieces.
#[inline]
pub fn partition_key<const N: usize>(pieces: [&str; N]) -> Result<PartitionKey> {
    PartitionKey::check_pieces(&pieces)?;
    Ok(PartitionKey::from_pieces(pieces))
}

/// The key of these pieces.
#[inline]
pub fn entity_key<const N: usize, const M: usize>(partition: [&str; N], row: [&str; M]) -> Result<EntityKey> {
    PartitionKey::check_pieces(&partition)?;
    RowKey::check_pieces(&row)?;
    // A short text is slow to move once it is made, so both are made where they stay.
    Ok(EntityKey::new(PartitionKey::from_pieces(partition), RowKey::from_pieces(row)))
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
