use std::fmt::{self, Write};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use super::*;
use crate::layer::testing::{employees, insert, intents, key, row_with};
use crate::layer::{Fault, FaultMoment, FaultOptions, FaultPlan};
use crate::store::{QueueStore, ReceiveOptions, Selection, SendOptions, TableStore};
use crate::{DynamicEntity, EntityKey, MemoryStore, TableName};

/// A subscriber that keeps every field of every span and event as a line of text.
#[derive(Debug, Clone, Default)]
struct Collector {
    lines: Arc<Mutex<Vec<(Level, String)>>>,
}

impl Collector {
    fn add(&self, level: Level, record: impl FnOnce(&mut Line)) {
        let mut line = Line::default();
        record(&mut line);
        self.lines.lock().unwrap().push((level, line.0));
    }

    fn text(&self) -> String {
        self.lines.lock().unwrap().iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>().join("\n")
    }

    fn levels_with(&self, text: &str) -> Vec<Level> {
        let lines = self.lines.lock().unwrap();
        lines.iter().filter(|(_, line)| line.contains(text)).map(|(level, _)| *level).collect()
    }
}

#[derive(Default)]
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, "{field}={value:?} ").unwrap();
    }
}

impl Subscriber for Collector {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.add(*span.metadata().level(), |line| span.record(line));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        self.add(Level::TRACE, |line| values.record(line));
    }

    fn event(&self, event: &Event<'_>) {
        self.add(*event.metadata().level(), |line| event.record(line));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Does a bit of everything with a store, and returns what was traced.
async fn traced(keys: bool) -> Collector {
    let collector = Collector::default();
    let _guard = tracing::subscriber::set_default(collector.clone());
    let store = Trace::new(MemoryStore::new()).with_keys(keys);
    store.create_table(&employees()).await.unwrap();
    let key = EntityKey::parse("secret-partition", "secret-row").unwrap();
    let entity = DynamicEntity::new(key.clone()).with("SecretName", "secret-value").unwrap();
    store.write(&employees(), insert(entity.clone())).await.unwrap();
    store.write(&employees(), insert(entity)).await.unwrap_err();
    store.get(&employees(), &key, &Selection::All).await.unwrap().unwrap();
    store.create_queue(&intents()).await.unwrap();
    let sent = store.send(&intents(), Bytes::from_static(b"secret-body"), SendOptions::default()).await.unwrap();
    let message = store.receive(&intents(), ReceiveOptions::default()).await.unwrap().remove(0);
    store.delete_message(&intents(), &message.receipt).await.unwrap();
    for receipt in [&sent, &message.receipt] {
        assert!(!collector.text().contains(&receipt.receipt), "a receipt is a right and not to be told");
    }
    collector
}

#[tokio::test]
async fn no_key_and_no_value_is_traced() {
    let text = traced(false).await.text().to_lowercase();
    assert!(!text.contains("secret"), "{text}");
}

#[tokio::test]
async fn keys_are_traced_on_request_and_values_never() {
    let text = traced(true).await.text();
    assert!(text.contains("secret-partition") && text.contains("secret-row"), "{text}");
    assert!(!text.contains("secret-value") && !text.contains("SecretName") && !text.contains("secret-body"), "{text}");
}

#[tokio::test]
async fn operation_place_result_counts_and_time_are_traced() {
    let text = traced(false).await.text();
    for expected in [
        "operation=\"insert\"",
        "operation=\"receive\"",
        "table=\"Employees\"",
        "queue=\"intents\"",
        "result=\"ok\"",
        "result=\"already exists\"",
        "sent=1 received=0",
        "sent=0 received=1",
        "elapsed_us=",
    ] {
        assert!(text.contains(expected), "{expected} is missing in\n{text}");
    }
}

#[tokio::test]
async fn only_failures_of_the_service_are_warnings() {
    let collector = Collector::default();
    let _guard = tracing::subscriber::set_default(collector.clone());
    let plan = FaultPlan::new(FaultOptions::default().with_failure(3, FaultMoment::After));
    let store = Trace::new(Fault::new(MemoryStore::new(), plan));
    store.create_table(&employees()).await.unwrap();
    store.get(&TableName::new("Missing").unwrap(), &key("1"), &Selection::All).await.unwrap_err();
    store.write(&employees(), insert(row_with("1", 1))).await.unwrap_err();

    assert_eq!(collector.levels_with("kind=\"table not found\""), [Level::DEBUG]);
    assert_eq!(collector.levels_with("kind=\"unavailable\""), [Level::WARN]);
    assert!(collector.text().contains("outcome_unknown=true"));
}
