//! Typed writes of entities without indexes.

use super::Table;
use crate::entity::Unindexed;
use crate::error::Result;
use crate::etag::ETag;
use crate::operation::{Action, Operation};

impl Table {
    /// Adds an entity that must not exist, and returns its version.
    ///
    /// # Errors
    /// [`AlreadyExists`](crate::ErrorKind::AlreadyExists), and the limits of the service.
    pub async fn insert<E: Unindexed>(&self, entity: &E) -> Result<ETag> {
        let written = self.store.write(&self.name, Operation::new(Action::Insert(entity.to_row()?))?).await?;
        written.etag.ok_or_else(|| crate::error::Error::corrupted("the store answered a write without an ETag"))
    }
}
