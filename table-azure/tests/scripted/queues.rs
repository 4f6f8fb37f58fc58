//! Queues: repeated in one place, and checked before anything is sent.

use bytes::Bytes;
use table_core::store::{MessageReceipt, ReceiveOptions, SendOptions};
use table_core::{ErrorKind, QueueName, QueueStore, limits};

use crate::account;
use crate::server::{Reply, Server, Step};

fn work() -> QueueName {
    QueueName::new("work").unwrap()
}

fn xml(status: u16, code: &str) -> Reply {
    let body = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>Said so.</Message></Error>");
    Reply::new(status).body("application/xml", &body).header("x-ms-error-code", code)
}

const SENT: &str = "<?xml version=\"1.0\"?><QueueMessagesList><QueueMessage><MessageId>1-a</MessageId><InsertionTime>Fri, 09 Oct 2009 21:04:30 GMT</InsertionTime><ExpirationTime>Fri, 16 Oct 2009 21:04:30 GMT</ExpirationTime><PopReceipt>r</PopReceipt><TimeNextVisible>Fri, 09 Oct 2009 23:29:20 GMT</TimeNextVisible></QueueMessage></QueueMessagesList>";

#[tokio::test]
async fn a_send_whose_answer_was_lost_is_repeated_by_the_one_layer() {
    let sent = Reply::new(201).body("application/xml", SENT);
    let server = Server::start([Step::Drop, xml(503, "ServerBusy").into(), sent.into()]).await;
    let receipt = account(&server).queues().send(&work(), "body".into(), SendOptions::default()).await.unwrap();
    assert_eq!(receipt, MessageReceipt { id: "1-a".into(), receipt: "r".into() });
    assert_eq!(server.seen().len(), 3);
    assert!(server.seen()[0].header("authorization").unwrap().starts_with("SharedKey contoso:"));
}

#[tokio::test]
async fn nothing_is_repeated_beneath_the_one_layer() {
    let server = Server::start([xml(500, "InternalError")]).await;
    let error = account(&server).bare_queues().receive(&work(), ReceiveOptions::default()).await.unwrap_err();
    assert_eq!((error.kind(), error.service_code()), (ErrorKind::Unavailable, Some("InternalError")));
    assert!(error.outcome_unknown(), "messages may be hidden now");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_stale_receipt_after_a_lost_answer_is_in_doubt() {
    let server = Server::start([Step::Drop, xml(404, "MessageNotFound").into()]).await;
    let receipt = MessageReceipt { id: "1-a".into(), receipt: "r".into() };
    let error = account(&server).queues().delete_message(&work(), &receipt).await.unwrap_err();
    assert!(error.outcome_unknown(), "{error}");
    let server = Server::start([xml(404, "MessageNotFound")]).await;
    let error = account(&server).queues().delete_message(&work(), &receipt).await.unwrap_err();
    assert_eq!((error.kind(), error.outcome_unknown()), (ErrorKind::PreconditionFailed, false));
}

#[tokio::test]
async fn garbage_is_corrupted() {
    let server = Server::start([Reply::new(200).body("application/xml", "<Queue")]).await;
    let error = account(&server).queues().receive(&work(), ReceiveOptions::default()).await.unwrap_err();
    assert_eq!((error.kind(), error.table()), (ErrorKind::Corrupted, Some("work")));
}

#[tokio::test]
async fn what_the_service_would_refuse_is_not_sent() {
    let server = Server::start([Reply::new(201)]).await;
    let queues = account(&server).queues();
    let long = Bytes::from(vec![0; limits::MESSAGE_BYTES + 1]);
    let error = queues.send(&work(), long, SendOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert_eq!(queues.peek(&work(), 33).await.unwrap_err().kind(), ErrorKind::LimitExceeded);
    let foreign = MessageReceipt { id: "../other".into(), receipt: "r".into() };
    assert_eq!(queues.delete_message(&work(), &foreign).await.unwrap_err().kind(), ErrorKind::PreconditionFailed);
    assert!(server.seen().is_empty());
}
