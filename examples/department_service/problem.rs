//! What goes wrong, as an HTTP answer: a status, and a JSON body that says what to do.

use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use table_core::{Error, ErrorKind};

/// An answer that is not the one that was asked for.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    message: String,
    retry_after_seconds: Option<u64>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), retry_after_seconds: None }
    }
}

/// The one place where kinds of errors become statuses.
fn status(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::AlreadyExists => StatusCode::CONFLICT,
        ErrorKind::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
        ErrorKind::InvalidKey | ErrorKind::InvalidName | ErrorKind::InvalidValue | ErrorKind::InvalidQuery => {
            StatusCode::BAD_REQUEST
        }
        ErrorKind::LimitExceeded => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorKind::Throttled | ErrorKind::Unavailable | ErrorKind::Busy | ErrorKind::Contention => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let status = status(error.kind());
        // Our own mistakes are for the log, and not for the caller.
        let message = match () {
            () if error.outcome_unknown() => "the change may have been made; read before you try again".to_owned(),
            () if status == StatusCode::INTERNAL_SERVER_ERROR => "something is wrong here".to_owned(),
            () if status == StatusCode::SERVICE_UNAVAILABLE => "try again in a moment".to_owned(),
            () => error.message().to_owned(),
        };
        if status.is_server_error() {
            log(&error);
        }
        let retry_after_seconds = (status == StatusCode::SERVICE_UNAVAILABLE)
            .then(|| error.retry_after().map_or(1, |wait| wait.as_secs().max(1)));
        Self { status, message, retry_after_seconds }
    }
}

#[expect(clippy::print_stderr, reason = "standard error is the log of this program")]
fn log(error: &Error) {
    eprintln!("{error}");
}

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        Self::new(rejection.status(), rejection.body_text())
    }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        Self::new(rejection.status(), rejection.body_text())
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Self::new(rejection.status(), rejection.body_text())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = Json(json!({ "status": self.status.as_u16(), "message": self.message }));
        let mut response = (self.status, body).into_response();
        if let Some(seconds) = self.retry_after_seconds {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}
