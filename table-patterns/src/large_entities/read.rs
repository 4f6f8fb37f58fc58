//! Reading entities with what they keep in blobs.

use std::fmt;
use std::marker::PhantomData;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use table_core::store::Selection;
use table_core::{
    DynamicEntity, ETag, Entity, EntityKey, Error, FromRow, IndexCopy, Key, PropertyName, Query, Result, Versioned,
    reserved,
};

use super::{BlobTable, Large};
use crate::blobs::{BlobReport, References, altered, dangling, fetch, references, verify};
use crate::index_entities::is_list;
use crate::intra_partition_secondary_index::is_copy_of;

/// Blobs of one entity that are read at once.
const BLOB_READS: usize = 4;
/// Entities of a query whose blobs are read at once.
const ENTITY_READS: usize = 4;

/// A row as it is stored, of the type `R`.
struct Stored<R> {
    row: DynamicEntity,
    of: PhantomData<fn() -> R>,
}

impl<R: FromRow> FromRow for Stored<R> {
    fn selection() -> Selection {
        match R::selection() {
            Selection::All => Selection::All,
            Selection::Only(mut names) => {
                names.push(reserved::ROW_BLOBS);
                Selection::Only(names)
            }
        }
    }

    fn row_prefix() -> &'static str {
        R::row_prefix()
    }

    fn label() -> &'static str {
        R::label()
    }

    fn recognizes(row: &DynamicEntity) -> bool {
        R::recognizes(row)
    }

    fn from_row(row: DynamicEntity) -> Result<Versioned<Self>> {
        Versioned::from_read(Self { row: row.clone(), of: PhantomData }, row, Vec::new())
    }
}

/// What became of a row whose blobs were asked for.
enum Loaded {
    /// The row, with its payloads in place.
    Whole(DynamicEntity),
    /// The row has been replaced since it was read, and this blob of it collected.
    Gone(PropertyName),
}

impl<E: Entity> Large<E> {
    /// Reads the row of a key with what it keeps in blobs: the entity, a projection of it, or the copy that an
    /// index keeps. One storage transaction, and one read for each blob.
    ///
    /// Where the entity was replaced so long ago that a blob is gone, it is read again.
    ///
    /// # Errors
    /// [`Corrupted`](table_core::ErrorKind::Corrupted), naming key and property, for a blob that is missing or not what was
    /// stored; [`LimitExceeded`](table_core::ErrorKind::LimitExceeded) for blobs of more bytes than a reader may hold, which
    /// [`open`](Large::open) reads as a stream; and as [`Table::get`](table_core::Table::get).
    pub async fn get<R: FromRow>(&self, key: impl Into<Key<R>>) -> Result<Option<Versioned<R>>> {
        Ok(self.read_with_references(&key.into()).await?.map(|(read, _)| read))
    }

    /// Reads the row of a key, which must exist.
    ///
    /// # Errors
    /// [`NotFound`](table_core::ErrorKind::NotFound), naming the key, and as [`Large::get`].
    pub async fn require<R: FromRow>(&self, key: impl Into<Key<R>>) -> Result<Versioned<R>> {
        let key = key.into();
        match self.read_with_references(&key).await? {
            Some((read, _)) => Ok(read),
            None => Err(Error::not_found("there is no such entity")
                .with_table(self.writer.place.table.name().as_str())
                .with_key(key.resolve()?)),
        }
    }

    /// Reads everything that a query finds, in the order of its keys, each with what it keeps in blobs. A
    /// projection without such fields reads no blob.
    ///
    /// # Errors
    /// As [`Large::get`] and [`Table::all`](table_core::Table::all).
    pub async fn all<C: FromRow, R: Send + 'static>(&self, query: impl Into<Query<C, R>>) -> Result<Vec<Versioned<R>>> {
        let (query, reader) = query.into().rows([reserved::ROW_BLOBS]);
        let rows = self.writer.place.table.all::<C, DynamicEntity>(query).await?;
        let (reader, reads) = (&reader, rows.into_iter().map(Versioned::into_value));
        let reads = reads.map(|row| async move { self.reload(row).await?.map(|row| reader.read(row)).transpose() });
        stream::iter(reads).buffered(ENTITY_READS).try_filter_map(|found| async { Ok(found) }).try_collect().await
    }

    /// Reads the whole entity behind one key of an index in its partition; `None` where the index has no such key,
    /// or had it no longer when the entity was read.
    ///
    /// # Errors
    /// As [`Large::get`].
    pub async fn full<C: IndexCopy<Source = E>>(&self, key: Key<C>) -> Result<Option<Versioned<E>>> {
        let Some(copy) = self.writer.place.table.get::<C>(key).await? else { return Ok(None) };
        let entity = self.get::<E>(copy.source()).await?;
        Ok(entity.filter(|entity| is_copy_of(&copy, entity)))
    }

    /// Compares the blobs under the table's prefix with the references of its entities, of all types: a scan of the
    /// table, and a listing.
    ///
    /// A blob that was replaced, or that is about to be referred to, is told as orphaned until the queue is empty;
    /// so is one of another table that shares the prefix.
    ///
    /// # Errors
    /// [`Corrupted`](table_core::ErrorKind::Corrupted) for a reference that cannot be read, and those of reaching the
    /// stores.
    pub async fn verify(&self) -> Result<BlobReport> {
        let BlobTable { table, blobs, prefix } = &self.writer.place;
        verify(std::slice::from_ref(table), |_, row| !is_list(row), blobs, prefix).await
    }

    /// Reads an entity, and what its row refers to.
    pub(super) async fn read_with_references<R: FromRow>(
        &self,
        key: &Key<R>,
    ) -> Result<Option<(Versioned<R>, References)>> {
        let place = || Key::<Stored<R>>::new(key.resolve()).in_table(key.table());
        let mut attempts = self.options.begin();
        let mut before: Option<ETag> = None;
        loop {
            let Some(read) = self.writer.place.table.get::<Stored<R>>(place()).await? else { return Ok(None) };
            let row = read.into_value().row;
            let (etag, held, at) = (row.etag.clone(), references(&row)?, row.key.clone());
            match self.load(row).await? {
                Loaded::Whole(row) => return Ok(Some((R::from_row(row)?, held))),
                // A row that has not changed refers to a blob that is not there.
                Loaded::Gone(property) if before.is_some() && before == etag => return Err(dangling(at, &property)),
                Loaded::Gone(property) => {
                    before = etag;
                    attempts.after(replaced(at, &property), true).await?;
                }
            }
        }
    }

    /// Reads the blobs of a row that a query found, or of the row that took its place.
    async fn reload(&self, mut row: DynamicEntity) -> Result<Option<DynamicEntity>> {
        let table = &self.writer.place.table;
        let mut attempts = self.options.begin();
        loop {
            let (etag, at) = (row.etag.clone(), row.key.clone());
            let property = match self.load(row).await? {
                Loaded::Whole(row) => return Ok(Some(row)),
                Loaded::Gone(property) => property,
            };
            match table.store().get(table.name(), &at, &Selection::All).await? {
                None => return Ok(None),
                Some(found) if found.etag == etag => return Err(dangling(at, &property)),
                Some(found) => row = found,
            }
            attempts.after(replaced(at, &property), true).await?;
        }
    }

    /// Puts what a row keeps in blobs in place.
    async fn load(&self, mut row: DynamicEntity) -> Result<Loaded> {
        let held = references(&row)?;
        let bytes: u64 = held.iter().map(|(_, reference)| reference.bytes).sum();
        if bytes > self.most_loaded_bytes {
            return Err(Error::limit_exceeded(format!(
                "the blobs of the entity have {bytes} bytes, and a reader holds at most {}; read them with `open`, or raise `with_most_loaded_bytes`",
                self.most_loaded_bytes
            ))
            .with_key(row.key));
        }
        let key = &row.key;
        let reads = held.into_iter().map(|(property, reference)| async move {
            let payload = fetch(&self.writer.place.blobs, key, &property, &reference).await?;
            Ok::<_, Error>((property, payload))
        });
        let loaded: Vec<_> = stream::iter(reads).buffered(BLOB_READS).try_collect().await?;
        for (property, payload) in loaded {
            let Some(payload) = payload else { return Ok(Loaded::Gone(property)) };
            let Some(value) = payload.into_value() else { return Err(altered(&row.key, &property)) };
            row.properties.insert(property, value);
        }
        row.properties.remove(reserved::ROW_BLOBS.as_str());
        Ok(Loaded::Whole(row))
    }
}

impl<R> fmt::Debug for Stored<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stored").field(&self.row.key).finish()
    }
}

/// A row that has been replaced since it was read.
pub(super) fn replaced(key: EntityKey, property: &PropertyName) -> Error {
    Error::precondition_failed("the entity was replaced while its blobs were read")
        .with_key(key)
        .with_property(property.as_str())
}
