//! Log data: segments of entries in blobs, instead of a row for each entry.
//!
//! # Problem
//! A table keeps log entries badly. With the time in the partition key, all writers of a moment meet in one
//! partition; with anything else there, reading the entries between 15:04 and 15:06 takes every partition.
//!
//! # Blobs
//! A [`LogWriter`] gathers entries and writes them as a *segment*, a blob that never changes. Its name says
//! the hour of its entries, so that a listing by prefix finds the segments of a time range:
//!
//! | blob | holds |
//! | --- | --- |
//! | `queue/2014/07/31/1800/000001.log` | entries from 18:00 to 19:00 on that day, in UTC |
//! | `queue/2014/07/31/1800/000002.log` | more entries of that hour, of this writer or another |
//!
//! A segment is lines, each ended by LF:
//!
//! ```text
//! #log 1 5f0c0c3e-… 2014-07-31T18:00:00.1230000Z 2014-07-31T18:04:59.0000000Z 2
//! 2014-07-31T18:00:00.1230000Z<TAB>the first entry
//! 2014-07-31T18:04:59.0000000Z<TAB>the last, with a line break here:\nand more
//! ```
//!
//! The first line gives the format's version, the segment's id, the times of its first and last entry, and
//! how many entries follow. Backslash, LF and CR in an entry are written `\\`, `\n` and `\r`; all other
//! bytes stand for themselves. First and last time are in the segment since not every store keeps metadata
//! with a blob; where it does, they are there too, as `first` and `last`, for other tools.
//!
//! # Guarantees
//! - Segments are put under numbers that were free, so several writers of one log never overwrite each other.
//! - Entries come back byte for byte, in the order of their times; equal times in the order of one writer.
//! - [`LogDurability::EveryEntry`]: an entry is in a blob when `append` answers. Entries that arrive while a
//!   segment is under way share the next.
//! - [`LogDurability::Batched`]: entries are in a blob after the time or the size that the options name.
//! - A put whose answer was lost is repeated under the same number; the id in the first line tells whether it
//!   had happened, so that no entry is stored twice.
//!
//! # After a crash
//! `Batched` loses the entries that were not yet written: at most those of the time bound, or of the buffer
//! while the blob store cannot be reached. Call [`LogWriter::close`] before ending: a drop cannot wait for a
//! blob, and loses them too. `EveryEntry` loses nothing that was acknowledged.
//!
//! # When not to use it
//! When single entries are looked up, changed or deleted: they want to be entities, spread as
//! [`prepend_append`](crate::prepend_append) shows. Segments of seconds are small blobs; a log of many
//! gigabytes wants size and time bounds that make fewer, larger ones.
//!
//! ```
//! use std::sync::Arc;
//! use object_store::memory::InMemory;
//! use table_core::Timestamp;
//! use table_patterns::log_data::{LogData, LogOptions};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> table_core::Result<()> {
//! let log = LogData::new(Arc::new(InMemory::new()), "queue")?;
//! let writer = log.writer(LogOptions::default());
//! let at: Timestamp = "2014-07-31T18:05:00Z".parse()?;
//! writer.append_at(at, "message received").await?;
//! writer.close().await?;
//!
//! let from = "2014-07-31T18:04:00Z".parse()?;
//! let to = "2014-07-31T18:06:00Z".parse()?;
//! let entries = log.read(from..to).await?;
//! assert_eq!(entries[0].data, "message received");
//! assert_eq!(log.segments(from..to).await?[0].path.as_ref(), "queue/2014/07/31/1800/000001.log");
//! # Ok(())
//! # }
//! ```

mod hours;
mod options;
mod read;
mod segment;
mod writer;

use std::sync::Arc;

use bytes::Bytes;
use object_store::ObjectStore;
use object_store::path::Path;
use table_core::{Error, Result, Timestamp};

pub use options::{LogDurability, LogOptions};
pub use segment::SegmentInfo;
pub use writer::LogWriter;

/// One entry of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// Its time.
    pub at: Timestamp,
    /// What it says: any bytes.
    pub data: Bytes,
}

/// A log in a blob store. See the [module](self) for its blobs and guarantees.
///
/// Clones are the same log.
#[derive(Debug, Clone)]
pub struct LogData {
    blobs: Arc<dyn ObjectStore>,
    name: Path,
    most_hour_bytes: u64,
}

impl LogData {
    /// A log whose blobs' names begin with this one. It need not exist yet.
    ///
    /// # Errors
    /// [`InvalidName`](table_core::ErrorKind::InvalidName) for a name that is empty, or that no blob can have.
    pub fn new(blobs: Arc<dyn ObjectStore>, name: &str) -> Result<Self> {
        let refused = |message| Error::new(table_core::ErrorKind::InvalidName, message);
        if name.is_empty() {
            return Err(refused("a log needs a name, such as `queue`"));
        }
        let name = Path::parse(name)
            .map_err(|error| refused("a log's name is one or more words separated by `/`").with_source(error))?;
        Ok(Self { blobs, name, most_hour_bytes: 256 * 1024 * 1024 })
    }

    /// Lets a reader hold at most so many bytes of one hour, which are sorted together. 256 MiB by default.
    #[must_use]
    pub const fn with_most_hour_bytes(mut self, bytes: u64) -> Self {
        self.most_hour_bytes = bytes;
        self
    }

    /// Begins to write. Several writers, in one process or many, may write to one log.
    ///
    /// # Panics
    /// Outside of a Tokio runtime, since a task in the background watches the time bound.
    #[must_use]
    pub fn writer(&self, options: LogOptions) -> LogWriter {
        LogWriter::start(self.clone(), options)
    }
}
