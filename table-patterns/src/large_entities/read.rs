//! Reading entities with what they keep in blobs.

use std::fmt;
use std::marker::PhantomData;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use object_store::ObjectStoreExt;
use table_core::store::Selection;
use table_core::{
    DynamicEntity, ETag, Entity, EntityKey, Error, ErrorKind, FromRow, IndexCopy, Key, PropertyName, Query, Result,
    Versioned, reserved,
};

use super::reference::{Payload, Reference, References, references, sha256};
use super::{Large, blob_error};

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
    /// [`Corrupted`](ErrorKind::Corrupted), naming key and property, for a blob that is missing or not what was
    /// stored; [`LimitExceeded`](ErrorKind::LimitExceeded) for blobs of more bytes than a reader may hold, which
    /// [`open`](Large::open) reads as a stream; and as [`Table::get`](table_core::Table::get).
    pub async fn get<R: FromRow>(&self, key: impl Into<Key<R>>) -> Result<Option<Versioned<R>>> {
        Ok(self.read_with_references(&key.into()).await?.map(|(read, _)| read))
    }

    /// Reads the row of a key, which must exist.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound), naming the key, and as [`Large::get`].
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
        Ok(entity.filter(|entity| entity.index_keys().iter().any(|held| held.key == *copy.key())))
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
            let payload = self.fetch(key, &property, &reference).await?;
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

    /// Reads a blob and checks it; `None` where it is gone.
    async fn fetch(&self, key: &EntityKey, property: &PropertyName, reference: &Reference) -> Result<Option<Payload>> {
        let read = async { self.writer.place.blobs.get(&reference.name).await?.bytes().await };
        let bytes = match read.await.map_err(|error| blob_error("get blob", &reference.name, error)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.with_key(key.clone()).with_property(property.as_str())),
        };
        let hash = sha256(&bytes).await;
        let payload = Payload { kind: reference.kind, bytes };
        if reference.holds(&payload, &hash) { Ok(Some(payload)) } else { Err(altered(key, property)) }
    }
}

impl<R> fmt::Debug for Stored<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stored").field(&self.row.key).finish()
    }
}

/// The error for a blob that is not what was stored.
pub(super) fn altered(key: &EntityKey, property: &PropertyName) -> Error {
    Error::corrupted("the blob is not what was stored: its length or its checksum differs")
        .with_key(key.clone())
        .with_property(property.as_str())
}

/// The error for a row that refers to nothing.
pub(super) fn dangling(key: EntityKey, property: &PropertyName) -> Error {
    Error::corrupted("the row refers to a blob that is not there; it was deleted past this toolkit")
        .with_key(key)
        .with_property(property.as_str())
}

/// A row that has been replaced since it was read.
pub(super) fn replaced(key: EntityKey, property: &PropertyName) -> Error {
    Error::precondition_failed("the entity was replaced while its blobs were read")
        .with_key(key)
        .with_property(property.as_str())
}
