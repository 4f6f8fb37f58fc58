//! Answers that are not what the service promises.

use std::sync::Arc;

use table_core::keys::KeyRange;
use table_core::store::{Selection, StoreQuery};
use table_core::{DynamicEntity, ErrorKind, Query, Table, TableStore, Transaction};

use crate::server::{Reply, Server};
use crate::{account, insert, key, staff};

const ROW: &str = r#"{"value":[{"odata.etag":"W/\"1\"","PartitionKey":"p","RowKey":"1","A":1}]}"#;

fn everything() -> StoreQuery {
    StoreQuery::new(KeyRange::ALL)
}

#[tokio::test]
async fn an_empty_page_may_have_a_successor() {
    let empty = Reply::json(200, r#"{"value":[]}"#)
        .header("x-ms-continuation-NextPartitionKey", "1!4!cA--")
        .header("x-ms-continuation-NextRowKey", "1!4!MQ--");
    let server = Server::start([empty, Reply::json(200, ROW)]).await;
    let table = Table::new(account(&server).tables(), "Staff").unwrap();
    let found = table.all(Query::<DynamicEntity>::all().allow_scan()).await.unwrap();
    assert_eq!(found.len(), 1);
    let next = server.seen()[1].head.clone();
    assert!(next.contains("NextPartitionKey=1%214%21cA--&NextRowKey=1%214%21MQ--"), "{next}");
}

#[tokio::test]
async fn garbage_is_corrupted_and_not_asked_for_again() {
    for body in ["", "{", "[]", r#"{"value":5}"#, r#"{"value":[{"PartitionKey":"p"}]}"#, "\u{0}"] {
        let server = Server::start([Reply::json(200, body)]).await;
        let error = account(&server).tables().query(&staff(), &everything()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupted, "{body}");
        assert_eq!(error.table(), Some("Staff"));
        assert_eq!(server.seen().len(), 1, "{body}");
    }
}

#[tokio::test]
async fn an_answer_of_another_type_is_not_taken_for_the_services() {
    let server = Server::start([Reply::new(200).body("text/html", "<html>sign in</html>")]).await;
    let error = account(&server).tables().get(&staff(), &key(), &Selection::All).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("check its address"), "{error}");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn an_error_in_xml_is_read() {
    let xml = r#"<?xml version="1.0" encoding="utf-8"?><Error><Code>AuthenticationFailed</Code><Message>hidden</Message></Error>"#;
    let server = Server::start([Reply::new(403).body("application/xml", xml)]).await;
    let error = account(&server).tables().get(&staff(), &key(), &Selection::All).await.unwrap_err();
    assert_eq!((error.kind(), error.service_code()), (ErrorKind::PermissionDenied, Some("AuthenticationFailed")));
    assert_eq!(error.request_id(), Some("request-1"));
    assert!(!format!("{error:?}").contains("hidden"));
}

#[tokio::test]
async fn a_write_without_an_etag_in_its_answer_is_in_doubt() {
    let server = Server::start([Reply::new(204)]).await;
    let error = account(&server).tables().write(&staff(), insert()).await.unwrap_err();
    assert_eq!((error.kind(), error.outcome_unknown()), (ErrorKind::Corrupted, true));
}

#[tokio::test]
async fn a_transaction_whose_answer_cannot_be_read_is_in_doubt() {
    let server = Server::start([Reply::new(202).body("multipart/mixed; boundary=b", "--b\r\n\r\n--b--")]).await;
    let transaction = Transaction::new(vec![insert()]).unwrap();
    let error = account(&server).tables().transact(&staff(), transaction).await.unwrap_err();
    assert_eq!((error.kind(), error.outcome_unknown()), (ErrorKind::Corrupted, true));
}

#[tokio::test]
async fn every_request_is_signed_and_says_what_it_speaks() {
    let server = Server::start([Reply::json(200, ROW)]).await;
    let store: Arc<dyn TableStore> = account(&server).tables();
    store.query(&staff(), &everything()).await.unwrap();
    let seen = &server.seen()[0];
    assert!(seen.head.starts_with("GET /contoso/Staff?$top=1000 HTTP/1.1\r\n"), "{}", seen.head);
    assert!(seen.header("authorization").unwrap().starts_with("SharedKeyLite contoso:"));
    assert_eq!(seen.header("accept"), Some("application/json;odata=minimalmetadata"));
    assert!(seen.header("x-ms-date").is_some());
    // Older versions take no token of Microsoft Entra ID.
    assert_eq!(seen.header("x-ms-version"), Some("2020-12-06"));
    assert!(seen.header("user-agent").unwrap().contains("table-azure"));
}
