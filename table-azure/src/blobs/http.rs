//! The account's connections as `object_store` uses them.

use std::time::Duration;

use async_trait::async_trait;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};

use crate::failure;

/// Gives `object_store` the account's pool of connections, which follows no redirect.
#[derive(Debug)]
pub(super) struct Connector {
    pub(super) client: reqwest::Client,
    /// A service that asks for a longer wait is not waited for.
    pub(super) longest_wait: Duration,
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Guard { client: self.client.clone(), longest_wait: self.longest_wait }))
    }
}

/// Adds to the retries of `object_store` what they lack.
///
/// A conditional write that may have happened is not repeated: the repetition would meet its own first attempt, and be
/// refused for it. And a service that asks for time is given it before the answer is handed on.
#[derive(Debug)]
struct Guard {
    client: reqwest::Client,
    longest_wait: Duration,
}

#[async_trait]
impl HttpService for Guard {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let conditional = is_conditional_write(&request);
        let answer = HttpService::call(&self.client, request).await;
        if let Some(wait) = answer.as_ref().ok().and_then(asked_wait).filter(|wait| *wait <= self.longest_wait) {
            tokio::time::sleep(wait).await;
        }
        if !conditional {
            return answer;
        }
        match answer {
            Ok(answer) if answer.status().is_server_error() && !is_busy(&answer) => {
                Err(lost(std::io::Error::other(format!("the service answered with {}", answer.status()))))
            }
            Err(error) if error.kind() != HttpErrorKind::Connect => Err(lost(error)),
            answer => answer,
        }
    }
}

/// An answer that was lost after the request was sent, which only an idempotent request is repeated after.
fn lost(cause: impl std::error::Error + Send + Sync + 'static) -> HttpError {
    HttpError::new(HttpErrorKind::Interrupted, cause)
}

fn is_conditional_write(request: &HttpRequest) -> bool {
    let conditional = ["if-match", "if-none-match"].iter().any(|name| request.headers().contains_key(*name));
    conditional && !request.method().is_safe()
}

/// Whether the service refused to begin.
fn is_busy(answer: &HttpResponse) -> bool {
    answer.headers().get("x-ms-error-code").is_some_and(|code| code == "ServerBusy")
}

/// How long a service that refused for now asks to be left alone.
fn asked_wait(answer: &HttpResponse) -> Option<Duration> {
    if !matches!(answer.status().as_u16(), 429 | 503) {
        return None;
    }
    failure::retry_after(|name| answer.headers().get(name)?.to_str().ok())
}
