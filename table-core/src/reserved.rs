//! Property names and row marks that the toolkit keeps for itself.

use crate::dynamic::DynamicEntity;
use crate::names::PropertyName;
use crate::value::Value;

/// The entity type's bare name, so that `EntityType eq 'Employee'` works for everyone.
pub const ENTITY_TYPE: PropertyName = PropertyName::checked("EntityType");
/// The version of the entity's properties; absent for version 1.
pub const ENTITY_VERSION: PropertyName = PropertyName::checked("EntityVersion");
/// What a row is, where it is not an entity's primary row: an index copy, a tombstone, an intent.
pub const ROW_KIND: PropertyName = PropertyName::checked("RowKind");
/// A random mark of one attempt to write, by which a lost answer is settled.
pub const ROW_TOKEN: PropertyName = PropertyName::checked("RowToken");
/// Whose a row is, where it stands in another partition or table than the entity that it belongs to.
pub const ROW_OWNER: PropertyName = PropertyName::checked("RowOwner");

/// What the [`ROW_KIND`] of an index copy begins with; the index's name follows.
pub const INDEX_KIND_PREFIX: &str = "index:";
/// The [`ROW_KIND`] of a row that keeps a key for an entity which is yet to be written.
pub const CLAIM_KIND: &str = "claim";
/// The [`ROW_KIND`] of a row that stands where a copy was, or might have been written.
pub const TOMBSTONE_KIND: &str = "tombstone";
/// The [`ROW_KIND`] of a row that says that a change is not yet everywhere.
pub const INTENT_KIND: &str = "intent";
/// The [`ROW_KIND`] of a row that keeps a late writer from its place.
pub const FENCE_KIND: &str = "fence";

/// The names that no field may have.
pub const NAMES: [PropertyName; 5] = [ENTITY_TYPE, ENTITY_VERSION, ROW_KIND, ROW_TOKEN, ROW_OWNER];

/// Whether a row only keeps its place, so that for a typed read nothing is there: a claim or a tombstone.
#[must_use]
pub fn is_placeholder(row: &DynamicEntity) -> bool {
    let kind = row.get(ROW_KIND.as_str()).and_then(Value::as_str);
    matches!(kind, Some(CLAIM_KIND | TOMBSTONE_KIND))
}
