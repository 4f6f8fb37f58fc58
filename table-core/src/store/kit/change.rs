//! What a write does to a row, once its conditions are checked.

use crate::dynamic::DynamicEntity;
use crate::error::{Error, Result};
use crate::etag::ETag;
use crate::keys::EntityKey;
use crate::operation::{Action, IfMatch};

/// The row that a write meets.
pub trait Current {
    /// Its version.
    fn etag(&self) -> ETag;

    /// Its content, for a merge.
    ///
    /// # Errors
    /// [`Corrupted`](crate::ErrorKind::Corrupted) where it cannot be read.
    fn entity(&self) -> Result<DynamicEntity>;
}

/// What is left to do for a write that has passed all its checks.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The row is this one now, once it has a version.
    Put(DynamicEntity),
    /// The row is gone.
    Remove(EntityKey),
}

impl Change {
    /// Checks a write against the row that it meets.
    ///
    /// # Errors
    /// With the operation and the key: [`AlreadyExists`](crate::ErrorKind::AlreadyExists),
    /// [`NotFound`](crate::ErrorKind::NotFound) before
    /// [`PreconditionFailed`](crate::ErrorKind::PreconditionFailed), and
    /// [`LimitExceeded`](crate::ErrorKind::LimitExceeded) where a merge leaves too much.
    pub fn plan(action: Action, current: Option<&dyn Current>) -> Result<Self> {
        let name = action.name();
        let key = action.key().clone();
        Self::of(action, current).map_err(|error| error.with_operation(name).with_key(key))
    }

    fn of(action: Action, current: Option<&dyn Current>) -> Result<Self> {
        match action {
            Action::Insert(_) if current.is_some() => {
                Err(Error::already_exists("an entity with this key is there already"))
            }
            Action::Insert(entity) | Action::InsertOrReplace(entity) => Ok(Self::Put(entity)),
            Action::Replace(entity, if_match) => check(current, &if_match).map(|_| Self::Put(entity)),
            Action::Merge(entity, if_match) => merged(check(current, &if_match)?, entity).map(Self::Put),
            Action::InsertOrMerge(entity) => match current {
                None => Ok(Self::Put(entity)),
                Some(current) => merged(current, entity).map(Self::Put),
            },
            Action::Delete(key, if_match) => check(current, &if_match).map(|_| Self::Remove(key)),
        }
    }
}

/// The current row, if it is there and of the version that the write is meant for.
fn check<'r>(current: Option<&'r dyn Current>, if_match: &IfMatch) -> Result<&'r dyn Current> {
    let current = current.ok_or_else(|| Error::not_found("there is no such entity"))?;
    match if_match {
        IfMatch::Version(version) if current.etag() != *version => {
            Err(Error::precondition_failed("read the entity again and repeat the change"))
        }
        _ => Ok(current),
    }
}

/// What a merge leaves, which can be too large though its parts were not.
fn merged(current: &dyn Current, changes: DynamicEntity) -> Result<DynamicEntity> {
    let mut entity = current.entity()?;
    entity.properties.merge(changes.properties);
    entity.check_limits()?;
    Ok(entity)
}
