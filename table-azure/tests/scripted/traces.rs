//! Traces and errors: enough to find a request in the service's logs, and nothing that is secret.

use std::fmt::{self, Write};
use std::sync::{Arc, Mutex};

use table_core::store::{MessageReceipt, Selection};
use table_core::{EntityKey, QueueName, QueueStore, TableStore};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::server::{Reply, Server, Step};
use crate::{endpoints, options, staff};

/// A subscriber that keeps every field of every span and event as a line of text.
#[derive(Debug, Clone, Default)]
struct Collector(Arc<Mutex<String>>);

impl Visit for Collector {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0.lock().unwrap(), "{field}={value:?} ").unwrap();
    }
}

impl Collector {
    fn text(&self) -> String {
        self.0.lock().unwrap().clone()
    }

    fn line(&self, name: &str) -> Self {
        write!(self.0.lock().unwrap(), "\n{name}: ").unwrap();
        self.clone()
    }
}

impl Subscriber for Collector {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut self.line(span.metadata().name()));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.line("record"));
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.line(event.metadata().target()));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Asks for things with secrets in them, of a server that fails in several ways, and gives back all that was said.
async fn said(keys: bool) -> String {
    let collector = Collector::default();
    let _guard = tracing::subscriber::set_default(collector.clone());
    let steps = [Step::Drop, Reply::error(500, "InternalError").into(), Reply::error(404, "ResourceNotFound").into()];
    let server = Server::start(steps).await;
    let text = format!("SharedAccessSignature=sv=1&sig=HIDDENSIG;{}", endpoints(&server));
    let account = options().with_traced_keys(keys).open_connection_string(&text).unwrap();
    let key = EntityKey::parse("HIDDENPARTITION", "HIDDENROW").unwrap();
    assert!(account.tables().get(&staff(), &key, &Selection::All).await.unwrap().is_none());
    let receipt = MessageReceipt { id: "1".into(), receipt: "HIDDENRECEIPT".into() };
    let queue = QueueName::new("work").unwrap();
    let queue_error = account.queues().delete_message(&queue, &receipt).await.unwrap_err();
    let server = Server::start([Step::Drop]).await;
    let text = format!("SharedAccessSignature=sv=1&sig=HIDDENSIG;{}", endpoints(&server));
    let account = options().with_traced_keys(keys).open_connection_string(&text).unwrap();
    let blob_error = account.blobs("photos").create_if_missing().await.unwrap_err();
    format!("{}\n{account:?}\n{queue_error:?} {queue_error}\n{blob_error:?} {blob_error}", collector.text())
}

#[tokio::test]
async fn a_request_is_traced_with_what_finds_it_again() {
    let said = said(false).await;
    for part in [
        r#"operation="get" table="Staff""#,
        "attempt: attempt=1",
        "attempt: attempt=3",
        "status=500",
        "status=404",
        r#"request_id="request-1""#,
        "request failed without an answer",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[tokio::test]
async fn nothing_secret_is_traced_or_told() {
    let said = said(false).await;
    assert!(!said.contains("HIDDEN"), "{said}");
}

#[tokio::test]
async fn keys_are_traced_when_asked_for_and_secrets_never() {
    let said = said(true).await;
    assert!(said.contains(r#"partition="HIDDENPARTITION""#), "{said}");
    assert!(!said.contains("HIDDENSIG"), "{said}");
}
