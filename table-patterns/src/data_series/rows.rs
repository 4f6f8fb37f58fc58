//! Where the values of a series stand: in the row of their entity, or in several.
//!
//! The invariant: how a series is stored says the series and not the process. A process for whose slots one row is
//! enough writes one row, yet reads both forms, and what it merges into the head of a wide series is read as its; one that
//! needs several takes a single row for a wide series without parts yet. So the number of slots can grow while
//! processes of both kinds run.

use std::marker::PhantomData;

use table_core::{
    Action, DynamicEntity, ETag, EntityKey, Error, ErrorKind, FromRow, IfMatch, Operation, Query, Result, Table,
    Unindexed, Versioned, limits, reserved,
};

use super::series::{Series, SlotValue};
use crate::attempts::UpdateOptions;
use crate::rows::{marked, version};
use crate::wide_entities::{MOST_PROPERTIES, WideRows, is_head, is_head_or_row_of};

/// Properties beside the entity's own and the slots: type, version and token.
const OWN_PROPERTIES: usize = 3;
/// What a head has beside these; a process with fewer slots may merge all of its own into one.
const HEAD_PROPERTIES: usize = 3;

#[derive(Debug, Clone)]
pub(super) struct SeriesRows {
    table: Table,
    wide: WideRows,
    /// Whether one row has room for all slots of this process.
    fits_one: bool,
}

impl SeriesRows {
    /// As many rows as the slots take.
    pub(super) fn new<E: Unindexed>(table: Table, slots: usize) -> Result<Self> {
        let own = E::SCHEMA.properties.len() + OWN_PROPERTIES;
        let room = MOST_PROPERTIES.saturating_sub(own);
        if slots > room {
            return Err(Error::limit_exceeded(format!(
                "a {} has room for {room} slots, since one transaction writes them, and not for {slots}; split the series",
                E::SCHEMA.name
            )));
        }
        let fits_one = slots + own + HEAD_PROPERTIES <= limits::ENTITY_PROPERTIES;
        Ok(Self { wide: WideRows::new(table.clone()), table, fits_one })
    }

    pub(super) fn with_options(mut self, options: &UpdateOptions) -> Self {
        self.wide = self.wide.with_options(options.clone());
        self
    }

    pub(super) async fn get<E: Unindexed, T: SlotValue>(
        &self,
        key: EntityKey,
    ) -> Result<Option<Versioned<Series<E, T>>>> {
        if self.fits_one {
            let Some(row) = self.table.get::<RowOf<E>>(key.clone()).await? else { return Ok(None) };
            let row = row.into_value().row;
            if !is_head(&row) {
                return Series::from_row(row).map(Some);
            }
        }
        self.wide.get(&key).await?.map(read).transpose()
    }

    pub(super) async fn all<E: Unindexed, T: SlotValue>(
        &self,
        query: Query<E>,
    ) -> Result<Vec<Versioned<Series<E, T>>>> {
        if !self.fits_one {
            return self.wide.all(query).await?.into_iter().map(read).collect();
        }
        let mut all = Vec::new();
        for row in self.table.all(query.rows_as::<RowOf<E>>()).await? {
            let row = row.into_value().row;
            if is_head(&row) {
                all.extend(self.wide.get(&row.key).await?.map(read).transpose()?);
            } else {
                all.push(Series::from_row(row)?);
            }
        }
        Ok(all)
    }

    /// Sets what a row names, whatever else is there. Repeating it gives the same, so it needs no token.
    pub(super) async fn merge(&self, row: DynamicEntity, options: &UpdateOptions) -> Result<ETag> {
        if self.fits_one {
            return self.write(Action::InsertOrMerge(row)).await;
        }
        let mut attempts = options.begin();
        loop {
            let patched = self.patch(row.clone(), &IfMatch::Any).await;
            let error = match patched {
                Err(error) if error.kind() == ErrorKind::NotFound => match self.wide.insert(row.clone()).await {
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
        match (self.fits_one, read) {
            (true, None) => self.write(Action::Insert(marked(row))).await,
            (true, Some(etag)) => self.write(Action::Merge(marked(row), IfMatch::Version(etag.clone()))).await,
            (false, None) => self.wide.insert(row).await,
            (false, Some(etag)) => self.patch(row, &IfMatch::Version(etag.clone())).await,
        }
    }

    async fn write(&self, action: Action) -> Result<ETag> {
        version(Some(self.table.store().write(self.table.name(), Operation::new(action)?).await?))
    }

    /// The type of a wide entity stands in its head already.
    async fn patch(&self, mut row: DynamicEntity, if_match: &IfMatch) -> Result<ETag> {
        row.properties.retain(|name| *name != reserved::ENTITY_TYPE && *name != reserved::ENTITY_VERSION);
        self.wide.patch(&row.key, &row.properties, if_match).await
    }
}

/// The row of a series: all of it, or its head.
#[derive(Debug)]
struct RowOf<E> {
    row: DynamicEntity,
    entity: PhantomData<fn() -> E>,
}

impl<E: Unindexed> FromRow for RowOf<E> {
    fn row_prefix() -> &'static str {
        E::row_prefix()
    }

    fn label() -> &'static str {
        E::label()
    }

    fn recognizes(row: &DynamicEntity) -> bool {
        is_head_or_row_of::<E>(row)
    }

    fn from_row(row: DynamicEntity) -> Result<Versioned<Self>> {
        let bare = DynamicEntity { etag: row.etag.clone(), ..DynamicEntity::new(row.key.clone()) };
        Versioned::from_read(Self { row, entity: PhantomData }, bare, Vec::new())
    }
}

fn read<E: Unindexed, T: SlotValue>(row: DynamicEntity) -> Result<Versioned<Series<E, T>>> {
    if Series::<E, T>::recognizes(&row) {
        return Series::from_row(row);
    }
    Err(Error::corrupted("the series is of another type than its key says").with_key(row.key))
}
