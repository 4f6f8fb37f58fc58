//! Blob stores under test, and one whose calls fail as a plan says.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};
use table_core::layer::FaultPlan;
use tempfile::TempDir;

use crate::gate::{AnyTurn, Call, Turn};

/// A blob store under test.
#[derive(Debug)]
pub struct TestBlobs {
    /// For messages.
    pub name: &'static str,
    /// The store.
    pub store: Arc<dyn ObjectStore>,
    /// The folder of its files, which goes with it.
    _folder: Option<TempDir>,
}

/// Every blob store that the patterns must run on: one in memory, one of local files.
///
/// # Panics
/// Where no temporary folder can be made.
#[must_use]
#[expect(clippy::expect_used, reason = "without a temporary folder there is nothing to test")]
pub fn blob_stores() -> Vec<TestBlobs> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = LocalFileSystem::new_with_prefix(folder.path()).expect("a folder that exists");
    vec![
        TestBlobs { name: "blobs in memory", store: Arc::new(InMemory::new()), _folder: None },
        TestBlobs { name: "blobs in files", store: Arc::new(files), _folder: Some(folder) },
    ]
}

/// The names of all blobs of a store, sorted.
///
/// # Panics
/// Where the store cannot be listed.
#[expect(clippy::expect_used, reason = "a helper of tests")]
pub async fn blob_names(store: &dyn ObjectStore) -> Vec<String> {
    let metas: Vec<ObjectMeta> = store.list(None).try_collect().await.expect("a store that can be listed");
    let mut names: Vec<String> = metas.into_iter().map(|meta| meta.location.to_string()).collect();
    names.sort();
    names
}

/// A blob store whose calls fail as a plan says, which it may share with table and queue stores, and wait for
/// their turn.
///
/// Each part of an upload is a call of its own.
#[derive(Debug, Clone)]
pub struct FaultyBlobs<T = AnyTurn> {
    inner: Arc<dyn ObjectStore>,
    calls: Calls<T>,
}

/// What decides on a call.
#[derive(Debug, Clone)]
struct Calls<T> {
    plan: FaultPlan,
    turn: T,
}

impl FaultyBlobs {
    /// Fails the calls to a store as the plan says.
    #[must_use]
    pub fn new(inner: Arc<dyn ObjectStore>, plan: FaultPlan) -> Self {
        Self { inner, calls: Calls { plan, turn: AnyTurn } }
    }
}

impl<T: Turn> FaultyBlobs<T> {
    /// Lets each call wait for its turn.
    #[must_use]
    pub fn gated(inner: Arc<dyn ObjectStore>, turn: T) -> Self {
        Self { inner, calls: Calls { plan: FaultPlan::quiet(), turn } }
    }
}

impl<T> fmt::Display for FaultyBlobs<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FaultyBlobs({})", self.inner)
    }
}

impl<T: Turn> Calls<T> {
    async fn around<A: Send>(
        &self,
        operation: &'static str,
        has_effect: bool,
        work: impl Future<Output = Result<A>> + Send,
    ) -> Result<A> {
        let call = Call::new(operation, "blobs");
        let answer = async {
            self.turn.before(call).await?;
            let answer = self.plan.around(operation, has_effect, async { Ok(work.await) }).await?;
            self.turn.after(call)?;
            Ok::<_, table_core::Error>(answer)
        };
        answer.await.unwrap_or_else(|fault| Err(Error::Generic { store: "FaultyBlobs", source: fault.into() }))
    }
}

#[async_trait]
impl<T: Turn + Clone> ObjectStore for FaultyBlobs<T> {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        self.calls.around("put blob", true, self.inner.put_opts(location, payload, opts)).await
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        let begun = self.inner.put_multipart_opts(location, opts);
        let inner = self.calls.around("begin upload", true, begun).await?;
        Ok(Box::new(FaultyUpload { inner, calls: self.calls.clone() }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.calls.around("get blob", false, self.inner.get_opts(location, options)).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.calls.around("get blob", false, self.inner.get_ranges(location, ranges)).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let (inner, calls) = (Arc::clone(&self.inner), self.calls.clone());
        locations
            .then(move |location| {
                let (inner, calls) = (Arc::clone(&inner), calls.clone());
                async move {
                    let location = location?;
                    calls.around("delete blob", true, inner.delete(&location)).await.map(|()| location)
                }
            })
            .boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let (inner, calls, prefix) = (Arc::clone(&self.inner), self.calls.clone(), prefix.cloned());
        let listed = async move {
            let all = inner.list(prefix.as_ref()).try_collect::<Vec<_>>();
            calls.around("list blobs", false, all).await.map(|metas| stream::iter(metas).map(Ok))
        };
        stream::once(listed).try_flatten().boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.calls.around("list blobs", false, self.inner.list_with_delimiter(prefix)).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.calls.around("copy blob", true, self.inner.copy_opts(from, to, options)).await
    }
}

#[derive(Debug)]
struct FaultyUpload<T> {
    inner: Box<dyn MultipartUpload>,
    calls: Calls<T>,
}

#[async_trait]
impl<T: Turn + Clone> MultipartUpload for FaultyUpload<T> {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let (part, calls) = (self.inner.put_part(data), self.calls.clone());
        Box::pin(async move { calls.around("put part", true, part).await })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        self.calls.around("complete upload", true, self.inner.complete()).await
    }

    async fn abort(&mut self) -> Result<()> {
        self.calls.around("abort upload", true, self.inner.abort()).await
    }
}
