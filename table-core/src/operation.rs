//! Writes: one operation, or several in one partition that happen together or not at all.
//!
//! An [`Operation`] and a [`Transaction`] are checked when they are made, so a store that is
//! given one need not check any limit of the service.

use crate::dynamic::DynamicEntity;
use crate::error::{Error, Result};
use crate::etag::ETag;
use crate::keys::{EntityKey, PartitionKey};
use crate::limits;
use crate::timestamp::Timestamp;
use crate::value::{Value, utf16_units};

/// Which version of an entity a write is meant for. There is no default.
///
/// ```
/// use table_core::{Action, DynamicEntity, EntityKey, IfMatch, MemoryStore, Operation, TableName, TableStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let (store, table) = (MemoryStore::new(), TableName::new("Employees")?);
/// store.create_table(&table).await?;
/// let jo = DynamicEntity::new(EntityKey::parse("Sales", "empid_000223")?).with("Age", 41)?;
/// let read = store.write(&table, Operation::new(Action::Insert(jo.clone()))?).await?.etag.expect("its version");
/// store.write(&table, Operation::new(Action::Replace(jo.clone(), IfMatch::Any))?).await?;
/// let late = Operation::new(Action::Replace(jo, IfMatch::Version(read)))?;
/// assert!(store.write(&table, late).await.is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IfMatch {
    /// Whatever version is there; the entity must exist.
    Any,
    /// This version only.
    Version(ETag),
}

/// What a write does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Adds an entity that must not exist.
    Insert(DynamicEntity),
    /// Gives an existing entity exactly these properties.
    Replace(DynamicEntity, IfMatch),
    /// Sets these properties of an existing entity, and leaves the others.
    Merge(DynamicEntity, IfMatch),
    /// Adds an entity, or gives the one that is there exactly these properties.
    InsertOrReplace(DynamicEntity),
    /// Adds an entity, or sets these properties of the one that is there.
    InsertOrMerge(DynamicEntity),
    /// Removes an existing entity.
    Delete(EntityKey, IfMatch),
}

impl Action {
    /// The operation's name, for errors, meters and traces.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Insert(_) => "insert",
            Self::Replace(..) => "replace",
            Self::Merge(..) => "merge",
            Self::InsertOrReplace(_) => "insert_or_replace",
            Self::InsertOrMerge(_) => "insert_or_merge",
            Self::Delete(..) => "delete",
        }
    }

    /// The key of the entity concerned.
    #[must_use]
    pub const fn key(&self) -> &EntityKey {
        match self {
            Self::Delete(key, _) => key,
            Self::Insert(entity)
            | Self::Replace(entity, _)
            | Self::Merge(entity, _)
            | Self::InsertOrReplace(entity)
            | Self::InsertOrMerge(entity) => &entity.key,
        }
    }

    /// The entity to be written; none for a delete.
    #[must_use]
    pub const fn entity(&self) -> Option<&DynamicEntity> {
        match self {
            Self::Delete(..) => None,
            Self::Insert(entity)
            | Self::Replace(entity, _)
            | Self::Merge(entity, _)
            | Self::InsertOrReplace(entity)
            | Self::InsertOrMerge(entity) => Some(entity),
        }
    }

    /// The version that the write is meant for, where it is meant for one.
    #[must_use]
    pub const fn if_match(&self) -> Option<&IfMatch> {
        match self {
            Self::Replace(_, if_match) | Self::Merge(_, if_match) | Self::Delete(_, if_match) => Some(if_match),
            Self::Insert(_) | Self::InsertOrReplace(_) | Self::InsertOrMerge(_) => None,
        }
    }
}

/// A write that keeps all limits of the service.
///
/// ```
/// use table_core::{Action, DynamicEntity, EntityKey, ErrorKind, Operation};
///
/// let key = EntityKey::parse("Sales", "00010")?;
/// let long = "x".repeat(40_000);
/// let error = Operation::new(Action::Insert(DynamicEntity::new(key).with("Notes", long)?)).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::LimitExceeded);
/// assert_eq!(error.property(), Some("Notes"));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    action: Action,
    bytes: usize,
}

impl Operation {
    /// Checks a write against the limits of the service.
    ///
    /// # Errors
    /// [`LimitExceeded`](crate::ErrorKind::LimitExceeded) or
    /// [`InvalidValue`](crate::ErrorKind::InvalidValue), naming limit, entity and property.
    pub fn new(action: Action) -> Result<Self> {
        let bytes = match action.entity() {
            Some(entity) => check_entity(entity)
                .map_err(|error| error.with_operation(action.name()).with_key(entity.key.clone()))?,
            None => action.key().counted_bytes(),
        };
        Ok(Self { action, bytes })
    }

    /// What the write does.
    #[must_use]
    pub const fn action(&self) -> &Action {
        &self.action
    }

    /// What the write does, to keep.
    #[must_use]
    pub fn into_action(self) -> Action {
        self.action
    }

    /// The operation's name, for errors, meters and traces.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.action.name()
    }

    /// The key of the entity concerned.
    #[must_use]
    pub const fn key(&self) -> &EntityKey {
        self.action.key()
    }

    /// The bytes that the service counts for this write.
    #[must_use]
    pub const fn counted_bytes(&self) -> usize {
        self.bytes
    }
}

impl DynamicEntity {
    /// Refuses an entity that is too large for the service, as what a merge leaves can be.
    ///
    /// # Errors
    /// As [`Operation::new`].
    pub fn check_limits(&self) -> Result<()> {
        check_entity(self).map(|_| ())
    }
}

/// The bytes that the service counts for an entity that keeps all limits.
fn check_entity(entity: &DynamicEntity) -> Result<usize> {
    let count = entity.properties.len();
    if count > limits::ENTITY_PROPERTIES {
        return Err(Error::limit_exceeded(format!(
            "an entity has at most {} properties beside its keys, this one has {count}; split it as a wide entity",
            limits::ENTITY_PROPERTIES
        )));
    }
    for (name, value) in entity.properties.iter() {
        check_value(value).map_err(|error| error.with_property(name.as_str()))?;
    }
    let bytes = entity.counted_bytes();
    if bytes > limits::ENTITY_BYTES {
        return Err(Error::limit_exceeded(format!(
            "an entity takes at most {} bytes, this one takes {bytes} with its text counted as UTF-16; move large values to blobs or split it as a wide entity",
            limits::ENTITY_BYTES
        )));
    }
    Ok(bytes)
}

fn check_value(value: &Value) -> Result<()> {
    match value {
        // A UTF-16 unit takes at least one byte of UTF-8, so a short text needs no counting.
        Value::String(text)
            if text.len() > limits::STRING_UTF16_UNITS && utf16_units(text) > limits::STRING_UTF16_UNITS =>
        {
            return Err(Error::limit_exceeded(format!(
                "a text holds at most {} UTF-16 units, this one has {}",
                limits::STRING_UTF16_UNITS,
                utf16_units(text)
            )));
        }
        Value::Binary(bytes) if bytes.len() > limits::BINARY_BYTES => {
            return Err(Error::limit_exceeded(format!(
                "a binary value holds at most {} bytes, this one has {}",
                limits::BINARY_BYTES,
                bytes.len()
            )));
        }
        Value::DateTime(at) if *at < Timestamp::MIN_PROPERTY => {
            return Err(Error::invalid_value(format!(
                "a DateTime property cannot hold a time before the year {}",
                limits::DATE_TIME_FIRST_YEAR
            )));
        }
        _ => {}
    }
    Ok(())
}

/// Up to 100 writes to entities of one partition that happen together or not at all.
///
/// ```
/// use table_core::{Action, DynamicEntity, EntityKey, ErrorKind, Operation, Transaction};
///
/// let insert = |partition, row| {
///     Operation::new(Action::Insert(DynamicEntity::new(EntityKey::parse(partition, row)?)))
/// };
/// let transaction = Transaction::new(vec![insert("Sales", "1")?, insert("Sales", "2")?])?;
/// assert_eq!(transaction.operations().len(), 2);
///
/// let error = Transaction::new(vec![insert("Sales", "1")?, insert("Marketing", "1")?]).unwrap_err();
/// assert_eq!(error.operation_index(), Some(1));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    operations: Vec<Operation>,
}

impl Transaction {
    /// Checks that the operations can be one transaction.
    ///
    /// # Errors
    /// [`LimitExceeded`](crate::ErrorKind::LimitExceeded) for none, more than 100 operations or
    /// 4 MiB, [`InvalidKey`](crate::ErrorKind::InvalidKey) for a second partition or the same
    /// entity twice; the error has the index of the operation that breaks the rule.
    pub fn new(operations: Vec<Operation>) -> Result<Self> {
        let Some(first) = operations.first() else {
            return Err(Error::limit_exceeded("a transaction needs at least one operation"));
        };
        if operations.len() > limits::TRANSACTION_OPERATIONS {
            return Err(Error::limit_exceeded(format!(
                "a transaction has at most {} operations, this one has {}; split it, or use a bulk load",
                limits::TRANSACTION_OPERATIONS,
                operations.len()
            ))
            .with_operation_index(limits::TRANSACTION_OPERATIONS));
        }
        let mut rows = std::collections::HashSet::with_capacity(operations.len());
        let mut bytes = 0;
        for (index, operation) in operations.iter().enumerate() {
            let located = |error: Error| error.with_operation_index(index).with_key(operation.key().clone());
            if operation.key().partition != first.key().partition {
                return Err(located(Error::invalid_key(
                    "a transaction stays within one partition; write the other partition on its own",
                )));
            }
            if !rows.insert(&operation.key().row) {
                return Err(located(Error::invalid_key(
                    "a transaction touches each entity once; join the two operations into one",
                )));
            }
            bytes += operation.counted_bytes();
            if bytes > limits::TRANSACTION_BYTES {
                return Err(located(Error::limit_exceeded(format!(
                    "a transaction takes at most {} bytes, this one takes {}; split it",
                    limits::TRANSACTION_BYTES,
                    operations.iter().map(Operation::counted_bytes).sum::<usize>()
                ))));
            }
        }
        Ok(Self { operations })
    }

    /// The operations, in order.
    #[must_use]
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The operations, to keep.
    #[must_use]
    pub fn into_operations(self) -> Vec<Operation> {
        self.operations
    }

    /// The partition that all operations share.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "a transaction has at least one operation")]
    pub fn partition(&self) -> &PartitionKey {
        &self.operations[0].key().partition
    }
}

/// What a write answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The version that the write made; none for a delete.
    pub etag: Option<ETag>,
}
