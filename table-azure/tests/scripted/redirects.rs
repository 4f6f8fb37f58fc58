//! Redirects are not followed: credentials would go wherever they point.

use bytes::Bytes;
use object_store::ObjectStoreExt;
use table_azure::AzureAccount;
use table_core::store::{Selection, SendOptions};
use table_core::{ErrorKind, QueueName, QueueStore, TableStore};

use crate::server::{Reply, Server};
use crate::{account, endpoints, key, options, staff};

/// A server that redirects everything to another, which must never be asked.
async fn pair(status: u16) -> (Server, Server) {
    let target = Server::start([Reply::json(200, "{}")]).await;
    let redirect = Reply::new(status).header("location", &format!("{}/stolen", target.url()));
    (Server::start([redirect]).await, target)
}

fn by_signature(server: &Server) -> AzureAccount {
    let text = format!("SharedAccessSignature=sv=1&sig=hidden;{}", endpoints(server));
    options().open_connection_string(&text).unwrap()
}

#[tokio::test]
async fn tables_do_not_follow_a_redirect() {
    for status in [301, 302, 307, 308] {
        let (server, target) = pair(status).await;
        let error = account(&server).tables().get(&staff(), &key(), &Selection::All).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.to_string().contains("redirects"), "{error}");
        assert_eq!((server.seen().len(), target.seen().len()), (1, 0), "{status}");
    }
}

#[tokio::test]
async fn queues_do_not_follow_a_redirect() {
    let (server, target) = pair(307).await;
    let queue = QueueName::new("work").unwrap();
    let error = account(&server).queues().send(&queue, Bytes::new(), SendOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!((server.seen().len(), target.seen().len()), (1, 0));
}

#[tokio::test]
async fn blobs_do_not_follow_a_redirect() {
    let (server, target) = pair(307).await;
    let blobs = by_signature(&server).blobs("photos").open().unwrap();
    let error = blobs.get(&"a".into()).await.unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hidden"), "{error:?}");
    assert_eq!((server.seen().len(), target.seen().len()), (1, 0));
}
