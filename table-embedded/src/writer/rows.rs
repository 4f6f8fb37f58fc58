//! Writes to the rows of a user table.

use std::collections::hash_map::Entry;

use redb::ReadableTable;
use table_core::store::kit::{Change, Current};
use table_core::{Action, DynamicEntity, ETag, EntityKey, Operation, Result, SortKey, TableName, Written};

use super::group::{Failure, Group};
use crate::format::catalog;
use crate::format::names::Names;
use crate::format::row::{self, RowRef};

/// A row as a write meets it.
struct StoredRow<'a> {
    key: &'a EntityKey,
    row: RowRef<'a>,
    names: &'a Names,
}

impl Current for StoredRow<'_> {
    fn etag(&self) -> ETag {
        ETag::from_timestamp(self.row.timestamp())
    }

    fn entity(&self) -> Result<DynamicEntity> {
        let mut entity = DynamicEntity::new(self.key.clone());
        entity.properties = self.row.properties(self.names, |_| true)?;
        Ok(entity)
    }
}

impl Group<'_> {
    /// Does all operations on a table, or none and says which one cannot be done.
    ///
    /// No two operations are on one row, so each can be checked against the rows as they are.
    pub(crate) fn write_rows(
        &mut self,
        table: &TableName,
        operations: Vec<Operation>,
        operation_name: &'static str,
    ) -> Result<Vec<Written>, (usize, Failure)> {
        let whole = |failure: Failure| (0, failure);
        let number = self.table(table, operation_name).map_err(|error| whole(error.into()))?;
        let rows = match self.rows.entry(number) {
            Entry::Occupied(opened) => opened.into_mut(),
            Entry::Vacant(place) => {
                let opened = self.transaction.open_table(catalog::bytes_table(&number.rows_name()));
                place.insert(opened.map_err(|error| whole(error.into()))?)
            }
        };
        let mut changes = Vec::with_capacity(operations.len());
        for (index, operation) in operations.into_iter().enumerate() {
            let key = operation.key().clone();
            let bytes = SortKey::of(&key).into_bytes();
            let stored = match operation.action() {
                // It is the same to this one what it meets.
                Action::InsertOrReplace(_) => None,
                _ => rows.get(&*bytes).map_err(|error| (index, error.into()))?,
            };
            let current = match &stored {
                None => None,
                Some(stored) => {
                    let row = RowRef::new(stored.value()).map_err(|error| (index, error.into()))?;
                    Some(StoredRow { key: &key, row, names: self.names.names() })
                }
            };
            let current = current.as_ref().map(|row| row as &dyn Current);
            let change = Change::plan(operation.into_action(), current).map_err(|error| (index, error.into()))?;
            changes.push((bytes, change));
        }
        let mut written = Vec::with_capacity(changes.len());
        self.changed = true;
        for (bytes, change) in changes {
            written.push(match change {
                Change::Put(entity) => {
                    let at = self.stamps.next();
                    let value = row::encode(at, &entity.properties, &mut self.names)
                        .map_err(|failure| whole(failure.into()))?;
                    rows.insert(&*bytes, &*value).map_err(|error| whole(error.into()))?;
                    Written { etag: Some(ETag::from_timestamp(at)) }
                }
                Change::Remove(_) => {
                    rows.remove(&*bytes).map_err(|error| whole(error.into()))?;
                    Written { etag: None }
                }
            });
        }
        Ok(written)
    }
}
