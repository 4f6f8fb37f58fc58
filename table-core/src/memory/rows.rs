//! The rows of one table, and what a write does to them.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use crate::dynamic::DynamicEntity;
use crate::error::{Error, Result};
use crate::etag::ETag;
use crate::keys::{EntityKey, SortKey};
use crate::operation::{Operation, Written};
use crate::store::kit::{Change, Current, Stamps};

/// A row as a reader may keep it after the lock is gone.
pub(super) type Row = Arc<DynamicEntity>;

/// The rows of one table in key order.
#[derive(Debug, Default)]
pub(super) struct Rows {
    by_key: BTreeMap<SortKey, Row>,
}

impl Current for Row {
    fn etag(&self) -> ETag {
        self.etag.clone().unwrap_or_else(|| ETag::from(""))
    }

    fn entity(&self) -> Result<DynamicEntity> {
        Ok(DynamicEntity::clone(self))
    }
}

impl Rows {
    pub(super) fn get(&self, key: &EntityKey) -> Option<&Row> {
        self.by_key.get(&SortKey::of(key))
    }

    /// The rows from a place up to another, which must not come before it.
    pub(super) fn between<'r>(
        &'r self,
        start: &SortKey,
        end: Option<&SortKey>,
    ) -> impl Iterator<Item = (&'r SortKey, &'r Row)> {
        let end = end.map_or(Bound::Unbounded, Bound::Excluded);
        self.by_key.range::<SortKey, _>((Bound::Included(start), end))
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
            let current = self.get(operation.key()).map(|row| row as &dyn Current);
            changes.push(Change::plan(operation.into_action(), current).map_err(|error| (index, error))?);
        }
        Ok(changes.into_iter().map(|change| self.commit(change, stamps)).collect())
    }

    fn commit(&mut self, change: Change, stamps: &Stamps) -> Written {
        match change {
            Change::Put(mut entity) => {
                let at = stamps.next();
                let etag = ETag::from_timestamp(at);
                entity.etag = Some(etag.clone());
                entity.timestamp = Some(at);
                self.by_key.insert(SortKey::of(&entity.key), Arc::new(entity));
                Written { etag: Some(etag) }
            }
            Change::Remove(key) => {
                self.by_key.remove(&SortKey::of(&key));
                Written { etag: None }
            }
        }
    }
}
