//! The forms of the rows that the protocol writes.

use table_core::{DynamicEntity, EntityKey, PropertyName, Result, RowKey, Table, Value, reserved};

use crate::rows::marked;

/// What the row key of an intent begins with.
pub(crate) const INTENT_PREFIX: &str = "~intent_";

/// Whose an intent or a fence is, among the patterns that keep something of one entity. No other row has it.
const ROW_SCOPE: PropertyName = PropertyName::checked("RowScope");

/// How an index row names the entity that it belongs to: table, partition key and row key. None of them can
/// hold the separator; table names are the same in any case.
pub(crate) fn owner(table: &Table, source: &EntityKey) -> String {
    let table = table.name().as_str().to_ascii_lowercase();
    format!("{table}/{}/{}", source.partition.as_str(), source.row.as_str())
}

/// The key of the entity of this table that an owner's name stands for.
pub(crate) fn source(table: &Table, owner: &str) -> Option<EntityKey> {
    let mut parts = owner.splitn(3, '/');
    let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(table.name().as_str()));
    let (partition, row) = (parts.next()?, parts.next()?);
    if named { EntityKey::parse(partition, row).ok() } else { None }
}

/// A copy that names its owner.
pub(crate) fn owned(mut row: DynamicEntity, owner: &str) -> DynamicEntity {
    row.properties.insert(reserved::ROW_OWNER, Value::from(owner));
    row
}

/// A row that keeps a place for an entity which is not yet written, by the intent with an id.
pub(crate) fn claim(place: &EntityKey, owner: &str, intent: &str) -> DynamicEntity {
    bare(place.clone(), &format!("{}{intent}", reserved::CLAIM_KIND_PREFIX), owner)
}

/// A row that stands where there is no copy, so that whoever comes late finds a version that it does not know.
pub(crate) fn tombstone(place: &EntityKey, owner: &str) -> DynamicEntity {
    bare(place.clone(), reserved::TOMBSTONE_KIND, owner)
}

/// The row that says, beside the entity, that its change is not yet everywhere where a scope has it.
pub(crate) fn intent(key: EntityKey, owner: &str, scope: &str) -> DynamicEntity {
    scoped(bare(key, reserved::INTENT_KIND, owner), scope)
}

/// The row in the place of an intent that keeps its writer from committing.
pub(crate) fn fence(key: EntityKey, owner: &str, scope: &str) -> DynamicEntity {
    scoped(bare(key, reserved::FENCE_KIND, owner), scope)
}

/// The scope of an intent or a fence: who settles it, and no other may remove it.
pub(crate) fn scope(row: &DynamicEntity) -> Option<&str> {
    row.get(ROW_SCOPE.as_str()).and_then(Value::as_str)
}

/// Where the intent with an id stands, or its fence.
pub(crate) fn intent_key(source: &EntityKey, id: &str) -> Result<EntityKey> {
    Ok(EntityKey::new(source.partition.clone(), RowKey::new(format!("{INTENT_PREFIX}{id}"))?))
}

/// Whether a row has a mark.
pub(crate) fn is_of_kind(row: &DynamicEntity, kind: &str) -> bool {
    row.get(reserved::ROW_KIND.as_str()).and_then(Value::as_str) == Some(kind)
}

/// Whether a stored row is what a copy says, whoever wrote it and when.
pub(crate) fn is_as(stored: &DynamicEntity, copy: &DynamicEntity) -> bool {
    let told = |name: &PropertyName| *name != reserved::ROW_TOKEN;
    let stored = stored.properties.iter().filter(|(name, _)| told(name));
    stored.eq(copy.properties.iter().filter(|(name, _)| told(name)))
}

fn scoped(mut row: DynamicEntity, scope: &str) -> DynamicEntity {
    row.properties.insert(ROW_SCOPE, Value::from(scope));
    row
}

fn bare(key: EntityKey, kind: &str, owner: &str) -> DynamicEntity {
    let mut row = DynamicEntity::new(key);
    row.properties.insert(reserved::ROW_KIND, Value::from(kind));
    row.properties.insert(reserved::ROW_OWNER, Value::from(owner));
    marked(row)
}
