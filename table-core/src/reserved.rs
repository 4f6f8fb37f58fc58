//! Property names that the toolkit keeps for itself.

use crate::names::PropertyName;

/// The entity type's bare name, so that `EntityType eq 'Employee'` works for everyone.
pub const ENTITY_TYPE: PropertyName = PropertyName::checked("EntityType");
/// The version of the entity's properties; absent for version 1.
pub const ENTITY_VERSION: PropertyName = PropertyName::checked("EntityVersion");
/// What a row is, where it is not an entity's primary row: an index copy, a tombstone, an intent.
pub const ROW_KIND: PropertyName = PropertyName::checked("RowKind");
/// A random mark of one attempt to write, by which a lost answer is settled.
pub const ROW_TOKEN: PropertyName = PropertyName::checked("RowToken");

/// What the [`ROW_KIND`] of an index copy begins with; the index's name follows.
pub const INDEX_KIND_PREFIX: &str = "index:";

/// The names that no field may have.
pub const NAMES: [PropertyName; 4] = [ENTITY_TYPE, ENTITY_VERSION, ROW_KIND, ROW_TOKEN];
