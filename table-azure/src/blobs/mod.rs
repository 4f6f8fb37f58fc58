//! Blobs by `object_store`, with the account's own connections and credential.

mod credentials;
mod http;

use std::sync::Arc;

use azure_core::http::headers::VERSION;
use azure_core::http::{Context, Method, Pipeline, PipelineSendOptions, Request};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::{BackoffConfig, ObjectStore, RetryConfig};
use table_core::{Error, ErrorKind, QueueName, Result};

use crate::account::AzureAccount;
use crate::call::{Call, Subject};
use crate::endpoint::Service;
use crate::failure;
use credentials::Credentials;
use http::Connector;

/// The version of the blob service that is spoken when a container is created.
const SERVICE_VERSION: &str = "2021-12-02";

/// A container of blobs.
///
/// It makes the container, and opens it as an [`ObjectStore`], which is what patterns take.
///
/// ```
/// use table_azure::AzureAccount;
///
/// # async fn run() -> table_core::Result<()> {
/// let account = AzureAccount::from_connection_string("UseDevelopmentStorage=true")?;
/// let photos = account.blobs("photos");
/// photos.create_if_missing().await?;
/// let store = photos.open()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct BlobContainer {
    account: AzureAccount,
    name: String,
}

impl BlobContainer {
    pub(crate) fn new(account: &AzureAccount, name: &str) -> Self {
        Self { account: account.clone(), name: name.to_owned() }
    }

    /// The container's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Creates the container unless it is there, and says whether it did.
    ///
    /// # Errors
    /// [`InvalidName`](ErrorKind::InvalidName), and those of reaching the service.
    pub async fn create_if_missing(&self) -> Result<bool> {
        self.check_name()?;
        let created = self.account.options().retries.repeat(|| self.create()).await;
        match created {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn create(&self) -> Result<()> {
        let call = Call::change("create_container", Subject::Container).on(&self.name);
        let mut url = self.account.endpoint(Service::Blobs).map_err(|error| call.locate(error))?.at(&self.name);
        url.set_query(Some("restype=container"));
        let mut request = Request::new(url, Method::Put);
        request.insert_header(VERSION, SERVICE_VERSION);
        let options = self.account.client_options(Service::Blobs);
        let pipeline = Pipeline::new(
            option_env!("CARGO_PKG_NAME"),
            option_env!("CARGO_PKG_VERSION"),
            options,
            Vec::new(),
            Vec::new(),
            None,
        );
        let context = Context::new();
        let unchecked = PipelineSendOptions { skip_checks: true, ..PipelineSendOptions::default() };
        let work = pipeline.send(&context, &mut request, Some(unchecked));
        let answer = call.run(self.account.options().traced_keys, work).await?;
        if answer.status().is_success() {
            return Ok(());
        }
        Err(call.locate(failure::of_answer(&call, answer.status(), answer.headers(), answer.body())))
    }

    /// The blobs of the container. It is not asked whether the container is there.
    ///
    /// Requests are repeated by `object_store`, within the bounds of the account's options; a conditional write whose
    /// answer was lost is not, since it could meet itself.
    ///
    /// # Errors
    /// [`InvalidName`](ErrorKind::InvalidName), and [`Unsupported`](ErrorKind::Unsupported) for an account without blobs.
    pub fn open(&self) -> Result<Arc<dyn ObjectStore>> {
        self.check_name()?;
        let endpoint = self.account.endpoint(Service::Blobs)?;
        let retries = &self.account.options().retries;
        let store = MicrosoftAzureBuilder::new()
            .with_account(endpoint.account().unwrap_or_default())
            .with_endpoint(endpoint.as_str().to_owned())
            .with_container_name(&self.name)
            .with_credentials(Arc::new(Credentials::new(self.account.credential())?))
            .with_http_connector(Connector { client: self.account.client().clone(), longest_wait: retries.total })
            .with_retry(RetryConfig {
                max_retries: usize::try_from(retries.attempts.saturating_sub(1)).unwrap_or(usize::MAX),
                retry_timeout: retries.total,
                backoff: BackoffConfig {
                    init_backoff: retries.first_wait,
                    max_backoff: retries.longest_wait,
                    base: 2.0,
                },
            })
            .build()
            .map_err(|error| Error::unsupported("the blobs of this account cannot be opened").with_source(error))?;
        Ok(Arc::new(store))
    }

    /// Containers are named as queues are.
    fn check_name(&self) -> Result<()> {
        QueueName::new(&self.name).map(drop).map_err(|_| {
            Error::invalid_name(format!(
                "a container name has 3 to 63 lower-case letters, digits and single hyphens inside, which {:?} does not",
                self.name
            ))
        })
    }
}
