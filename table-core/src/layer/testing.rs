//! Samples that the tests of all layers share.

use crate::dynamic::DynamicEntity;
use crate::etag::ETag;
use crate::keys::EntityKey;
use crate::names::{QueueName, TableName};
use crate::operation::{Action, IfMatch, Operation};
use crate::reserved;

pub(super) fn employees() -> TableName {
    TableName::new("Employees").unwrap()
}

pub(super) fn intents() -> QueueName {
    QueueName::new("intents").unwrap()
}

pub(super) fn key(row: &str) -> EntityKey {
    EntityKey::parse("Sales", row).unwrap()
}

/// A row of the partition `Sales` without properties.
pub(super) fn row(row: &str) -> DynamicEntity {
    DynamicEntity::new(key(row))
}

/// A row with a value, by which writers are told apart.
pub(super) fn row_with(name: &str, value: i32) -> DynamicEntity {
    row(name).with("Value", value).unwrap()
}

/// The same row with the mark of one attempt to write.
pub(super) fn marked(row: DynamicEntity, token: &str) -> DynamicEntity {
    row.with(reserved::ROW_TOKEN.as_str(), token).unwrap()
}

pub(super) fn insert(row: DynamicEntity) -> Operation {
    Operation::new(Action::Insert(row)).unwrap()
}

pub(super) fn replace(row: DynamicEntity, etag: &ETag) -> Operation {
    Operation::new(Action::Replace(row, IfMatch::Version(etag.clone()))).unwrap()
}

pub(super) fn delete(row: &str, if_match: IfMatch) -> Operation {
    Operation::new(Action::Delete(key(row), if_match)).unwrap()
}
