//! What reads return: a value, and the version of it that was read.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use crate::dynamic::DynamicEntity;
use crate::entity::{Entity, IndexKey};
use crate::error::{Error, Result};
use crate::etag::ETag;
use crate::keys::EntityKey;
use crate::timestamp::Timestamp;

/// A value with the version and the keys that it was read with.
///
/// It derefs to the value. Conditional writes take it; since it remembers the primary and index
/// keys as read, a write knows which rows are stale after the caller edited the value.
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
/// table.insert(&employee(223, 41)).await?;
/// let mut mine = table.require(Employee::key("Sales", 223)).await?;
/// let mut yours = mine.clone();
/// mine.age += 1;
/// table.replace(&mut mine).await?;
///
/// // It has the new version now, and the other is for a version that is gone.
/// mine.age += 1;
/// table.replace(&mut mine).await?;
/// assert_eq!(table.replace(&mut yours).await.unwrap_err().kind(), ErrorKind::PreconditionFailed);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Versioned<T> {
    value: T,
    key: EntityKey,
    etag: ETag,
    timestamp: Option<Timestamp>,
    /// Most reads change nothing and never ask, so the keys are made when somebody does: at the latest before the
    /// value can be changed, which is when they would be others.
    index_keys: OnceLock<Vec<IndexKey>>,
    find_index_keys: fn(&T) -> Vec<IndexKey>,
    upgraded: bool,
}

impl<T> Versioned<T> {
    /// A value that was read from a row, with the keys of its index copies at that time.
    ///
    /// # Errors
    /// [`Corrupted`](crate::ErrorKind::Corrupted) where the row carries no ETag, so that it was
    /// not read from a store.
    #[inline]
    pub fn from_read(value: T, row: DynamicEntity, index_keys: Vec<IndexKey>) -> Result<Self> {
        let mut read = Self::from_read_finding(value, row, no_index_keys)?;
        if !index_keys.is_empty() {
            read.index_keys = OnceLock::from(index_keys);
        }
        Ok(read)
    }

    /// The same, where the keys of the index copies follow from the value.
    #[inline]
    pub(crate) fn from_read_finding(
        value: T,
        row: DynamicEntity,
        find_index_keys: fn(&T) -> Vec<IndexKey>,
    ) -> Result<Self> {
        let Some(etag) = row.etag else {
            return Err(Error::corrupted("the row has no ETag, so it was not read from a store").with_key(row.key));
        };
        let timestamp = row.timestamp.or_else(|| etag.timestamp());
        let index_keys = OnceLock::new();
        Ok(Self { value, key: row.key, etag, timestamp, index_keys, find_index_keys, upgraded: false })
    }

    /// The value.
    #[must_use]
    pub const fn value(&self) -> &T {
        &self.value
    }

    /// The value, to keep.
    #[must_use]
    pub fn into_value(self) -> T {
        self.value
    }

    /// The key that was read.
    #[must_use]
    pub const fn key(&self) -> &EntityKey {
        &self.key
    }

    /// The version that was read.
    #[must_use]
    pub const fn etag(&self) -> &ETag {
        &self.etag
    }

    /// When that version was written, where the store told it.
    #[must_use]
    pub const fn timestamp(&self) -> Option<Timestamp> {
        self.timestamp
    }

    /// The keys of the index copies that belong to the version that was read.
    #[must_use]
    pub fn index_keys(&self) -> &[IndexKey] {
        self.index_keys.get_or_init(|| (self.find_index_keys)(&self.value))
    }

    /// The same version of another view of the value.
    #[must_use]
    pub fn map<U>(self, view: impl FnOnce(T) -> U) -> Versioned<U> {
        // Another view need not lead to them.
        let _ = self.index_keys();
        Versioned {
            value: view(self.value),
            key: self.key,
            etag: self.etag,
            timestamp: self.timestamp,
            index_keys: self.index_keys,
            find_index_keys: no_index_keys,
            upgraded: self.upgraded,
        }
    }

    /// The same version of a value that is stored as an older type. The next write stores it anew.
    #[must_use]
    pub fn upgrade<U>(self, newer: impl FnOnce(T) -> U) -> Versioned<U> {
        Versioned { upgraded: true, ..self.map(newer) }
    }

    /// Whether the stored row is of an older version of the type.
    #[must_use]
    pub const fn is_upgraded(&self) -> bool {
        self.upgraded
    }
}

impl<E: Entity> Versioned<E> {
    /// A value whose version the caller carried itself, as in an HTTP `If-Match` header.
    ///
    /// The value must have the key fields and the indexed fields of that version.
    ///
    /// # Errors
    /// [`InvalidKey`](crate::ErrorKind::InvalidKey) for a field that does not fit its template.
    pub fn from_parts(value: E, etag: ETag) -> Result<Self> {
        let timestamp = etag.timestamp();
        let (key, index_keys) = (value.entity_key()?, OnceLock::from(value.index_keys()?));
        Ok(Self { value, key, etag, timestamp, index_keys, find_index_keys: no_index_keys, upgraded: false })
    }

    /// The row to be written in place of the one that was read.
    ///
    /// # Errors
    /// [`InvalidKey`](crate::ErrorKind::InvalidKey) where a field of the primary key was changed.
    pub fn to_row(&self) -> Result<DynamicEntity> {
        let row = self.value.to_row()?;
        if row.key == self.key {
            return Ok(row);
        }
        Err(Error::invalid_key(format!(
            "a field of the primary key was changed, from {} to {}; insert the entity under its new key and delete the old one to move it",
            self.key, row.key
        ))
        .with_key(self.key.clone()))
    }

    /// Takes note that the value as it is now was written as this version.
    ///
    /// # Errors
    /// As [`Versioned::from_parts`].
    pub fn written(&mut self, etag: ETag) -> Result<()> {
        self.index_keys = OnceLock::from(self.value.index_keys()?);
        self.timestamp = etag.timestamp();
        self.etag = etag;
        self.upgraded = false;
        Ok(())
    }
}

impl<T> Deref for Versioned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Versioned<T> {
    fn deref_mut(&mut self) -> &mut T {
        let _ = self.index_keys();
        &mut self.value
    }
}

impl<T: PartialEq> PartialEq for Versioned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
            && self.key == other.key
            && self.etag == other.etag
            && self.timestamp == other.timestamp
            && self.index_keys() == other.index_keys()
            && self.upgraded == other.upgraded
    }
}

impl<T: fmt::Debug> fmt::Debug for Versioned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Versioned")
            .field("value", &self.value)
            .field("key", &self.key)
            .field("etag", &self.etag)
            .field("timestamp", &self.timestamp)
            .field("index_keys", &self.index_keys())
            .field("upgraded", &self.upgraded)
            .finish_non_exhaustive()
    }
}

/// Of a value whose keys are known already.
const fn no_index_keys<T>(_: &T) -> Vec<IndexKey> {
    Vec::new()
}
