//! The file beneath redb, watched for a sync that fails and for reads that the cache could not answer.

use std::fmt;
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};

/// Where the bytes of a store are kept. A store opens it anew after an I/O error.
pub(crate) trait Storage: fmt::Debug + Send + Sync + 'static {
    /// Opens the bytes.
    fn open(&self) -> io::Result<Box<dyn StorageBackend>>;

    /// How many bytes there are.
    fn size(&self) -> io::Result<u64>;
}

/// A file.
#[derive(Debug)]
pub(crate) struct FileStorage {
    path: PathBuf,
}

impl FileStorage {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }
}

impl Storage for FileStorage {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        let file = std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&self.path)?;
        let backend = FileBackend::new(file).map_err(io::Error::other)?;
        Ok(Box::new(backend))
    }

    fn size(&self) -> io::Result<u64> {
        std::fs::metadata(&self.path).map(|file| file.len())
    }
}

/// Bytes of a file that redb has begun to create.
const NEW_FILE: usize = 1_056_768;
/// Bytes of redb's mark, at the beginning of its header.
const MARK: usize = 9;
/// Bytes of its header.
const HEADER: usize = 320;
/// Where its header says how large a page is, and what it says.
const PAGE_SIZE_AT: usize = 12;
const PAGE_SIZE: [u8; 4] = 4096_u32.to_le_bytes();

/// Empties a file that redb began to create and never finished. Says no where somebody else has it open.
///
/// redb gives a new file its length and its header first and its mark last. A process that dies in between leaves a file
/// that redb takes for another program's for ever, although nothing was stored in it.
pub(crate) fn discard_unfinished(backend: &dyn StorageBackend) -> io::Result<bool> {
    match backend.try_lock_range(Bound::Unbounded, Bound::Unbounded) {
        Ok(false) => return Ok(false),
        // A backend without locks is nobody else's, as redb sees it too.
        Ok(true) | Err(BackendError::Unsupported) => {}
        Err(error) => return Err(io::Error::other(error)),
    }
    if is_unfinished(backend)? {
        backend.set_len(0)?;
        backend.sync_data()?;
    }
    backend.close()?;
    Ok(true)
}

/// Whether a file is as redb leaves it before it writes its mark. Any other file is somebody's.
fn is_unfinished(backend: &dyn StorageBackend) -> io::Result<bool> {
    if usize::try_from(backend.len()?).ok() != Some(NEW_FILE) {
        return Ok(false);
    }
    let mut bytes = vec![0; NEW_FILE];
    backend.read(0, &mut bytes)?;
    let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
    let (header, pages) = bytes.split_at(HEADER);
    let (mark, rest) = header.split_at(MARK);
    let is_header = is_zero(rest) || header.get(PAGE_SIZE_AT..PAGE_SIZE_AT + PAGE_SIZE.len()) == Some(&PAGE_SIZE[..]);
    Ok(is_zero(mark) && is_header && is_zero(pages))
}

/// What was seen of a file since the store was opened, by whatever backend it is used.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    sync_failed: AtomicBool,
    reads: AtomicU64,
}

impl Watch {
    /// Whether a sync failed: what was written before it may be lost although later syncs succeed, so nothing more
    /// may be acknowledged.
    pub(crate) fn sync_failed(&self) -> bool {
        self.sync_failed.load(Ordering::SeqCst)
    }

    /// The file was opened anew, so that what is read is what is on disk.
    pub(crate) fn forget_failed_sync(&self) {
        self.sync_failed.store(false, Ordering::SeqCst);
    }

    /// How often the file was read, since its cache could not answer.
    pub(crate) fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }
}

/// A backend whose use is watched.
#[derive(Debug)]
pub(crate) struct Watched {
    inner: Box<dyn StorageBackend>,
    watch: Arc<Watch>,
}

impl Watched {
    pub(crate) fn new(inner: Box<dyn StorageBackend>, watch: Arc<Watch>) -> Self {
        Self { inner, watch }
    }
}

impl StorageBackend for Watched {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.watch.reads.fetch_add(1, Ordering::Relaxed);
        self.inner.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.inner.sync_data().inspect_err(|_| self.watch.sync_failed.store(true, Ordering::SeqCst))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.inner.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.inner.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.inner.try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.inner.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.inner.query_lock_range(start, end)
    }
}
