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

/// The properties of a row that are kept in blobs, separated by commas; each holds a reference in their place.
pub const ROW_BLOBS: PropertyName = PropertyName::checked("RowBlobs");

/// What the [`ROW_KIND`] of an index copy begins with; the index's name follows.
pub const INDEX_KIND_PREFIX: &str = "index:";
/// What the [`ROW_KIND`] of a row begins with that keeps a key for an entity which is yet to be written; the
/// id of the intent follows.
pub const CLAIM_KIND_PREFIX: &str = "claim:";
/// The [`ROW_KIND`] of a row that stands where a copy was, or might have been written.
pub const TOMBSTONE_KIND: &str = "tombstone";
/// The [`ROW_KIND`] of a row that says that a change is not yet everywhere.
pub const INTENT_KIND: &str = "intent";
/// The [`ROW_KIND`] of a row that keeps a late writer from its place.
pub const FENCE_KIND: &str = "fence";

/// What a reference to a blob begins with, in the place of the property that the blob holds.
pub const BLOB_REFERENCE: &str = "blob:";

/// The names that no field may have.
pub const NAMES: [PropertyName; 6] = [ENTITY_TYPE, ENTITY_VERSION, ROW_KIND, ROW_TOKEN, ROW_OWNER, ROW_BLOBS];

/// Whether a row only keeps its place, so that for a typed read nothing is there: a claim or a tombstone.
#[must_use]
pub fn is_placeholder(row: &DynamicEntity) -> bool {
    let kind = row.get(ROW_KIND.as_str()).and_then(Value::as_str);
    kind.is_some_and(|kind| kind == TOMBSTONE_KIND || kind.starts_with(CLAIM_KIND_PREFIX))
}
