//! A blob store whose puts can be held back.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, Result,
};
use table_core::{Error, ErrorKind};

/// A blob store as one actor sees it.
#[derive(Debug)]
pub(super) struct HeldBlobs {
    inner: Box<dyn ObjectStore>,
    /// The puts that are held back, where they are.
    held: Option<Mutex<Vec<(Path, PutPayload)>>>,
}

impl HeldBlobs {
    pub(super) fn new(inner: impl ObjectStore, holds: bool) -> Arc<Self> {
        Arc::new(Self { inner: Box::new(inner), held: holds.then(Mutex::default) })
    }

    /// Makes the puts that were held back.
    pub(super) async fn put_held(&self) -> table_core::Result<()> {
        let Some(held) = &self.held else { return Ok(()) };
        let puts = std::mem::take(&mut *held.lock().unwrap_or_else(PoisonError::into_inner));
        for (path, payload) in puts {
            let put = self.inner.put_opts(&path, payload, PutOptions::default()).await;
            put.map_err(|error| Error::new(ErrorKind::Unavailable, "put blob").with_source(error))?;
        }
        Ok(())
    }
}

impl fmt::Display for HeldBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HeldBlobs({})", self.inner)
    }
}

#[async_trait]
impl ObjectStore for HeldBlobs {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        let Some(held) = &self.held else { return self.inner.put_opts(location, payload, opts).await };
        held.lock().unwrap_or_else(PoisonError::into_inner).push((location.clone(), payload));
        Ok(PutResult { e_tag: None, version: None, extensions: object_store::Extensions::default() })
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(location, options).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.inner.get_ranges(location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}
