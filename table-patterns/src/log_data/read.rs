//! Reading a time range with as few blobs opened as can be.
//!
//! Listings by prefix give the segments of the hours that the range touches. Those of an hour that lies in
//! the range as a whole are read at once; in the hours at its ends, only the first line of a large segment is
//! read before it is known whether its entries are wanted.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStoreExt};
use table_core::{Error, ErrorKind, Result, Timestamp};

use super::hours::{Hour, prefixes};
use super::segment::{self, HEADER_BYTES, Header, SegmentInfo};
use super::{LogData, LogEntry};
use crate::blobs::blob_error;

/// Blobs that are read at once.
const READS: usize = 8;
/// A segment up to this size is read whole where only its first line is needed: it costs the same.
const SMALL_BYTES: u64 = 16 * 1024;

/// The segments of an hour, each with its number.
type Segments = Vec<(u64, ObjectMeta)>;

impl LogData {
    /// Reads the entries from one time to before another, in the order of their times.
    ///
    /// # Errors
    /// As [`LogData::stream`].
    pub async fn read(&self, range: Range<Timestamp>) -> Result<Vec<LogEntry>> {
        self.stream(range).try_collect().await
    }

    /// Reads the entries from one time to before another as they are wanted, in the order of their times.
    /// One hour is held at a time.
    ///
    /// # Errors
    /// [`Corrupted`](ErrorKind::Corrupted) for a segment that is cut off or altered,
    /// [`LimitExceeded`](ErrorKind::LimitExceeded) for an hour with more bytes than a reader may hold, and those
    /// of reaching the store.
    #[must_use = "nothing is read before the stream is polled"]
    pub fn stream(&self, range: Range<Timestamp>) -> BoxStream<'static, Result<LogEntry>> {
        let (log, prefixes) = (self.clone(), VecDeque::from(prefixes(&self.name, &range)));
        stream::try_unfold(
            (log, prefixes, VecDeque::new(), range),
            |(log, mut prefixes, mut hours, range)| async move {
                loop {
                    if let Some((hour, segments)) = hours.pop_front() {
                        let entries = log.hour(hour, segments, &range).await?;
                        return Ok(Some((stream::iter(entries).map(Ok), (log, prefixes, hours, range))));
                    }
                    let Some(prefix) = prefixes.pop_front() else { return Ok(None) };
                    hours = log.list(&prefix, &range).await?.into_iter().collect();
                }
            },
        )
        .try_flatten()
        .boxed()
    }

    /// The segments that hold entries from one time to before another, in the order of their names. Each
    /// takes one small read.
    ///
    /// # Errors
    /// [`Corrupted`](ErrorKind::Corrupted) for a blob that is no segment, and those of reaching the store.
    pub async fn segments(&self, range: Range<Timestamp>) -> Result<Vec<SegmentInfo>> {
        let mut found = Vec::new();
        for prefix in prefixes(&self.name, &range) {
            for segments in self.list(&prefix, &range).await?.into_values() {
                let reads = segments.into_iter().map(|(_, meta)| async { self.header(meta).await });
                let infos: Vec<_> = stream::iter(reads).buffered(READS).try_collect().await?;
                found.extend(infos.into_iter().flatten().filter(|info| overlaps(info.first, info.last, &range)));
            }
        }
        Ok(found)
    }

    /// The segments under a prefix whose hours touch the range, in the order of their numbers. Other blobs are
    /// none of ours.
    async fn list(&self, prefix: &Path, range: &Range<Timestamp>) -> Result<BTreeMap<Hour, Segments>> {
        let mut hours = BTreeMap::<Hour, Segments>::new();
        let mut listing = self.blobs.list(Some(prefix));
        while let Some(meta) = listing.try_next().await.map_err(|error| blob_error("list blobs", prefix, error))? {
            let Some((hour, number)) = self.place(&meta.location) else { continue };
            if hour.times().start < range.end && hour.times().end > range.start {
                hours.entry(hour).or_default().push((number, meta));
            }
        }
        for segments in hours.values_mut() {
            segments.sort_unstable_by_key(|(number, _)| *number);
        }
        Ok(hours)
    }

    /// The hour and number of a segment, by its name.
    pub(super) fn place(&self, path: &Path) -> Option<(Hour, u64)> {
        let parts: Vec<_> = path.prefix_match(&self.name)?.collect();
        let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
        let (file, folder) = parts.split_last()?;
        Some((Hour::parse(folder)?, file.strip_suffix(".log")?.parse().ok()?))
    }

    /// The entries of an hour that lie in the range, in the order of their times.
    async fn hour(&self, hour: Hour, segments: Segments, range: &Range<Timestamp>) -> Result<Vec<LogEntry>> {
        let whole = range.start <= hour.times().start && hour.times().end <= range.end;
        let mut wanted: Vec<ObjectMeta> = segments.into_iter().map(|(_, meta)| meta).collect();
        if !whole {
            let looks = wanted.into_iter().map(|meta| async { self.is_wanted(meta, range).await });
            let looked: Vec<_> = stream::iter(looks).buffered(READS).try_collect().await?;
            wanted = looked.into_iter().flatten().collect();
        }
        let bytes: u64 = wanted.iter().map(|meta| meta.size).sum();
        if bytes > self.most_hour_bytes {
            return Err(Error::limit_exceeded(format!(
                "the segments of {} have {bytes} bytes, and a reader holds at most {}; read a shorter range, or raise `with_most_hour_bytes`",
                hour.folder(&self.name),
                self.most_hour_bytes
            )));
        }
        let reads = wanted.into_iter().map(|meta| async move { self.entries(&meta.location).await });
        let read: Vec<_> = stream::iter(reads).buffered(READS).try_collect().await?;
        let mut entries: Vec<LogEntry> = read.into_iter().flatten().filter(|entry| range.contains(&entry.at)).collect();
        entries.sort_by_key(|entry| entry.at);
        Ok(entries)
    }

    /// A segment that may hold entries of the range. A small one is not asked: reading it is as cheap.
    async fn is_wanted(&self, meta: ObjectMeta, range: &Range<Timestamp>) -> Result<Option<ObjectMeta>> {
        if meta.size <= SMALL_BYTES {
            return Ok(Some(meta));
        }
        let info = self.header(meta.clone()).await?;
        Ok(info.filter(|info| overlaps(info.first, info.last, range)).map(|_| meta))
    }

    /// What the first line of a segment says; `None` where it was deleted meanwhile.
    async fn header(&self, meta: ObjectMeta) -> Result<Option<SegmentInfo>> {
        let read = self.blobs.get_range(&meta.location, 0..HEADER_BYTES.min(meta.size)).await;
        let Some(line) = present(&meta.location, read)? else { return Ok(None) };
        let Header { first, last, entries, .. } = Header::decode(&meta.location, &line)?;
        Ok(Some(SegmentInfo { path: meta.location, bytes: meta.size, first, last, entries }))
    }

    /// All entries of a segment; none where it was deleted meanwhile.
    async fn entries(&self, path: &Path) -> Result<Vec<LogEntry>> {
        let read = async { self.blobs.get(path).await?.bytes().await }.await;
        present(path, read)?.map_or_else(|| Ok(Vec::new()), |bytes| segment::decode(path, &bytes))
    }
}

fn overlaps(first: Timestamp, last: Timestamp, range: &Range<Timestamp>) -> bool {
    first < range.end && last >= range.start
}

/// What was read of a blob, unless it was deleted after it was listed.
fn present(path: &Path, read: object_store::Result<Bytes>) -> Result<Option<Bytes>> {
    match read.map_err(|error| blob_error("get blob", path, error)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
