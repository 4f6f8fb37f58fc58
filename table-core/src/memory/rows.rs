//! The rows of one table, and what a write does to them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::stamps::Stamps;
use crate::dynamic::DynamicEntity;
use crate::error::{Error, Result};
use crate::etag::ETag;
use crate::keys::{EntityKey, SortKey};
use crate::operation::{Action, IfMatch, Operation, Written};

/// A row as a reader may keep it after the lock is gone.
pub(super) type Row = Arc<DynamicEntity>;

/// The rows of one table in key order.
#[derive(Debug, Default)]
pub(super) struct Rows {
    by_key: BTreeMap<SortKey, Row>,
}

/// A write that has passed all its checks.
enum Change {
    Put(SortKey, DynamicEntity),
    Remove(SortKey),
}

impl Rows {
    pub(super) fn get(&self, key: &EntityKey) -> Option<&Row> {
        self.by_key.get(&SortKey::of(key))
    }

    /// The rows at and after a place in the order.
    pub(super) fn from<'r>(&'r self, start: &SortKey) -> impl Iterator<Item = (&'r SortKey, &'r Row)> + use<'r> {
        self.by_key.range(start..)
    }

    /// Does all operations, or none and says which one cannot be done.
    ///
    /// No two operations are on one row, so each can be checked against the rows as they are.
    pub(super) fn apply(
        &mut self,
        operations: Vec<Operation>,
        stamps: &Stamps,
    ) -> Result<Vec<Written>, (usize, Error)> {
        let mut changes = Vec::with_capacity(operations.len());
        for (index, operation) in operations.into_iter().enumerate() {
            changes.push(self.plan(operation.into_action()).map_err(|error| (index, error))?);
        }
        Ok(changes.into_iter().map(|change| self.commit(change, stamps)).collect())
    }

    fn plan(&self, action: Action) -> Result<Change> {
        let name = action.name();
        let key = SortKey::of(action.key());
        let current = self.by_key.get(&key);
        let located = |error: Error, at: &EntityKey| error.with_operation(name).with_key(at.clone());
        match action {
            Action::Insert(entity) if current.is_some() => {
                Err(located(Error::already_exists("an entity with this key is there already"), &entity.key))
            }
            Action::Insert(entity) | Action::InsertOrReplace(entity) => Ok(Change::Put(key, entity)),
            Action::Replace(entity, if_match) => match check(current, &if_match) {
                Ok(_) => Ok(Change::Put(key, entity)),
                Err(error) => Err(located(error, &entity.key)),
            },
            Action::Merge(entity, if_match) => check(current, &if_match)
                .and_then(|current| merged(current, &entity))
                .map(|entity| Change::Put(key, entity))
                .map_err(|error| located(error, &entity.key)),
            Action::InsertOrMerge(entity) => match current {
                None => Ok(Change::Put(key, entity)),
                Some(current) => merged(current, &entity)
                    .map(|entity| Change::Put(key, entity))
                    .map_err(|error| located(error, &entity.key)),
            },
            Action::Delete(at, if_match) => match check(current, &if_match) {
                Ok(_) => Ok(Change::Remove(key)),
                Err(error) => Err(located(error, &at)),
            },
        }
    }

    fn commit(&mut self, change: Change, stamps: &Stamps) -> Written {
        match change {
            Change::Put(key, mut entity) => {
                let at = stamps.next();
                let etag = ETag::from_timestamp(at);
                entity.etag = Some(etag.clone());
                entity.timestamp = Some(at);
                self.by_key.insert(key, Arc::new(entity));
                Written { etag: Some(etag) }
            }
            Change::Remove(key) => {
                self.by_key.remove(&key);
                Written { etag: None }
            }
        }
    }
}

/// The current row, if it is there and of the version that the write is meant for.
fn check<'r>(current: Option<&'r Row>, if_match: &IfMatch) -> Result<&'r Row> {
    let current = current.ok_or_else(|| Error::not_found("there is no such entity"))?;
    match if_match {
        IfMatch::Version(version) if current.etag.as_ref() != Some(version) => {
            Err(Error::precondition_failed("read the entity again and repeat the change"))
        }
        _ => Ok(current),
    }
}

/// What a merge leaves, which can be too large though its parts were not.
fn merged(current: &Row, changes: &DynamicEntity) -> Result<DynamicEntity> {
    let mut entity = DynamicEntity::clone(current);
    entity.properties.merge(changes.properties.clone());
    entity.check_limits()?;
    Ok(entity)
}
