//! Services that are busy or broken: repeated within bounds, in one place.

use std::time::{Duration, Instant};

use table_core::layer::RetryOptions;
use table_core::store::{PageToken, Selection};
use table_core::{ErrorKind, TableStore};

use crate::server::{Reply, Server};
use crate::{account, account_with, insert, key, options, staff};

#[tokio::test]
async fn a_busy_service_is_asked_again_when_it_says() {
    let busy = Reply::error(503, "ServerBusy").header("retry-after", "1");
    let server = Server::start([busy, Reply::written("W/\"1\"")]).await;
    let start = Instant::now();
    let written = account(&server).tables().write(&staff(), insert()).await.unwrap();
    assert_eq!(written.etag, Some("W/\"1\"".into()));
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_broken_service_is_asked_a_bounded_number_of_times() {
    let server = Server::start([Reply::error(500, "InternalError")]).await;
    let error = account(&server).tables().get(&staff(), &key(), &Selection::All).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!((error.service_code(), error.request_id()), (Some("InternalError"), Some("request-1")));
    assert!(!error.outcome_unknown(), "a read leaves nothing to doubt");
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn a_write_that_a_broken_service_may_have_done_is_in_doubt() {
    let server = Server::start([Reply::error(500, "OperationTimedOut")]).await;
    let error = account(&server).tables().write(&staff(), insert()).await.unwrap_err();
    assert!(error.outcome_unknown());
    assert_eq!((error.operation(), error.table(), error.key()), (Some("insert"), Some("Staff"), Some(&key())));
}

#[tokio::test]
async fn nothing_is_repeated_beneath_the_one_layer() {
    let server = Server::start([Reply::error(500, "InternalError")]).await;
    let account = account(&server);
    account.bare_tables().write(&staff(), insert()).await.unwrap_err();
    assert_eq!(server.seen().len(), 1);
    let never = account_with(&server, &options().with_retries(RetryOptions::default().with_attempts(1)));
    never.tables().write(&staff(), insert()).await.unwrap_err();
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_refusal_is_not_repeated() {
    for (status, code, kind) in [
        (400, "InvalidInput", ErrorKind::InvalidValue),
        (403, "AuthenticationFailed", ErrorKind::PermissionDenied),
        (404, "TableNotFound", ErrorKind::TableNotFound),
        (409, "EntityAlreadyExists", ErrorKind::AlreadyExists),
        (413, "RequestBodyTooLarge", ErrorKind::LimitExceeded),
    ] {
        let server = Server::start([Reply::error(status, code)]).await;
        let error = account(&server).tables().write(&staff(), insert()).await.unwrap_err();
        assert_eq!((error.kind(), error.service_code()), (kind, Some(code)));
        assert_eq!(server.seen().len(), 1, "{code}");
    }
}

#[tokio::test]
async fn a_table_that_is_still_being_deleted_is_waited_for() {
    let server = Server::start([Reply::error(409, "TableBeingDeleted"), Reply::new(204)]).await;
    account(&server).tables().create_table(&staff()).await.unwrap();
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_foreign_continuation_is_refused_before_anything_is_sent() {
    let server = Server::start([Reply::new(200)]).await;
    let error = account(&server).tables().list_tables(Some(&PageToken::new("key-1\nStaff"))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidQuery);
    assert!(server.seen().is_empty());
}
