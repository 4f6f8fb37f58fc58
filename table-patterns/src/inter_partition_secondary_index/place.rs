//! Places of index rows, and what stands there.

use serde::{Deserialize, Serialize};
use table_core::store::Selection;
use table_core::{
    DynamicEntity, ETag, Entity, EntityKey, Error, ErrorKind, Result, Table, TableName, Value, Versioned, reserved,
};

use crate::intent::{put, rows};
use crate::intra_partition_secondary_index::is_local;

/// Where an index row stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) index: String,
    pub(crate) table: TableName,
    pub(crate) key: EntityKey,
}

impl Place {
    pub(crate) fn new(table: &Table, index: &str, named: Option<&str>, key: EntityKey) -> Result<Self> {
        let table = named.map_or_else(|| Ok(table.name().clone()), TableName::new)?;
        Ok(Self { index: index.to_owned(), table, key })
    }

    /// Whether two places are one, whatever the index is called.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.key == other.key && self.table == other.table
    }

    /// The error, with where it happened.
    pub(crate) fn at(&self, error: Error) -> Error {
        error.with_table(self.table.as_str()).with_key(self.key.clone())
    }

    /// What stands here.
    pub(crate) async fn read(&self, table: &Table) -> Result<Found> {
        table.store().get(&self.table, &self.key, &Selection::All).await.map(Found::of)
    }

    /// Writes a row here if what was found still stands, and answers its version; none where it does not.
    pub(crate) async fn write(&self, table: &Table, row: DynamicEntity, found: &Found) -> Result<Option<ETag>> {
        put(table, &self.table, row, found.etag.as_ref()).await
    }
}

/// What stands at a place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    pub(crate) etag: Option<ETag>,
    pub(crate) standing: Standing,
}

/// Who has a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nobody: nothing is there, or a tombstone, or a copy that names no owner.
    Free,
    /// An entity: the copy is live.
    Live(String),
    /// An entity that is on its way: the place is claimed, by an intent with this id.
    Claimed { owner: String, intent: String },
    /// A row that is no index row at all.
    Strange,
}

impl Found {
    /// Nothing.
    pub(crate) const ABSENT: Self = Self { etag: None, standing: Standing::Free };

    pub(crate) fn of(row: Option<DynamicEntity>) -> Self {
        row.map_or(Self::ABSENT, |row| {
            let text = |name: &str| row.get(name).and_then(Value::as_str);
            let owner = text(reserved::ROW_OWNER.as_str()).map(str::to_owned);
            let standing = match text(reserved::ROW_KIND.as_str()) {
                Some(reserved::TOMBSTONE_KIND) => Standing::Free,
                Some(kind) if kind.starts_with(reserved::INDEX_KIND_PREFIX) => {
                    owner.map_or(Standing::Free, Standing::Live)
                }
                Some(kind) => match (kind.strip_prefix(reserved::CLAIM_KIND_PREFIX), owner) {
                    (Some(intent), Some(owner)) => Standing::Claimed { owner, intent: intent.to_owned() },
                    _ => Standing::Strange,
                },
                None => Standing::Strange,
            };
            Self { etag: row.etag, standing }
        })
    }

    /// The intent by which an entity claims the place.
    pub(crate) fn claimed_by(&self) -> Option<&str> {
        match &self.standing {
            Standing::Claimed { intent, .. } => Some(intent),
            _ => None,
        }
    }

    /// Whether the place is somebody else's, by a copy or by a claim.
    pub(crate) fn is_of_another(&self, owner: &str) -> bool {
        match &self.standing {
            Standing::Free => false,
            Standing::Live(other) | Standing::Claimed { owner: other, .. } => other != owner,
            Standing::Strange => true,
        }
    }
}

/// A live row that an entity has in an index elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Copy {
    pub(crate) place: Place,
    pub(crate) unique: bool,
    pub(crate) row: DynamicEntity,
}

/// The rows that an entity has in the indexes elsewhere.
pub(crate) fn copies<E: Entity>(table: &Table, entity: &E) -> Result<Vec<Copy>> {
    remote_copies(table, entity, |row| row)
}

/// The rows that a stored entity has there. What fits no key of an index has none, as another program
/// may have written it.
pub(crate) fn stored_copies<E: Entity>(table: &Table, entity: &E) -> Result<Vec<Copy>> {
    remote_copies(table, entity, |row| match row {
        Err(error) if error.kind() == ErrorKind::InvalidKey => Ok(None),
        row => row,
    })
}

fn remote_copies<E: Entity>(
    table: &Table,
    entity: &E,
    accept: impl Fn(Result<Option<DynamicEntity>>) -> Result<Option<DynamicEntity>>,
) -> Result<Vec<Copy>> {
    let owner = rows::owner(table, &entity.entity_key()?);
    let mut copies = Vec::new();
    for (position, index) in E::SCHEMA.indexes.iter().enumerate().filter(|(_, index)| !index.is_local()) {
        let Some(row) = accept(entity.index_row(position))? else { continue };
        let place = Place::new(table, index.name, index.table, row.key.clone())?;
        copies.push(Copy { place, unique: index.unique, row: rows::owned(row, &owner) });
    }
    Ok(copies)
}

/// The places in indexes elsewhere that an entity had when it was read.
pub(crate) fn places_read<E: Entity>(table: &Table, read: &Versioned<E>) -> Result<Vec<Place>> {
    let elsewhere = read.index_keys().iter().filter(|copy| !is_local::<E>(copy, read.key()));
    elsewhere.map(|copy| Place::new(table, copy.index, copy.table, copy.key.clone())).collect()
}
