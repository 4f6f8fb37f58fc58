//! Typed transactions: several entities of one partition, of one type or more.

use super::Table;
use super::write::version_of;
use crate::entity::{Entity, Unindexed};
use crate::error::Result;
use crate::key::Key;
use crate::operation::{Action, IfMatch, Operation, Transaction, Written};
use crate::patch::Patch;
use crate::versioned::Versioned;

impl Table {
    /// Begins a transaction: writes to one partition that happen together or not at all.
    pub const fn transaction(&self) -> TableTransaction<'_> {
        TableTransaction { table: self, operations: Ok(Vec::new()) }
    }
}

/// Writes that are about to happen together.
///
/// An entity that cannot be written is reported by [`commit`](TableTransaction::commit), with
/// its position, and nothing is sent.
///
/// ```
/// # use std::sync::Arc;
/// # use table_core::{Entity, ErrorKind, MemoryStore, Table};
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[entity(partition = "{department}", row = "empid_{id:06}")]
/// # struct Employee { department: String, id: u32, name: String, age: i32 }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// # let table = Table::new(Arc::new(MemoryStore::new()), "Employees")?;
/// # table.create().await?;
/// # let employee = |id, age| Employee { department: "Sales".into(), id, name: "Jo".into(), age };
/// table.transaction().insert(&employee(1, 40)).insert(&employee(2, 50)).commit().await?;
///
/// // The second is there already, so the first is not written either.
/// let refused = table.transaction().insert(&employee(3, 60)).insert(&employee(2, 70)).commit().await.unwrap_err();
/// assert_eq!((refused.kind(), refused.operation_index()), (ErrorKind::AlreadyExists, Some(1)));
/// assert_eq!(table.count(Employee::range("Sales")).await?, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "nothing is written before `commit`"]
pub struct TableTransaction<'t> {
    table: &'t Table,
    operations: Result<Vec<Operation>>,
}

impl TableTransaction<'_> {
    /// Adds an operation made elsewhere.
    pub fn operation(self, operation: Operation) -> Self {
        self.push(|| Ok(operation))
    }

    /// Adds an entity that must not exist.
    pub fn insert<E: Unindexed>(self, entity: &E) -> Self {
        self.push(|| Operation::new(Action::Insert(entity.to_row()?)))
    }

    /// Writes an entity over the version that was read.
    pub fn replace<E: Unindexed>(self, read: &Versioned<E>) -> Self {
        self.push(|| Operation::new(Action::Replace(read.to_row()?, version_of(read))))
    }

    /// Writes the fields of an entity into the version that was read.
    pub fn merge<E: Unindexed>(self, read: &Versioned<E>) -> Self {
        self.push(|| Operation::new(Action::Merge(read.to_row()?, version_of(read))))
    }

    /// Writes an entity over whatever version there is.
    pub fn replace_unconditionally<E: Unindexed>(self, entity: &E) -> Self {
        self.push(|| Operation::new(Action::Replace(entity.to_row()?, IfMatch::Any)))
    }

    /// Adds an entity, or writes it over whatever version there is.
    pub fn insert_or_replace<E: Unindexed>(self, entity: &E) -> Self {
        self.push(|| Operation::new(Action::InsertOrReplace(entity.to_row()?)))
    }

    /// Adds an entity, or writes its fields into whatever version there is.
    pub fn insert_or_merge<E: Unindexed>(self, entity: &E) -> Self {
        self.push(|| Operation::new(Action::InsertOrMerge(entity.to_row()?)))
    }

    /// Sets the fields that a patch names.
    pub fn patch<E: Entity>(self, patch: impl Into<Patch<E>>) -> Self {
        self.push(|| patch.into().into_operation())
    }

    /// Deletes the version that was read.
    pub fn delete<E: Unindexed>(self, read: &Versioned<E>) -> Self {
        self.push(|| Operation::new(Action::Delete(read.key().clone(), version_of(read))))
    }

    /// Deletes whatever version there is.
    pub fn delete_unconditionally<E: Unindexed>(self, key: &Key<E>) -> Self {
        self.push(|| Operation::new(Action::Delete(key.resolve()?, IfMatch::Any)))
    }

    fn push(mut self, operation: impl FnOnce() -> Result<Operation>) -> Self {
        if let Ok(mut operations) = self.operations {
            self.operations = match operation() {
                Ok(operation) => {
                    operations.push(operation);
                    Ok(operations)
                }
                Err(error) => Err(error.with_operation_index(operations.len())),
            };
        }
        self
    }

    /// Does all writes, or none.
    ///
    /// # Errors
    /// With the position of the failing operation: what [`Table`]'s writes answer,
    /// [`InvalidKey`](crate::ErrorKind::InvalidKey) for a second partition or the same entity
    /// twice, [`LimitExceeded`](crate::ErrorKind::LimitExceeded) above 100 operations or 4 MiB.
    pub async fn commit(self) -> Result<Vec<Written>> {
        let transaction = Transaction::new(self.operations?)?;
        (*self.table.store).transact(&self.table.name, transaction).await
    }
}
