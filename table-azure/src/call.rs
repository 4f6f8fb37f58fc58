//! One request to a service: sent once, timed, traced, and its failures told apart.
//!
//! Nothing here repeats a request; see [`Retry`](table_core::layer::Retry). The invariant: no secret and no
//! property's value leaves in an error or a trace, and a key only when the caller opted in.

use azure_core::http::headers::{HeaderName, Headers};
use azure_core::http::{RawResponse, Response, StatusCode};
use table_core::{EntityKey, Error, Result};
use tracing::instrument::WithSubscriber;
use tracing::{Dispatch, Instrument, Span, debug, debug_span, field, warn};

use crate::failure;

/// What a request is about, which decides what "not found" or "invalid" means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    Table,
    Entity,
    Query,
    Queue,
    Message,
    Container,
}

/// One request as errors and traces see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) operation: &'static str,
    pub(crate) subject: Subject,
    /// The table, queue or container; none for a listing.
    pub(crate) place: Option<&'a str>,
    pub(crate) key: Option<&'a EntityKey>,
    /// Whether the service is another afterwards, so that a lost answer leaves a doubt.
    pub(crate) has_effect: bool,
}

impl<'a> Call<'a> {
    pub(crate) const fn read(operation: &'static str, subject: Subject) -> Self {
        Self { operation, subject, place: None, key: None, has_effect: false }
    }

    pub(crate) const fn change(operation: &'static str, subject: Subject) -> Self {
        Self { has_effect: true, ..Self::read(operation, subject) }
    }

    pub(crate) const fn on(mut self, place: &'a str) -> Self {
        self.place = Some(place);
        self
    }

    pub(crate) const fn with_key(mut self, key: &'a EntityKey) -> Self {
        self.key = Some(key);
        self
    }

    /// Says where an error happened.
    pub(crate) fn locate(&self, error: Error) -> Error {
        let mut error = error.with_operation(self.operation);
        if let Some(place) = self.place {
            error = error.with_table(place);
        }
        match self.key {
            Some(key) => error.with_key(key.clone()),
            None => error,
        }
    }

    /// Does the work of a request within its span, and says in our words how it failed.
    pub(crate) async fn run<T: Answer>(
        &self,
        traced_keys: bool,
        work: impl Future<Output = azure_core::Result<T>> + Send,
    ) -> Result<T> {
        let span = self.span(traced_keys);
        let result = if traced_keys {
            work.instrument(span.clone()).await
        } else {
            // The HTTP client's own events quote addresses, and addresses hold keys and receipts.
            work.with_subscriber(Dispatch::none()).instrument(span.clone()).await
        };
        span.in_scope(|| report(&span, &result));
        result.map_err(|error| self.locate(failure::of_error(self, &error)))
    }

    fn span(&self, traced_keys: bool) -> Span {
        let span = debug_span!(
            "request",
            operation = self.operation,
            table = self.place,
            partition = field::Empty,
            row = field::Empty,
            status = field::Empty,
            request_id = field::Empty,
        );
        if let Some(key) = self.key.filter(|_| traced_keys) {
            span.record("partition", key.partition.as_str()).record("row", key.row.as_str());
        }
        span
    }
}

/// The service's own id of a request.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-ms-request-id");

/// What every answer of a service has.
pub(crate) trait Answer {
    fn status(&self) -> StatusCode;
    fn headers(&self) -> &Headers;
}

impl Answer for RawResponse {
    fn status(&self) -> StatusCode {
        Self::status(self)
    }

    fn headers(&self) -> &Headers {
        Self::headers(self)
    }
}

impl<T, F> Answer for Response<T, F> {
    fn status(&self) -> StatusCode {
        Self::status(self)
    }

    fn headers(&self) -> &Headers {
        Self::headers(self)
    }
}

/// Notes in the span of a request how it was answered.
fn report<T: Answer>(span: &Span, result: &azure_core::Result<T>) {
    let (status, headers) = match result {
        Ok(answer) => (Some(answer.status()), Some(answer.headers())),
        Err(error) => (error.http_status(), failure::raw_answer(error).map(RawResponse::headers)),
    };
    let status = status.map(u16::from);
    let request_id = headers.and_then(|headers| headers.get_optional_str(&REQUEST_ID));
    span.record("status", status).record("request_id", request_id);
    match status {
        None => warn!("request failed without an answer"),
        Some(status @ (429 | 500..)) => warn!(status, request_id, "request failed"),
        Some(status) => debug!(status, request_id, "request answered"),
    }
}
