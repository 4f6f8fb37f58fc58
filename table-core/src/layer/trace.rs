//! Telling `tracing` what a store is asked for, and never what is in it.
//!
//! The invariant: no property's value, no message's body and no receipt reaches a span or an event;
//! keys do only when the caller opted in.

use std::time::Instant;

use tracing::{Instrument, Span, debug, debug_span, field, warn};

use super::around::around_every_call;
use super::call::{Answer, Call, Place, Traffic};
use crate::error::{Error, Result};

/// A layer that opens a `tracing` span around each call and reports how it ended.
///
/// The span `store` has the operation and the table or queue; when the call ends it has the
/// result's kind (`ok`, or what went wrong), the entities sent and received, and the time in
/// microseconds. The end is an event too: of level warn for failures that more load or a broken
/// service cause, else of level debug.
///
/// ```
/// use table_core::layer::Trace;
/// use table_core::{MemoryStore, TableName, TableStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let store = Trace::new(MemoryStore::new()).with_keys(true);
/// store.create_table(&TableName::new("Employees")?).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Trace<S> {
    inner: S,
    keys: bool,
}

impl<S> Trace<S> {
    /// Traces the calls to a store, without their keys.
    #[must_use]
    pub const fn new(inner: S) -> Self {
        Self { inner, keys: false }
    }

    /// Whether spans hold partition and row keys, which may be personal data such as an address.
    #[must_use]
    pub const fn with_keys(mut self, keys: bool) -> Self {
        self.keys = keys;
        self
    }

    fn span(&self, call: &Call) -> Span {
        let span = debug_span!(
            "store",
            operation = call.operation,
            table = field::Empty,
            queue = field::Empty,
            partition = field::Empty,
            row = field::Empty,
            result = field::Empty,
            sent = field::Empty,
            received = field::Empty,
            elapsed_us = field::Empty,
        );
        match &call.place {
            Place::Store => {}
            Place::Table(table) => {
                span.record("table", table.as_str());
            }
            Place::Queue(queue) => {
                span.record("queue", queue.as_str());
            }
        }
        if self.keys {
            if let Some(partition) = &call.partition {
                span.record("partition", partition.as_str());
            }
            if let Some(row) = &call.row {
                span.record("row", row.as_str());
            }
        }
        span
    }

    async fn around<T: Answer>(&self, call: Call, work: impl Future<Output = Result<T>> + Send) -> Result<T> {
        let span = self.span(&call);
        let start = Instant::now();
        let result = work.instrument(span.clone()).await;
        let elapsed_us = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        span.record("elapsed_us", elapsed_us);
        span.in_scope(|| match &result {
            Ok(answer) => succeeded(&span, call.sent, answer.received()),
            Err(error) => failed(&span, error),
        });
        result
    }
}

fn succeeded(span: &Span, sent: Traffic, received: Traffic) {
    span.record("result", "ok").record("sent", sent.entities).record("received", received.entities);
    debug!(sent = sent.entities, received = received.entities, "store call succeeded");
}

/// An error's message names the entity, so only its kind and the service's own marks are told.
fn failed(span: &Span, error: &Error) {
    let kind = error.kind().as_str();
    span.record("result", kind);
    let (code, request) = (error.service_code(), error.request_id());
    if error.is_retryable() || error.outcome_unknown() {
        warn!(kind, code, request, outcome_unknown = error.outcome_unknown(), "store call failed");
    } else {
        debug!(kind, code, request, "store call failed");
    }
}

around_every_call!(Trace);

#[cfg(test)]
mod tests;
