//! Where the values of a series stand: in the row of their entity, or in several.

use table_core::{
    Action, DynamicEntity, ETag, EntityKey, Error, ErrorKind, FromRow, IfMatch, Operation, Query, Result, Table,
    Unindexed, Versioned, limits, reserved,
};

use super::series::{Series, SlotValue};
use crate::attempts::UpdateOptions;
use crate::rows::{marked, version};
use crate::wide_entities::{MOST_PROPERTIES, WideRows};

/// Properties beside the entity's own and the slots: type, version and token.
const OWN_PROPERTIES: usize = 3;

#[derive(Debug, Clone)]
pub(super) enum SeriesRows {
    /// One row has room for all slots.
    One(Table),
    /// A wide entity has.
    Several(WideRows),
}

impl SeriesRows {
    /// As many rows as the slots take.
    pub(super) fn new<E: Unindexed>(table: Table, slots: usize) -> Result<Self> {
        let own = E::SCHEMA.properties.len() + OWN_PROPERTIES;
        if slots + own <= limits::ENTITY_PROPERTIES {
            return Ok(Self::One(table));
        }
        let room = MOST_PROPERTIES.saturating_sub(own);
        if slots > room {
            return Err(Error::limit_exceeded(format!(
                "a {} has room for {room} slots, since one transaction writes them, and not for {slots}; split the series",
                E::SCHEMA.name
            )));
        }
        Ok(Self::Several(WideRows::new(table)))
    }

    pub(super) fn with_options(self, options: &UpdateOptions) -> Self {
        match self {
            Self::One(table) => Self::One(table),
            Self::Several(wide) => Self::Several(wide.with_options(options.clone())),
        }
    }

    pub(super) async fn get<E: Unindexed, T: SlotValue>(
        &self,
        key: EntityKey,
    ) -> Result<Option<Versioned<Series<E, T>>>> {
        match self {
            Self::One(table) => table.get(key).await,
            Self::Several(wide) => wide.get(&key).await?.map(read).transpose(),
        }
    }

    pub(super) async fn all<E: Unindexed, T: SlotValue>(
        &self,
        query: Query<E>,
    ) -> Result<Vec<Versioned<Series<E, T>>>> {
        match self {
            Self::One(table) => table.all(query.project()).await,
            Self::Several(wide) => wide.all(query).await?.into_iter().map(read).collect(),
        }
    }

    /// Sets what a row names, whatever else is there. Repeating it gives the same, so it needs no token.
    pub(super) async fn merge(&self, row: DynamicEntity, options: &UpdateOptions) -> Result<ETag> {
        let wide = match self {
            Self::One(table) => return write(table, Action::InsertOrMerge(row)).await,
            Self::Several(wide) => wide,
        };
        let mut attempts = options.begin();
        loop {
            let patched = patch(wide, row.clone(), &IfMatch::Any).await;
            let error = match patched {
                Err(error) if error.kind() == ErrorKind::NotFound => match wide.insert(row.clone()).await {
                    Ok(etag) => return Ok(etag),
                    Err(error) => error,
                },
                patched => return patched,
            };
            let conflict = error.kind() == ErrorKind::AlreadyExists;
            attempts.after(error, conflict).await?;
        }
    }

    /// Sets what a row names where the series is as it was read: of a version, or not there.
    pub(super) async fn merge_unchanged(&self, row: DynamicEntity, read: Option<&ETag>) -> Result<ETag> {
        match (self, read) {
            (Self::One(table), None) => write(table, Action::Insert(marked(row))).await,
            (Self::One(table), Some(etag)) => {
                write(table, Action::Merge(marked(row), IfMatch::Version(etag.clone()))).await
            }
            (Self::Several(wide), None) => wide.insert(row).await,
            (Self::Several(wide), Some(etag)) => patch(wide, row, &IfMatch::Version(etag.clone())).await,
        }
    }
}

async fn write(table: &Table, action: Action) -> Result<ETag> {
    version(Some(table.store().write(table.name(), Operation::new(action)?).await?))
}

/// The type of a wide entity stands in its head already.
async fn patch(wide: &WideRows, mut row: DynamicEntity, if_match: &IfMatch) -> Result<ETag> {
    row.properties.retain(|name| *name != reserved::ENTITY_TYPE && *name != reserved::ENTITY_VERSION);
    wide.patch(&row.key, &row.properties, if_match).await
}

fn read<E: Unindexed, T: SlotValue>(row: DynamicEntity) -> Result<Versioned<Series<E, T>>> {
    if Series::<E, T>::recognizes(&row) {
        return Series::from_row(row);
    }
    Err(Error::corrupted("the series is of another type than its key says").with_key(row.key))
}
