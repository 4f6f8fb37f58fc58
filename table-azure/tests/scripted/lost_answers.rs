//! Answers that never come: a write is settled by what is stored, or left in doubt.

use std::time::Duration;

use table_azure::Credential;
use table_core::reserved::ROW_TOKEN;
use table_core::store::Selection;
use table_core::{Action, ETag, ErrorKind, IfMatch, Operation, TableStore};

use crate::server::{Reply, Server, Step};
use crate::{account, account_with, insert, key, options, row, staff};

const STORED: &str =
    r#"{"odata.etag":"W/\"2\"","PartitionKey":"Sales","RowKey":"00001","Name":"Jo","RowToken":"ours"}"#;

fn marked_insert() -> Operation {
    Operation::new(Action::Insert(row().with(ROW_TOKEN.as_str(), "ours").unwrap())).unwrap()
}

#[tokio::test]
async fn a_write_whose_request_was_lost_is_repeated() {
    let server = Server::start([Step::Drop, Reply::written("W/\"1\"").into()]).await;
    let written = account(&server).tables().write(&staff(), insert()).await.unwrap();
    assert_eq!(written.etag, Some(ETag::from("W/\"1\"")));
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_write_that_was_done_before_its_answer_was_lost_meets_itself_and_succeeds() {
    let exists = Reply::error(409, "EntityAlreadyExists");
    let server = Server::start([Step::Drop, exists.into(), Reply::json(200, STORED).into()]).await;
    let written = account(&server).tables().write(&staff(), marked_insert()).await.unwrap();
    assert_eq!(written.etag, Some(ETag::from("W/\"2\"")));
}

#[tokio::test]
async fn a_write_that_meets_another_ones_row_is_in_doubt_and_not_refused() {
    let theirs = STORED.replace("ours", "theirs");
    let exists = Reply::error(409, "EntityAlreadyExists");
    let server = Server::start([Step::Drop, exists.into(), Reply::json(200, &theirs).into()]).await;
    let error = account(&server).tables().write(&staff(), marked_insert()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.outcome_unknown());
}

#[tokio::test]
async fn a_conditional_write_that_meets_its_old_version_is_repeated() {
    let old = r#"{"odata.etag":"W/\"1\"","PartitionKey":"Sales","RowKey":"00001"}"#;
    let stale = Reply::error(412, "UpdateConditionNotSatisfied");
    let steps = [Step::Drop, stale.into(), Reply::json(200, old).into(), Reply::written("W/\"2\"").into()];
    let server = Server::start(steps).await;
    let replace = Operation::new(Action::Replace(row(), IfMatch::Version("W/\"1\"".into()))).unwrap();
    let written = account(&server).tables().write(&staff(), replace).await.unwrap();
    assert_eq!(written.etag, Some(ETag::from("W/\"2\"")));
}

#[tokio::test]
async fn an_answer_that_is_too_slow_is_a_lost_one() {
    let server = Server::start([Step::Hang, Reply::written("W/\"1\"").into()]).await;
    let account = account_with(&server, &options().with_request_timeout(Duration::from_millis(200)));
    let (tables, table) = (account.bare_tables(), staff());
    let answer = tokio::time::timeout(Duration::from_secs(10), tables.write(&table, insert())).await;
    let error = answer.expect("the request's own time is shorter").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.is_retryable() && error.outcome_unknown(), "{error}");
    account.tables().write(&staff(), insert()).await.unwrap();
}

#[tokio::test]
async fn half_an_answer_is_a_lost_one() {
    let whole = Reply::json(200, STORED);
    let server = Server::start([Step::Half(whole.clone()), whole.into()]).await;
    let found = account(&server).tables().get(&staff(), &key(), &Selection::All).await.unwrap();
    assert_eq!(found.unwrap().get("Name"), row().get("Name"));
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_request_that_never_left_leaves_no_doubt() {
    // A socket that is bound and does not listen keeps its port from others, and refuses connections.
    let silent = tokio::net::TcpSocket::new_v4().unwrap();
    silent.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let endpoint = format!("http://{}/contoso", silent.local_addr().unwrap());
    let account = options().open(&endpoint, Credential::shared_key("contoso", "c2VjcmV0").unwrap()).unwrap();
    let error = account.tables().write(&staff(), insert()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.is_retryable() && !error.outcome_unknown(), "{error}");
}

#[tokio::test]
async fn a_request_whose_future_is_dropped_leaves_the_client_usable() {
    let server = Server::start([Step::Hang, Step::Hang, Reply::written("W/\"1\"").into()]).await;
    let account = account(&server);
    let (tables, table) = (account.tables(), staff());
    for waiting in 1..=2 {
        tokio::select! {
            biased;
            answer = tables.write(&table, insert()) => panic!("answered: {answer:?}"),
            () = until(|| server.seen().len() == waiting) => {}
        }
    }
    tables.write(&table, insert()).await.unwrap();
}

async fn until(mut holds: impl FnMut() -> bool) {
    while !holds() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
