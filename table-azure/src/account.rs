//! One account: its endpoints, its credential, and the way to its services.

use std::fmt;
use std::sync::Arc;

use azure_core::http::{ClientOptions, RetryOptions as CoreRetryOptions, Transport};
use table_core::layer::Retry;
use table_core::{Error, ErrorKind, QueueStore, Result, TableStore};

use crate::blobs::BlobContainer;
use crate::credential::{Credential, refused};
use crate::endpoint::{Endpoint, Service};
use crate::options::AzureOptions;
use crate::queues::AzureQueues;
use crate::sign::Scheme;
use crate::tables::AzureTables;

/// An account of Azure Storage, of Cosmos DB for Table, or of the emulator.
///
/// It is cheap to clone, and its services share one pool of connections. Nothing is sent before the first call.
///
/// ```
/// use table_azure::AzureAccount;
/// use table_core::Table;
///
/// # fn main() -> table_core::Result<()> {
/// let account = AzureAccount::from_connection_string("UseDevelopmentStorage=true")?;
/// let employees = Table::new(account.tables(), "Employees")?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct AzureAccount {
    shared: Arc<Shared>,
}

struct Shared {
    credential: Credential,
    /// One for each of [`Service::ALL`], where there is one.
    endpoints: [Option<Endpoint>; 3],
    options: AzureOptions,
    client: reqwest::Client,
}

impl AzureAccount {
    /// Opens the account that a connection string names: by `AccountName` and `AccountKey`, by
    /// `SharedAccessSignature`, with explicit endpoints (`TableEndpoint`, ...) or without, or by
    /// `UseDevelopmentStorage=true`.
    ///
    /// # Errors
    /// As [`AzureOptions::open_connection_string`].
    pub fn from_connection_string(text: &str) -> Result<Self> {
        AzureOptions::new().open_connection_string(text)
    }

    /// Opens the account that the environment variable `AZURE_STORAGE_CONNECTION_STRING` names.
    ///
    /// # Errors
    /// As [`AzureOptions::open_environment`].
    pub fn from_environment() -> Result<Self> {
        AzureOptions::new().open_environment()
    }

    /// Opens an account by the endpoint of one of its services, such as `https://contoso.table.core.windows.net`.
    ///
    /// # Errors
    /// As [`AzureOptions::open`].
    pub fn new(endpoint: &str, credential: impl Into<Credential>) -> Result<Self> {
        AzureOptions::new().open(endpoint, credential)
    }

    /// Opens an account of Cosmos DB for Table, whatever its endpoint is called. Endpoints of the form
    /// `https://contoso.table.cosmos.azure.com` are recognized without this.
    ///
    /// # Errors
    /// As [`AzureOptions::open`].
    pub fn cosmos(endpoint: &str, credential: impl Into<Credential>) -> Result<Self> {
        AzureOptions::new().with_cosmos(true).open(endpoint, credential)
    }

    pub(crate) fn build(
        credential: Credential,
        endpoints: [Option<Endpoint>; 3],
        options: AzureOptions,
    ) -> Result<Self> {
        if credential.is_token() && !endpoints.iter().flatten().all(Endpoint::is_https) {
            return Err(refused("a token is sent over https alone; use an account key, or an endpoint with https"));
        }
        let client = reqwest::Client::builder()
            .timeout(options.request_timeout)
            .connect_timeout(options.connect_timeout)
            // A redirect would carry credentials to wherever it points.
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .build()
            .map_err(|error| {
                Error::new(ErrorKind::Unsupported, "no HTTP client can be made here").with_source(error)
            })?;
        Ok(Self { shared: Arc::new(Shared { credential, endpoints, options, client }) })
    }

    /// The tables of the account. Calls are repeated as the options say, and lost answers settled.
    #[must_use]
    pub fn tables(&self) -> Arc<dyn TableStore> {
        Arc::new(Retry::with_options(self.bare_tables(), self.shared.options.retries.clone()))
    }

    /// The tables of the account, one request for each call and none repeated: to stand beneath layers of your own.
    ///
    /// ```
    /// use table_azure::AzureAccount;
    /// use table_core::layer::{Meter, Retry};
    ///
    /// let account = AzureAccount::from_connection_string("UseDevelopmentStorage=true")?;
    /// let billed = Meter::new(account.bare_tables());
    /// let store = Retry::new(billed.clone());
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[must_use]
    pub fn bare_tables(&self) -> AzureTables {
        AzureTables::new(self)
    }

    /// The queues of the account. Calls are repeated as the options say.
    #[must_use]
    pub fn queues(&self) -> Arc<dyn QueueStore> {
        Arc::new(Retry::with_options(self.bare_queues(), self.shared.options.retries.clone()))
    }

    /// The queues of the account, one request for each call and none repeated: to stand beneath layers of your own.
    #[must_use]
    pub fn bare_queues(&self) -> AzureQueues {
        AzureQueues::new(self)
    }

    /// A container of blobs of the account, which need not exist yet.
    #[must_use]
    pub fn blobs(&self, container: &str) -> BlobContainer {
        BlobContainer::new(self, container)
    }

    /// The endpoint of a service, or an error that says what to add.
    pub(crate) fn endpoint(&self, service: Service) -> Result<&Endpoint> {
        let [tables, queues, blobs] = &self.shared.endpoints;
        let endpoint = match service {
            Service::Tables => tables,
            Service::Queues => queues,
            Service::Blobs => blobs,
        };
        endpoint.as_ref().ok_or_else(|| {
            let setting = service.setting();
            Error::unsupported(format!(
                "the account has no {} endpoint; add {setting} to its connection string",
                service.label()
            ))
        })
    }

    pub(crate) fn options(&self) -> &AzureOptions {
        &self.shared.options
    }

    pub(crate) fn credential(&self) -> &Credential {
        &self.shared.credential
    }

    pub(crate) fn client(&self) -> &reqwest::Client {
        &self.shared.client
    }

    /// Whether the tables are those of Cosmos DB.
    pub(crate) fn is_cosmos(&self) -> bool {
        let named = || self.endpoint(Service::Tables).is_ok_and(Endpoint::is_cosmos);
        self.shared.options.is_cosmos() || named()
    }

    /// What the pipeline of a service is made of: no retries, since [`Retry`] does them all.
    pub(crate) fn client_options(&self, service: Service) -> ClientOptions {
        let (scheme, scope) = match service {
            Service::Tables if self.is_cosmos() => (Scheme::SharedKeyLite, "https://cosmos.azure.com/.default"),
            Service::Tables => (Scheme::SharedKeyLite, "https://storage.azure.com/.default"),
            Service::Queues | Service::Blobs => (Scheme::SharedKey, "https://storage.azure.com/.default"),
        };
        ClientOptions {
            per_try_policies: vec![self.shared.credential.policy(scheme, scope)],
            retry: CoreRetryOptions::none(),
            transport: Some(Transport::new(Arc::new(self.shared.client.clone()))),
            ..ClientOptions::default()
        }
    }
}

/// Shows where the account is, and nothing that is secret.
impl fmt::Debug for AzureAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("AzureAccount");
        for (service, endpoint) in Service::ALL.iter().zip(&self.shared.endpoints) {
            shown.field(service.label(), endpoint);
        }
        shown.field("credential", &self.shared.credential).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_shows_where_it_is_and_nothing_secret() {
        let text = "AccountName=contoso;AccountKey=c2VjcmV0;TableEndpoint=https://tables.contoso.example";
        let account = AzureAccount::from_connection_string(text).unwrap();
        let shown = format!("{account:?} {:?} {:?}", account.bare_tables(), account.bare_queues());
        assert!(shown.contains("https://tables.contoso.example") && shown.contains("contoso"), "{shown}");
        // The key as text, and as the bytes that it decodes to.
        assert!(!shown.contains("c2VjcmV0") && !shown.contains("115, 101, 99"), "{shown}");
    }

    #[test]
    fn a_service_without_an_endpoint_says_what_to_add() {
        let account =
            AzureAccount::new("http://127.0.0.1:7/a", Credential::shared_key("a", "c2VjcmV0").unwrap()).unwrap();
        assert!(account.endpoint(Service::Tables).is_ok());
        let error = account.blobs("photos").open().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("BlobEndpoint"), "{error}");
    }

    #[test]
    fn one_endpoint_leads_to_the_other_services() {
        let key = Credential::shared_key("contoso", "c2VjcmV0").unwrap();
        let account = AzureAccount::new("https://contoso.blob.core.windows.net", key).unwrap();
        let queues = account.endpoint(Service::Queues).unwrap();
        assert_eq!(queues.as_str(), "https://contoso.queue.core.windows.net");
        assert!(account.blobs("photos").open().is_ok());
    }
}
