//! Lookups by an index that may lag behind.

use futures_util::stream::{self, StreamExt, TryStreamExt};
use table_core::store::Selection;
use table_core::{
    DynamicEntity, ETag, Entity, EntityKey, Error, IndexCopy, IndexSchema, Key, Query, Result, Table, Value, Versioned,
    reserved,
};

use super::message::scope;
use super::place::{Found, Place, stored_copies};
use crate::intent::{Age, Garbage, rows};
use crate::intra_partition_secondary_index::Indexed;
use crate::rows::marked;

/// How many entities are read at once behind the rows of a query.
const CHECKS: usize = 8;

/// How far a lookup trusts an index.
///
/// See the [module](crate::inter_partition_secondary_index) for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reads {
    /// It takes what the index says, which may be a moment old. One storage transaction.
    #[default]
    Fast,
    /// It asks the entity, never answers what the entity does not say, and mends the index in passing. One more
    /// storage transaction for each row.
    Verified,
}

/// What a row of an index turned out to be.
struct Checked<E> {
    entity: Versioned<E>,
    /// The row as it is now, with its version.
    row: DynamicEntity,
}

impl<E: Entity> Indexed<E> {
    /// Looks a key of an index up.
    ///
    /// An index in the entity's partition is never stale, so both ways are one there. By a unique index a
    /// verified lookup also finds an entity whose change has not reached the index yet.
    ///
    /// # Errors
    /// [`Contention`](table_core::ErrorKind::Contention) where the row changed again and again while it was
    /// checked, and those of reading.
    pub async fn find<C: IndexCopy<Source = E>>(&self, key: Key<C>, reads: Reads) -> Result<Option<Versioned<C>>> {
        if reads == Reads::Fast || is_local::<C>() {
            return self.get(key).await;
        }
        let checked = self.look_up(&key).await?;
        checked.map(|checked| C::from_row(checked.row)).transpose()
    }

    /// Looks up all rows of an index that a query finds, in the order of their keys.
    ///
    /// # Errors
    /// As [`find`](Indexed::find).
    pub async fn find_all<C: IndexCopy<Source = E>>(
        &self,
        query: impl Into<Query<C>>,
        reads: Reads,
    ) -> Result<Vec<Versioned<C>>> {
        if reads == Reads::Fast || is_local::<C>() {
            return self.all(query).await;
        }
        let checked = self.look_up_all(query.into()).await?;
        checked.into_iter().map(|checked| C::from_row(checked.row)).collect()
    }

    /// The entity behind a key of an index elsewhere.
    pub(crate) async fn found<C: IndexCopy<Source = E>>(&self, key: &Key<C>) -> Result<Option<Versioned<E>>> {
        Ok(self.look_up(key).await?.map(|checked| checked.entity))
    }

    /// The entities behind the rows of an index elsewhere.
    pub(crate) async fn found_all<C: IndexCopy<Source = E>>(&self, query: Query<C>) -> Result<Vec<Versioned<E>>> {
        Ok(self.look_up_all(query).await?.into_iter().map(|checked| checked.entity).collect())
    }

    async fn look_up<C: IndexCopy<Source = E>>(&self, key: &Key<C>) -> Result<Option<Checked<E>>> {
        let place = place_of::<C>(self.table(), key.resolve()?)?;
        let age = Age::begin();
        match self.read_row(&place).await? {
            Some(row) => self.checked_row::<C>(&place, row, age).await,
            None => Ok(None),
        }
    }

    async fn look_up_all<C: IndexCopy<Source = E>>(&self, query: Query<C>) -> Result<Vec<Checked<E>>> {
        let age = Age::begin();
        let rows = self.all(query.project::<DynamicEntity>()).await?;
        let checks = rows.into_iter().map(|row| async move {
            let row = row.into_value();
            let place = place_of::<C>(self.table(), row.key.clone())?;
            self.checked_row::<C>(&place, row, age).await
        });
        stream::iter(checks).buffered(CHECKS).try_filter_map(|found| async { Ok(found) }).try_collect().await
    }

    async fn read_row(&self, place: &Place) -> Result<Option<DynamicEntity>> {
        self.table().store().get(&place.table, &place.key, &Selection::All).await
    }

    /// Asks the entity whether a row of an index is right, and writes what it says where it is not.
    async fn checked_row<C: IndexCopy<Source = E>>(
        &self,
        place: &Place,
        mut row: DynamicEntity,
        mut age: Age,
    ) -> Result<Option<Checked<E>>> {
        let mut attempts = self.options().begin();
        loop {
            let Some(source) = self.owner_of::<C>(&row)? else { return Ok(None) };
            let entity = self.table().get::<E>(Key::from(source.clone())).await?;
            let copies =
                entity.as_ref().map_or_else(|| Ok(Vec::new()), |entity| stored_copies(self.table(), entity.value()))?;
            let copy = copies.into_iter().find(|copy| copy.place.is(place)).map(|copy| copy.row);
            let found = Found::of(Some(row.clone()));
            let (entity, wanted) = match (entity, copy) {
                (Some(entity), Some(copy)) if rows::is_as(&row, &copy) => return Ok(Some(Checked { entity, row })),
                (Some(entity), Some(copy)) => (Some(entity), marked(copy)),
                // A claim is not stale: its writer is on its way.
                _ if found.claimed_by().is_some() => return Ok(None),
                _ => (None, rows::tombstone(&place.key, &rows::owner(self.table(), &source))),
            };
            if let Some(etag) = self.write_row(place, wanted.clone(), &found, age).await? {
                let row = DynamicEntity { etag: Some(etag), ..wanted };
                return Ok(entity.map(|entity| Checked { entity, row }));
            }
            let changed = Error::precondition_failed("the index row changed while it was checked");
            attempts.after(place.at(changed), true).await?;
            age = Age::begin();
            match self.read_row(place).await? {
                Some(again) => row = again,
                None => return Ok(None),
            }
        }
    }

    /// The entity that a row of an index says it belongs to; none for a row that is nobody's.
    fn owner_of<C: IndexCopy<Source = E>>(&self, row: &DynamicEntity) -> Result<Option<EntityKey>> {
        if rows::is_of_kind(row, reserved::TOMBSTONE_KIND) {
            return Ok(None);
        }
        match row.get(reserved::ROW_OWNER.as_str()).and_then(Value::as_str) {
            Some(owner) => Ok(rows::source(self.table(), owner)),
            // Another program may have written a copy without an owner; its fields tell the same.
            None if C::recognizes(row) => C::from_row(row.clone())?.source().resolve().map(Some),
            None => Ok(None),
        }
    }

    /// Writes a row of an index if what was found still stands there, and sees to it that a tombstone goes some
    /// time.
    pub(crate) async fn write_row(
        &self,
        place: &Place,
        row: DynamicEntity,
        found: &Found,
        age: Age,
    ) -> Result<Option<ETag>> {
        let Some(keeper) = self.keeper().filter(|keeper| !age.is_too_old(keeper.options.grace)) else {
            return Ok(None);
        };
        let is_tombstone = rows::is_of_kind(&row, reserved::TOMBSTONE_KIND);
        let written = place.write(self.table(), row, found).await?;
        if let Some(etag) = written.clone().filter(|_| is_tombstone) {
            let rows = vec![Garbage::tombstone(&place.table, &place.key, etag)];
            keeper.collect_later(scope::<E>(self.table()), rows).await;
        }
        Ok(written)
    }
}

fn schema_of<C: IndexCopy>() -> Option<&'static IndexSchema> {
    C::Source::SCHEMA.indexes.get(C::INDEX)
}

/// Whether an index stands in the partition of its entities.
pub(crate) fn is_local<C: IndexCopy>() -> bool {
    schema_of::<C>().is_none_or(IndexSchema::is_local)
}

fn place_of<C: IndexCopy>(table: &Table, key: EntityKey) -> Result<Place> {
    let schema = schema_of::<C>();
    Place::new(table, schema.map_or("", |index| index.name), schema.and_then(|index| index.table), key)
}
