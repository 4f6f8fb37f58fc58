//! Authorization as policies of a pipeline. They run for every attempt, so that each has its own date.

#![expect(elided_lifetimes_in_paths, reason = "the trait leaves the lifetime of a context out, and so must we")]

use std::sync::Arc;

use async_trait::async_trait;
use azure_core::http::headers::{AUTHORIZATION, MS_DATE};
use azure_core::http::policies::{Policy, PolicyResult};
use azure_core::http::{Context, Request};
use azure_core::time::{OffsetDateTime, to_rfc7231};

use super::{AccountKey, Scheme, shared_key, shared_key_lite};
use crate::secret::Secret;

/// Signs each request with the account's key.
#[derive(Debug)]
pub(crate) struct SignRequests {
    pub(crate) key: AccountKey,
    pub(crate) scheme: Scheme,
}

impl SignRequests {
    fn sign(&self, request: &mut Request, date: &str) {
        request.insert_header(MS_DATE, date.to_owned());
        let text = match self.scheme {
            Scheme::SharedKey => shared_key::text_to_sign(&self.key.account, request),
            Scheme::SharedKeyLite => shared_key_lite::text_to_sign(&self.key.account, request.url(), date),
        };
        request.insert_header(AUTHORIZATION, self.key.authorization(self.scheme, &text));
    }
}

#[async_trait]
impl Policy for SignRequests {
    async fn send(&self, context: &Context, request: &mut Request, next: &[Arc<dyn Policy>]) -> PolicyResult {
        self.sign(request, &to_rfc7231(&OffsetDateTime::now_utc()));
        follow(context, request, next).await
    }
}

/// Adds a shared access signature to the query of each request.
#[derive(Debug)]
pub(crate) struct AppendSas {
    pub(crate) signature: Secret,
}

#[async_trait]
impl Policy for AppendSas {
    async fn send(&self, context: &Context, request: &mut Request, next: &[Arc<dyn Policy>]) -> PolicyResult {
        let query = match request.url().query() {
            Some(query) if !query.is_empty() => format!("{query}&{}", self.signature.reveal()),
            _ => self.signature.reveal().to_owned(),
        };
        request.url_mut().set_query(Some(&query));
        follow(context, request, next).await
    }
}

async fn follow(context: &Context<'_>, request: &mut Request, next: &[Arc<dyn Policy>]) -> PolicyResult {
    match next {
        [policy, rest @ ..] => policy.send(context, request, rest).await,
        [] => {
            Err(azure_core::Error::with_message(azure_core::error::ErrorKind::Other, "a pipeline ends in a transport"))
        }
    }
}
