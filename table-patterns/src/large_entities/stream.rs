//! Blobs as streams: for what is too large to be held.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, BoxStream, FuturesUnordered, Stream, StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStoreExt};
use sha2::{Digest, Sha256};
use table_core::query::BlobColumn;
use table_core::store::Selection;
use table_core::{
    DynamicEntity, ETag, Entity, EntityKey, Error, ErrorKind, IfMatch, Key, Property, PropertyName, Result, Schema,
    Value,
};

use super::Large;
use super::message::Blobs;
use super::read::replaced;
use crate::blobs::{
    Kind, Payload, Reference, References, altered, blob_error, dangling, folder, hex, refer, references,
};
use crate::intent::{Ended, Keeper, Sent, before_the_change};
use crate::intra_partition_secondary_index::{IndexedTransaction, Refused};

/// The parts of an upload: some stores want 5 MiB at least, and all but the last of one size.
const PART_BYTES: usize = 8 * 1024 * 1024;
/// Parts that are under way at once.
const PARTS: usize = 4;

/// A blob that is read as it is wanted. Its last item is an error where the content is not what was stored.
pub struct BlobReader {
    bytes: u64,
    chunks: BoxStream<'static, Result<Bytes>>,
}

impl BlobReader {
    /// How many bytes it has.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Stream for BlobReader {
    type Item = Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.chunks.poll_next_unpin(context)
    }
}

impl std::fmt::Debug for BlobReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlobReader").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl<E: Entity> Large<E> {
    /// Opens a field that is kept in a blob, to be read as a stream; `None` where the entity has no value there.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) where there is no such entity, and as [`Large::get`]. The stream itself
    /// ends with [`Corrupted`](ErrorKind::Corrupted) where length or checksum differ.
    pub async fn open<T: Property>(&self, key: Key<E>, column: &BlobColumn<E, T>) -> Result<Option<BlobReader>> {
        let (at, property) = (key.resolve()?, column.name());
        let mut attempts = self.options.begin();
        let mut before: Option<ETag> = None;
        loop {
            let row = self.row(&at).await?;
            let held = references(&row)?;
            let Some((_, reference)) = held.into_iter().find(|(name, _)| name == property) else {
                return Ok(row.get(property.as_str()).cloned().and_then(in_place));
            };
            match self.writer.place.blobs.get(&reference.name).await {
                Ok(found) => return Ok(Some(checked(found.into_stream(), at, property.clone(), reference))),
                Err(error) => {
                    let error = blob_error("get blob", &reference.name, error);
                    if error.kind() != ErrorKind::NotFound {
                        return Err(error.with_key(at).with_property(property.as_str()));
                    }
                }
            }
            if before.is_some() && before == row.etag {
                return Err(dangling(at, property));
            }
            before = row.etag;
            attempts.after(replaced(at.clone(), property), true).await?;
        }
    }

    /// Writes a binary field that is kept in a blob from a stream, and returns the entity's new version. The
    /// other fields stay as they are, whoever changes them meanwhile.
    ///
    /// The stream must be through within a quarter of the grace period, which is six hours by default.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) where there is no such entity, [`Unsupported`](ErrorKind::Unsupported) for
    /// a text, which is written with its entity; those of the stream, of reaching the stores, and
    /// [`Contention`](ErrorKind::Contention). Unless the error says that its outcome is unknown, nothing was changed.
    pub async fn write<T: Property>(
        &self,
        key: Key<E>,
        column: &BlobColumn<E, T>,
        content: impl Stream<Item = Result<Bytes>> + Send,
    ) -> Result<ETag> {
        if column.is_text() {
            return Err(Error::unsupported("a text is written with its entity; make the field `Bytes` to stream it"));
        }
        let (at, property, id) = (key.resolve()?, column.name(), Keeper::new_id());
        let row = self.row(&at).await?;
        if E::SCHEMA.upgrades && Schema::version_of(&row) < E::SCHEMA.version {
            return Err(Error::unsupported(
                "the row is of an older version of its type; write the entity once, then stream",
            )
            .with_key(at));
        }
        let path = folder(&self.writer.place.prefix, &at).join(format!("{property}-stream-{id}"));
        let names = [vec![path.clone()], replaced_by(&row, property)?].concat();
        let ended = async {
            let mut sent = self.writer.send(id, at, &names).await?;
            let upload = self.upload(&path, property, content);
            let reference = self.writer.put(&mut sent, &names, upload).await?;
            self.refer_to(&mut sent, row, property, reference, names).await
        };
        match ended.await {
            Ok(etag) => Ok(etag),
            Err(Ended::Refused(refused)) => Err(refused.into_error()),
            // The stream cannot be read twice.
            Err(Ended::Again(error)) => Err(Error::new(ErrorKind::Contention, error.message().to_owned())),
        }
    }

    /// Puts the reference into the row, and again where somebody else has written to it.
    async fn refer_to(
        &self,
        sent: &mut Sent<Blobs>,
        mut row: DynamicEntity,
        property: &PropertyName,
        reference: Reference,
        mut names: Vec<Path>,
    ) -> Result<ETag, Ended> {
        let mut attempts = self.options.begin();
        let uploaded = [reference.name.clone()];
        loop {
            self.writer.keeper.refuse_old(sent)?;
            let drops = replaced_by(&row, property).map_err(Refused::from)?;
            // A blob that goes is named before the row leaves it out.
            if drops.iter().any(|name| !names.contains(name)) {
                names.extend(drops.iter().cloned());
                self.writer.keeper.tell(sent, Blobs::of(&names)).await?;
            }
            let ended = match self.commit_reference(sent, row, property, &reference).await {
                Ok(etag) => {
                    self.writer.finish(sent, &drops).await;
                    return Ok(etag);
                }
                Err(ended) => ended,
            };
            let refused = match ended {
                Ended::Refused(refused) if refused.is_conflict() && !refused.error().outcome_unknown() => refused,
                ended => return Err(self.writer.refused(ended, sent, &uploaded).await),
            };
            let again = async {
                attempts.after(refused.into_error(), true).await?;
                self.row(&sent.intent.source).await
            };
            row = match again.await {
                Ok(row) => row,
                Err(error) => {
                    self.writer.give_up(sent, &uploaded).await;
                    return Err(Ended::Refused(error.into()));
                }
            };
        }
    }

    async fn commit_reference(
        &self,
        sent: &Sent<Blobs>,
        mut row: DynamicEntity,
        property: &PropertyName,
        reference: &Reference,
    ) -> Result<ETag, Ended> {
        let table = &self.writer.place.table;
        let missing = |what: &str| before_the_change(Error::corrupted(format!("the store {what} without an ETag")));
        let etag = row.etag.take().ok_or_else(|| missing("gave a row"))?;
        let held = references(&row).map_err(before_the_change)?;
        let mut held: References = held.into_iter().filter(|(name, _)| name != property).collect();
        held.push((property.clone(), reference.clone()));
        refer(&mut row, held);
        let transaction = IndexedTransaction::new(table).replace_stored(row, IfMatch::Version(etag));
        let written = self.writer.keeper.commit(table, sent, transaction).await?.into_iter().next();
        written.and_then(|written| written.etag).ok_or_else(|| missing("answered a write"))
    }

    /// The row of an entity of this type.
    async fn row(&self, key: &EntityKey) -> Result<DynamicEntity> {
        let table = &self.writer.place.table;
        let found = table.store().get(table.name(), key, &Selection::All).await?;
        found.filter(|row| E::recognizes(row)).ok_or_else(|| {
            Error::not_found("there is no such entity").with_table(table.name().as_str()).with_key(key.clone())
        })
    }

    /// Puts a stream into a blob: at once where it is small, else part by part.
    async fn upload(
        &self,
        path: &Path,
        property: &PropertyName,
        content: impl Stream<Item = Result<Bytes>> + Send,
    ) -> Result<Reference> {
        let put = |error| blob_error("put blob", path, error).with_property(property.as_str());
        let (mut hash, mut bytes, mut buffer) = (Sha256::new(), 0, BytesMut::new());
        let mut parts: Option<Parts> = None;
        let mut content = std::pin::pin!(content);
        while let Some(chunk) = content.try_next().await? {
            hash.update(&chunk);
            bytes += chunk.len() as u64;
            buffer.extend_from_slice(&chunk);
            while buffer.len() >= PART_BYTES {
                let part = buffer.split_to(PART_BYTES).freeze();
                if parts.is_none() {
                    parts = Some(Parts::new(self.writer.place.blobs.put_multipart(path).await.map_err(put)?));
                }
                if let Some(parts) = &mut parts {
                    parts.put(part).await.map_err(put)?;
                }
            }
        }
        let rest = buffer.freeze();
        match parts {
            None => self.writer.place.blobs.put(path, rest.into()).await.map(|_| ()).map_err(put)?,
            Some(mut parts) => {
                if !rest.is_empty() {
                    parts.put(rest).await.map_err(put)?;
                }
                parts.complete().await.map_err(put)?;
            }
        }
        Ok(Reference { kind: Kind::Binary, bytes, sha256: hex(&hash.finalize()), name: path.clone() })
    }
}

/// An upload part by part.
struct Parts {
    upload: Box<dyn MultipartUpload>,
    under_way: FuturesUnordered<object_store::UploadPart>,
}

impl Parts {
    fn new(upload: Box<dyn MultipartUpload>) -> Self {
        Self { upload, under_way: FuturesUnordered::new() }
    }

    /// Puts a part, as soon as there is room for it.
    async fn put(&mut self, part: Bytes) -> object_store::Result<()> {
        while self.under_way.len() >= PARTS {
            self.settle().await?;
        }
        self.under_way.push(self.upload.put_part(part.into()));
        Ok(())
    }

    async fn complete(&mut self) -> object_store::Result<()> {
        while !self.under_way.is_empty() {
            self.settle().await?;
        }
        self.upload.complete().await.map(|_| ())
    }

    async fn settle(&mut self) -> object_store::Result<()> {
        let Some(Err(error)) = self.under_way.next().await else { return Ok(()) };
        self.under_way.clear();
        // What the store cannot take back now, it throws away by its own rules.
        drop(self.upload.abort().await);
        Err(error)
    }
}

/// The blob that a property of a row is in.
fn replaced_by(row: &DynamicEntity, property: &PropertyName) -> Result<Vec<Path>> {
    let held = references(row)?.into_iter().filter(|(name, _)| name == property);
    Ok(held.map(|(_, reference)| reference.name).collect())
}

/// A value that stands in the row itself.
fn in_place(value: Value) -> Option<BlobReader> {
    let Payload { bytes, .. } = Payload::of(value).ok()?;
    Some(BlobReader { bytes: bytes.len() as u64, chunks: stream::iter([Ok(bytes)]).boxed() })
}

/// A blob's content, with an error behind it where it is not what was stored.
fn checked(
    content: BoxStream<'static, object_store::Result<Bytes>>,
    key: EntityKey,
    property: PropertyName,
    reference: Reference,
) -> BlobReader {
    let bytes = reference.bytes;
    let state = Some((content, Sha256::new(), 0_u64));
    let chunks = stream::unfold(state, move |state| {
        let (key, property, reference) = (key.clone(), property.clone(), reference.clone());
        async move {
            let (mut content, mut hash, mut read) = state?;
            match content.next().await {
                Some(Ok(chunk)) => {
                    hash.update(&chunk);
                    read += chunk.len() as u64;
                    Some((Ok(chunk), Some((content, hash, read))))
                }
                Some(Err(error)) => {
                    let error = blob_error("get blob", &reference.name, error).with_key(key);
                    Some((Err(error.with_property(property.as_str())), None))
                }
                None if read == reference.bytes && hex(&hash.finalize()) == reference.sha256 => None,
                None => Some((Err(altered(&key, &property)), None)),
            }
        }
    });
    BlobReader { bytes, chunks: chunks.boxed() }
}
