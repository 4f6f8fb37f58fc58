//! Gathering entries, and storing them as segments.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{Attribute, Attributes, ObjectStoreExt, PutMode, PutOptions};
use table_core::{Error, ErrorKind, Result, Timestamp};
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::hours::Hour;
use super::segment::{HEADER_BYTES, Header, Sealed, counted_bytes};
use super::{LogData, LogDurability, LogEntry, LogOptions};
use crate::blobs::blob_error;

/// Numbers that are tried for one segment while other writers take them.
const MOST_NUMBERS: u32 = 10_000;
/// After so many taken numbers the folder is listed again, since another writer is far ahead.
const LOOK_AGAIN_EVERY: u32 = 8;
/// The shortest wait before a failed segment is tried again.
const SHORTEST_WAIT: Duration = Duration::from_millis(100);

/// Writes entries to a log. It is shared by reference: every method takes `&self`.
///
/// Call [`close`](LogWriter::close) before the process ends; see the [module](super) for what a crash loses.
#[derive(Debug)]
pub struct LogWriter {
    shared: Arc<Shared>,
    /// Watches the time bound.
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    log: LogData,
    options: LogOptions,
    buffer: Mutex<Buffer>,
    /// Held by the one who stores segments.
    storing: AsyncMutex<Storing>,
    /// Told when something is due before its time.
    due: Notify,
}

/// What waits to be stored.
#[derive(Debug, Default)]
struct Buffer {
    open: BTreeMap<Hour, Open>,
    /// Segments that no longer change: each is stored once, however often that is tried.
    sealed: VecDeque<(Hour, Sealed)>,
    /// Bytes of all that waits.
    bytes: usize,
    /// How many entries were taken so far.
    taken: u64,
    closed: bool,
}

/// A segment in the making.
#[derive(Debug)]
struct Open {
    entries: Vec<LogEntry>,
    bytes: usize,
    since: Instant,
}

/// What only the one who stores segments knows.
#[derive(Debug, Default)]
struct Storing {
    /// The next number to try, for the hours that were written to lately.
    numbers: BTreeMap<Hour, u64>,
    /// How many of the entries that were taken are safe.
    safe: u64,
    /// Whether the store has refused metadata.
    without_metadata: bool,
}

impl LogWriter {
    pub(super) fn start(log: LogData, options: LogOptions) -> Self {
        let shared = Arc::new(Shared {
            log,
            options,
            buffer: Mutex::default(),
            storing: AsyncMutex::default(),
            due: Notify::new(),
        });
        let task = tokio::spawn(watch(Arc::clone(&shared)));
        Self { shared, task }
    }

    /// Takes an entry with the time of now.
    ///
    /// # Errors
    /// As [`LogWriter::append_at`].
    pub async fn append(&self, data: impl Into<Bytes>) -> Result<()> {
        self.append_at(Timestamp::now(), data).await
    }

    /// Takes an entry with a time of its own, which need not be later than those before it.
    ///
    /// # Errors
    /// With [`LogDurability::EveryEntry`] those of reaching the store: the entry then still waits, and the next
    /// call to [`flush`](LogWriter::flush) tries again, so do not append it twice. In any case where the buffer is
    /// full and cannot be written: the entry is then not taken. [`LimitExceeded`](ErrorKind::LimitExceeded) for an
    /// entry larger than the buffer, and [`Unsupported`](ErrorKind::Unsupported) after [`close`](LogWriter::close).
    pub async fn append_at(&self, at: Timestamp, data: impl Into<Bytes>) -> Result<()> {
        let entry = LogEntry { at, data: data.into() };
        let size = counted_bytes(&entry);
        let most = self.shared.options.most_buffered_bytes;
        if size > most {
            return Err(Error::limit_exceeded(format!(
                "the entry takes {size} bytes, and the buffer holds {most}; raise `with_most_buffered_bytes`, or store it as a blob"
            )));
        }
        // Others fill the room that a flush makes too, so it is made until there is some for this entry.
        while self.shared.lock().bytes + size > most {
            self.flush().await?;
        }
        let (number, due) = self.shared.take(entry, size)?;
        match self.shared.options.durability {
            LogDurability::EveryEntry => {
                self.shared.store_up_to(number).await.map_err(|error| error.with_outcome_unknown(true))
            }
            LogDurability::Batched => {
                if due {
                    self.shared.due.notify_one();
                }
                Ok(())
            }
        }
    }

    /// Stores all entries that were taken so far.
    ///
    /// # Errors
    /// Those of reaching the store; the entries then still wait.
    pub async fn flush(&self) -> Result<()> {
        let taken = self.shared.lock().taken;
        self.shared.store_up_to(taken).await
    }

    /// Takes no more entries, and stores all that were taken.
    ///
    /// # Errors
    /// Those of reaching the store; the entries then still wait, and it can be called again.
    pub async fn close(&self) -> Result<()> {
        self.shared.lock().closed = true;
        self.flush().await
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        self.task.abort();
        let waiting = self.shared.lock().bytes;
        if waiting > 0 {
            tracing::warn!(log = %self.shared.log.name, bytes = waiting, "a log writer was dropped before it was closed, and its last entries are lost");
        }
    }
}

/// Stores what has waited long enough, or is due before.
async fn watch(shared: Arc<Shared>) {
    loop {
        let since = shared.lock().oldest();
        let wait = async {
            match since {
                Some(since) => tokio::time::sleep_until(since + shared.options.longest_wait).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = wait => {}
            () = shared.due.notified() => {}
        }
        let (taken, due) = shared.lock().state(&shared.options);
        if due && let Err(error) = shared.store_up_to(taken).await {
            tracing::warn!(log = %shared.log.name, %error, "log entries could not be stored, and wait");
            tokio::time::sleep(shared.options.longest_wait.max(SHORTEST_WAIT)).await;
            shared.due.notify_one();
        }
    }
}

impl Buffer {
    /// Since when the oldest entry that is not sealed waits.
    fn oldest(&self) -> Option<Instant> {
        self.open.values().map(|open| open.since).min()
    }

    /// How many entries were taken, and whether something is to be stored now.
    fn state(&self, options: &LogOptions) -> (u64, bool) {
        let late = self.oldest().is_some_and(|since| since.elapsed() >= options.longest_wait);
        let full = self.open.values().any(|open| open.bytes >= options.segment_bytes);
        (self.taken, late || full || !self.sealed.is_empty() || self.bytes >= options.most_buffered_bytes / 2)
    }

    /// Lets no open segment grow any more, and says how many entries are sealed by that.
    fn seal(&mut self) -> u64 {
        for (hour, open) in std::mem::take(&mut self.open) {
            self.sealed.extend(Sealed::of(open.entries).map(|sealed| (hour, sealed)));
        }
        self.bytes = self.sealed.iter().map(|(_, sealed)| sealed.bytes.len()).sum();
        self.taken
    }
}

impl Shared {
    /// The buffer is whole between any two statements, so a panic elsewhere does not spoil it.
    fn lock(&self) -> MutexGuard<'_, Buffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an entry into the segment of its hour; says which entry it is, and whether a segment is due.
    fn take(&self, entry: LogEntry, size: usize) -> Result<(u64, bool)> {
        let mut buffer = self.lock();
        if buffer.closed {
            return Err(Error::unsupported("the log writer is closed; begin a new one"));
        }
        let now = Instant::now();
        let first = buffer.open.is_empty();
        let open =
            buffer.open.entry(Hour::of(entry.at)).or_insert_with(|| Open { entries: Vec::new(), bytes: 0, since: now });
        open.entries.push(entry);
        open.bytes += size;
        buffer.bytes += size;
        buffer.taken += 1;
        // The watcher waits for the first entry of all, to see how long it may sleep.
        Ok((buffer.taken, first || buffer.state(&self.options).1))
    }

    /// Stores segments until this many entries are safe. Whoever comes while another stores finds its own
    /// entries safe, or stores them with all that came meanwhile.
    async fn store_up_to(&self, taken: u64) -> Result<()> {
        let mut storing = self.storing.lock().await;
        if storing.safe >= taken {
            return Ok(());
        }
        let sealed_up_to = self.lock().seal();
        loop {
            let Some((hour, sealed)) = self.lock().sealed.front().cloned() else { break };
            self.store(&mut storing, hour, &sealed).await?;
            let mut buffer = self.lock();
            buffer.sealed.pop_front();
            buffer.bytes = buffer.bytes.saturating_sub(sealed.bytes.len());
        }
        storing.safe = sealed_up_to;
        Ok(())
    }

    /// Puts a segment under the next free number of its hour. A number that was tried before is tried first,
    /// since the segment may be there already.
    async fn store(&self, storing: &mut Storing, hour: Hour, sealed: &Sealed) -> Result<()> {
        let folder = hour.folder(&self.log.name);
        let mut number = match storing.numbers.get(&hour) {
            Some(number) => *number,
            None => self.next_number(&folder).await?,
        };
        for attempt in 1..=MOST_NUMBERS {
            storing.remember(hour, number);
            let path = folder.clone().join(format!("{number:06}.log"));
            if self.put(storing, &path, sealed).await? {
                storing.remember(hour, number + 1);
                return Ok(());
            }
            number = match attempt % LOOK_AGAIN_EVERY {
                0 => self.next_number(&folder).await?.max(number + 1),
                _ => number + 1,
            };
        }
        Err(Error::new(ErrorKind::Contention, format!("other writers took every number of {folder} that was tried")))
    }

    /// Puts a segment under a name, and says whether it is there now. Another's under that name is left.
    async fn put(&self, storing: &mut Storing, path: &Path, sealed: &Sealed) -> Result<bool> {
        let put = self.log.blobs.put_opts(path, sealed.bytes.clone().into(), storing.put_options(sealed)).await;
        match put.map_err(|error| blob_error("put blob", path, error)) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let line = self.log.blobs.get_range(path, 0..HEADER_BYTES).await;
                let line = line.map_err(|error| blob_error("get blob", path, error))?;
                // An earlier attempt whose answer was lost has put it there.
                Ok(Header::decode(path, &line).is_ok_and(|header| header.id == sealed.header.id))
            }
            Err(error) if error.kind() == ErrorKind::Unsupported && !storing.without_metadata => {
                storing.without_metadata = true;
                Box::pin(self.put(storing, path, sealed)).await
            }
            Err(error) => Err(error),
        }
    }

    /// The number after the last that a folder has.
    async fn next_number(&self, folder: &Path) -> Result<u64> {
        let mut listing = self.log.blobs.list(Some(folder));
        let mut last = 0;
        while let Some(meta) = listing.try_next().await.map_err(|error| blob_error("list blobs", folder, error))? {
            last = last.max(self.log.place(&meta.location).map_or(0, |(_, number)| number));
        }
        Ok(last + 1)
    }
}

impl Storing {
    /// Keeps the next number of an hour. Old hours are forgotten: a listing tells them again.
    fn remember(&mut self, hour: Hour, number: u64) {
        const MOST_HOURS: usize = 100;
        self.numbers.insert(hour, number);
        while self.numbers.len() > MOST_HOURS {
            self.numbers.pop_first();
        }
    }

    fn put_options(&self, sealed: &Sealed) -> PutOptions {
        let mut attributes = Attributes::new();
        if !self.without_metadata {
            attributes.insert(Attribute::Metadata("first".into()), sealed.header.first.to_string().into());
            attributes.insert(Attribute::Metadata("last".into()), sealed.header.last.to_string().into());
        }
        PutOptions { mode: PutMode::Create, attributes, ..PutOptions::default() }
    }
}
