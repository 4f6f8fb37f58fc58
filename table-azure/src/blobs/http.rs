//! The account's connections as `object_store` uses them.

use async_trait::async_trait;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};

/// Gives `object_store` the account's pool of connections, which follows no redirect.
#[derive(Debug)]
pub(super) struct Connector(pub(super) reqwest::Client);

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(OnceIfConditional(self.0.clone())))
    }
}

/// Keeps `object_store` from repeating a conditional write that may have happened: the repetition would meet its own
/// first attempt, and be refused for it.
#[derive(Debug)]
struct OnceIfConditional(reqwest::Client);

#[async_trait]
impl HttpService for OnceIfConditional {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let conditional = is_conditional_write(&request);
        let answer = HttpService::call(&self.0, request).await;
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
