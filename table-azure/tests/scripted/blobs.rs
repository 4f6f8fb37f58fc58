//! Blobs: repeated within the account's bounds, and never where a write could meet itself.

use std::time::{Duration, Instant};

use bytes::Bytes;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions};
use table_core::ErrorKind;

use crate::account;
use crate::server::{Reply, Server, Step};

fn path() -> Path {
    Path::from("a")
}

fn create() -> PutOptions {
    PutOptions { mode: PutMode::Create, ..PutOptions::default() }
}

#[tokio::test]
async fn a_put_is_repeated_within_the_bounds() {
    let server = Server::start([Reply::new(500)]).await;
    let blobs = account(&server).blobs("photos").open().unwrap();
    blobs.put(&path(), Bytes::new().into()).await.unwrap_err();
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn a_conditional_put_whose_answer_was_lost_is_not_repeated() {
    for lost in [Step::Answer(Reply::new(500)), Step::Drop, Step::Half(Reply::new(201).body("text/plain", "1234"))] {
        let server = Server::start([lost]).await;
        let blobs = account(&server).blobs("photos").open().unwrap();
        let error = blobs.put_opts(&path(), Bytes::new().into(), create()).await.unwrap_err();
        assert!(!matches!(error, object_store::Error::AlreadyExists { .. }), "{error}");
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_conditional_put_that_was_not_begun_is_repeated() {
    let busy = Reply::new(503).header("x-ms-error-code", "ServerBusy");
    let exists = Reply::new(409).header("x-ms-error-code", "BlobAlreadyExists");
    let server = Server::start([busy, exists]).await;
    let blobs = account(&server).blobs("photos").open().unwrap();
    let error = blobs.put_opts(&path(), Bytes::new().into(), create()).await.unwrap_err();
    assert!(matches!(error, object_store::Error::AlreadyExists { .. }), "{error}");
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_busy_service_is_asked_again_when_it_says() {
    let busy = Reply::new(503).header("retry-after", "1");
    let server = Server::start([busy, Reply::new(404)]).await;
    let blobs = account(&server).blobs("photos").open().unwrap();
    let start = Instant::now();
    assert!(matches!(blobs.get(&path()).await, Err(object_store::Error::NotFound { .. })));
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_container_is_asked_for_until_it_is_there() {
    let busy = Reply::new(409).header("x-ms-error-code", "ContainerBeingDeleted");
    let server = Server::start([busy.into(), Step::Drop, Reply::new(201).into()]).await;
    assert!(account(&server).blobs("photos").create_if_missing().await.unwrap());
    assert_eq!(server.seen().len(), 3);
    assert!(server.seen()[0].head.starts_with("PUT /contoso/photos?restype=container HTTP/1.1\r\n"));
}

#[tokio::test]
async fn a_container_that_is_refused_says_why() {
    let server = Server::start([Reply::new(403).header("x-ms-error-code", "AuthorizationFailure")]).await;
    let error = account(&server).blobs("photos").create_if_missing().await.unwrap_err();
    assert_eq!((error.kind(), error.service_code()), (ErrorKind::PermissionDenied, Some("AuthorizationFailure")));
    assert_eq!((error.operation(), error.table()), (Some("create_container"), Some("photos")));
}
