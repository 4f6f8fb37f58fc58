//! What went wrong, in the words of [`table_core::Error`].
//!
//! A service says so by a status and a code: in a header, in a JSON body (tables), or in an XML body
//! (authentication, queues, blobs). Code and request id are kept; the service's message is not, since it may quote
//! what was sent.

use std::error::Error as _;
use std::time::Duration;

use azure_core::error::ErrorKind as CoreKind;
use azure_core::http::headers::{ERROR_CODE, HeaderName, Headers};
use azure_core::http::{RawResponse, StatusCode};
use azure_core::time::{OffsetDateTime, parse_rfc7231};
use serde::Deserialize;
use table_core::{Error, ErrorKind};

use crate::call::{Call, REQUEST_ID, Subject};

/// A failure of the pipeline: no answer, half an answer, or an answer that a client library took for an error.
pub(crate) fn of_error(call: &Call<'_>, error: &azure_core::Error) -> Error {
    if let Some(answer) = raw_answer(error) {
        return of_answer(call, answer.status(), answer.headers(), answer.body());
    }
    let failure = match error.kind() {
        CoreKind::HttpResponse { status, error_code, .. } => {
            return of_status(call, *status, error_code.as_deref()).with_service(error_code.clone(), None);
        }
        // Nothing was sent, so nothing happened.
        CoreKind::Connection => Error::new(ErrorKind::Unavailable, "the service cannot be reached"),
        CoreKind::Io => {
            Error::new(ErrorKind::Unavailable, "the connection broke or timed out before the answer was there")
                .with_outcome_unknown(call.has_effect)
        }
        CoreKind::Credential => {
            return Error::new(ErrorKind::PermissionDenied, "the credential gave no token")
                .with_source(error.to_string());
        }
        CoreKind::DataConversion => {
            Error::corrupted("the service's answer cannot be read").with_outcome_unknown(call.has_effect)
        }
        CoreKind::Other => Error::new(ErrorKind::Unavailable, "the request could not be sent").with_retryable(false),
    };
    match cause(error) {
        Some(cause) => failure.with_source(cause),
        None => failure,
    }
}

/// The answer that a client library took for an error.
pub(crate) fn raw_answer(error: &azure_core::Error) -> Option<&RawResponse> {
    match error.kind() {
        CoreKind::HttpResponse { raw_response, .. } => raw_response.as_deref(),
        _ => None,
    }
}

/// The innermost cause that quotes no address: addresses hold keys of entities and shared access signatures.
fn cause(error: &azure_core::Error) -> Option<String> {
    let mut causes = Vec::new();
    let mut next = error.source();
    while let Some(error) = next {
        causes.push(error.to_string());
        next = error.source();
    }
    causes.into_iter().rev().find(|text| !text.contains("://"))
}

/// An answer whose status is no success.
pub(crate) fn of_answer(call: &Call<'_>, status: StatusCode, headers: &Headers, body: &[u8]) -> Error {
    let code = headers.get_optional_string(&ERROR_CODE).or_else(|| code_of_body(body));
    let error = of_status(call, status, code.as_deref()).with_service(code, headers.get_optional_string(&REQUEST_ID));
    match retry_after(|name| headers.get_optional_str(&HeaderName::from_static(name))) {
        Some(wait) => error.with_retry_after(wait),
        None => error,
    }
}

/// What a status and a code say.
pub(crate) fn of_status(call: &Call<'_>, status: StatusCode, code: Option<&str>) -> Error {
    let (kind, message) = kind_of(call, u16::from(status), code.unwrap_or_default());
    let error = Error::new(kind, message);
    match u16::from(status) {
        // A redirect stays one however often it is asked for.
        300..=399 => error.with_retryable(false),
        // The service began, and may have finished.
        408 | 500.. if kind == ErrorKind::Unavailable => error.with_outcome_unknown(call.has_effect),
        _ => error,
    }
}

fn kind_of(call: &Call<'_>, status: u16, code: &str) -> (ErrorKind, &'static str) {
    use ErrorKind as K;
    match (status, code) {
        (_, "TableNotFound") => (K::TableNotFound, "create the table first"),
        (_, "QueueNotFound") => (K::QueueNotFound, "create the queue first"),
        (_, "MessageNotFound" | "PopReceiptMismatch") => {
            (K::PreconditionFailed, "the message was received again, updated, deleted or has expired since; let it go")
        }
        (_, "TableBeingDeleted" | "QueueBeingDeleted" | "ContainerBeingDeleted") => {
            (K::Busy, "the one of the same name is still being deleted; try again later")
        }
        (404, _) => not_found(call.subject),
        (_, "EntityAlreadyExists") => (K::AlreadyExists, "an entity with this key is there already"),
        (_, "TableAlreadyExists" | "QueueAlreadyExists" | "ContainerAlreadyExists") => {
            (K::AlreadyExists, "it is there already")
        }
        (412, _) => (K::PreconditionFailed, "read the entity again and repeat the change"),
        (413, _)
        | (
            _,
            "EntityTooLarge"
            | "PropertyValueTooLarge"
            | "RequestBodyTooLarge"
            | "TooManyProperties"
            | "PropertyNameTooLong"
            | "KeyValueTooLarge"
            | "ContentLengthExceeded"
            | "MessageTooLarge",
        ) => (K::LimitExceeded, "the service refuses this as too large"),
        (414, _) => (K::InvalidQuery, "the filter and selection are too long for an address; shorten or split them"),
        (_, "PropertyNameInvalid") => (K::InvalidName, "the service refuses a property's name"),
        (_, "InvalidDuplicateRow" | "CommandsInBatchActOnDifferentPartitions" | "KeyValueInvalid") => {
            (K::InvalidKey, "the service refuses these keys")
        }
        (401 | 403, _) => (K::PermissionDenied, "the credential is wrong, has expired or does not allow this"),
        (429, _) | (503, "ServerBusy" | "TooManyRequests") => (K::Throttled, "the service asks to slow down"),
        (408 | 500 | 502..=504, _) => (K::Unavailable, "the service failed or took too long"),
        (501, _) => (K::Unsupported, "the service does not do this"),
        (300..=399, _) => (
            K::Unavailable,
            "the endpoint redirects elsewhere, and credentials are not sent there; use the address of the service itself",
        ),
        (409, _) => (K::Contention, "the service refuses this in its present state"),
        (400..=499, _) if call.subject == Subject::Query => (K::InvalidQuery, "the service refuses the query"),
        (400..=499, _) => (K::InvalidValue, "the service refuses the request"),
        _ => (K::Unavailable, "the service answered with a status that is not expected"),
    }
}

const fn not_found(subject: Subject) -> (ErrorKind, &'static str) {
    match subject {
        Subject::Table => (ErrorKind::TableNotFound, "there is no such table"),
        Subject::Queue => (ErrorKind::QueueNotFound, "create the queue first"),
        Subject::Message => (ErrorKind::PreconditionFailed, "there is no such message any more"),
        Subject::Container => (ErrorKind::NotFound, "create the container first"),
        Subject::Entity | Subject::Query => (ErrorKind::NotFound, "there is no such entity"),
    }
}

/// The code in a body of JSON or XML.
fn code_of_body(body: &[u8]) -> Option<String> {
    json_error(body).map(|error| error.code).or_else(|| {
        let error: XmlError = azure_core::xml::from_xml(body).ok()?;
        Some(error.code)
    })
}

/// The error of the table service in a JSON body.
pub(crate) fn json_error(body: &[u8]) -> Option<JsonError> {
    serde_json::from_slice::<JsonBody>(body).ok().map(|body| body.error)
}

#[derive(Deserialize)]
struct JsonBody {
    #[serde(rename = "odata.error", alias = "error")]
    error: JsonError,
}

#[derive(Deserialize)]
pub(crate) struct JsonError {
    pub(crate) code: String,
    #[serde(default)]
    message: JsonMessage,
}

/// Tables wrap their message with its language, Cosmos DB does not always.
#[derive(Deserialize)]
#[serde(untagged)]
enum JsonMessage {
    Localized { value: String },
    Plain(String),
}

impl Default for JsonMessage {
    fn default() -> Self {
        Self::Plain(String::new())
    }
}

impl JsonError {
    /// The position of the operation that failed a transaction, with which its message begins.
    pub(crate) fn operation_index(&self) -> Option<usize> {
        let (JsonMessage::Localized { value } | JsonMessage::Plain(value)) = &self.message;
        value.split_once(':')?.0.parse().ok()
    }
}

#[derive(Deserialize)]
struct XmlError {
    #[serde(rename = "Code")]
    code: String,
}

/// How long the service asks to wait: in milliseconds, in seconds, or until a time. Takes how to look at a header.
pub(crate) fn retry_after<'a>(header: impl Fn(&'static str) -> Option<&'a str>) -> Option<Duration> {
    let number = |name| header(name)?.trim().parse::<u64>().ok();
    if let Some(millis) = number("x-ms-retry-after-ms").or_else(|| number("retry-after-ms")) {
        return Some(Duration::from_millis(millis));
    }
    if let Some(seconds) = number("retry-after") {
        return Some(Duration::from_secs(seconds));
    }
    let until = parse_rfc7231(header("retry-after")?).ok()?;
    Duration::try_from(until - OffsetDateTime::now_utc()).ok()
}

#[cfg(test)]
mod tests;
