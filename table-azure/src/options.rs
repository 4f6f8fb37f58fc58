//! How an account is opened.

use std::time::Duration;

use table_core::layer::RetryOptions;
use table_core::{Error, Result};

use crate::account::AzureAccount;
use crate::connection_string;
use crate::credential::Credential;
use crate::endpoint::{Endpoint, Service};

/// The environment variable that Azure's tools keep a connection string in.
pub const CONNECTION_STRING_VARIABLE: &str = "AZURE_STORAGE_CONNECTION_STRING";

/// How an [`AzureAccount`] is opened and how its requests behave.
///
/// ```
/// use std::time::Duration;
/// use table_azure::AzureOptions;
/// use table_core::layer::RetryOptions;
///
/// let account = AzureOptions::new()
///     .with_request_timeout(Duration::from_secs(10))
///     .with_retries(RetryOptions::default().with_attempts(3))
///     .open_connection_string("UseDevelopmentStorage=true")?;
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct AzureOptions {
    pub(crate) retries: RetryOptions,
    pub(crate) request_timeout: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) plain_http: bool,
    pub(crate) traced_keys: bool,
    cosmos: bool,
}

impl Default for AzureOptions {
    fn default() -> Self {
        Self {
            retries: RetryOptions::default(),
            request_timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(10),
            plain_http: false,
            traced_keys: false,
            cosmos: false,
        }
    }
}

impl AzureOptions {
    /// The defaults: six attempts within a minute, each request within 30 seconds, `https` only.
    pub fn new() -> Self {
        Self::default()
    }

    /// How often and how long calls are repeated. One attempt means never.
    ///
    /// Tables and queues are repeated by [`Retry`](table_core::layer::Retry), which settles lost answers; blobs by
    /// `object_store` within the same bounds.
    pub const fn with_retries(mut self, retries: RetryOptions) -> Self {
        self.retries = retries;
        self
    }

    /// How long one request may take, its answer included.
    pub const fn with_request_timeout(mut self, timeout: Duration) -> Self {
        self.request_timeout = timeout;
        self
    }

    /// How long a connection may take to be made.
    pub const fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Allows plain `http` to other machines, which shows keys of entities, contents and a shared access
    /// signature to the whole network. To this machine it is always allowed.
    pub const fn with_plain_http(mut self, allowed: bool) -> Self {
        self.plain_http = allowed;
        self
    }

    /// Whether spans hold partition and row keys, which may be personal data; then the HTTP client's own
    /// events, which hold whole addresses, are let through too.
    pub const fn with_traced_keys(mut self, traced: bool) -> Self {
        self.traced_keys = traced;
        self
    }

    /// Takes the table endpoint for one of Cosmos DB, whatever its name.
    pub const fn with_cosmos(mut self, cosmos: bool) -> Self {
        self.cosmos = cosmos;
        self
    }

    /// Opens the account that a connection string names. No request is made yet.
    ///
    /// # Errors
    /// [`InvalidValue`](table_core::ErrorKind::InvalidValue) where the string or an endpoint in it is malformed,
    /// [`PermissionDenied`](table_core::ErrorKind::PermissionDenied) where it holds no credential. No error quotes it.
    pub fn open_connection_string(&self, text: &str) -> Result<AzureAccount> {
        let parsed = connection_string::parse(text, self.plain_http)?;
        AzureAccount::build(parsed.credential, parsed.endpoints, self.clone())
    }

    /// Opens the account that [`CONNECTION_STRING_VARIABLE`] names.
    ///
    /// # Errors
    /// As [`AzureOptions::open_connection_string`], and where the variable is not set.
    pub fn open_environment(&self) -> Result<AzureAccount> {
        self.open_variable(std::env::var(CONNECTION_STRING_VARIABLE).ok().as_deref())
    }

    fn open_variable(&self, value: Option<&str>) -> Result<AzureAccount> {
        let text = value.ok_or_else(|| {
            let variable = CONNECTION_STRING_VARIABLE;
            Error::invalid_value(format!("set the environment variable {variable} to a connection string"))
        })?;
        self.open_connection_string(text)
    }

    /// Opens an account by the endpoint of one of its services. Where the host names the service, as in
    /// `https://contoso.table.core.windows.net`, the other services are found beside it; an endpoint that names
    /// none is that of tables.
    ///
    /// # Errors
    /// [`InvalidValue`](table_core::ErrorKind::InvalidValue) for an endpoint that cannot be used.
    pub fn open(&self, endpoint: &str, credential: impl Into<Credential>) -> Result<AzureAccount> {
        let endpoint = Endpoint::parse(endpoint, self.plain_http)?;
        let endpoints = match endpoint.service() {
            Some(_) => Service::ALL.map(|service| endpoint.sibling(service)),
            None => [Some(endpoint), None, None],
        };
        AzureAccount::build(credential.into(), endpoints, self.clone())
    }

    pub(crate) const fn is_cosmos(&self) -> bool {
        self.cosmos
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_is_not_set_is_named() {
        let options = AzureOptions::new();
        assert!(options.open_variable(Some("UseDevelopmentStorage=true")).is_ok());
        let error = options.open_variable(None).unwrap_err();
        assert!(error.to_string().contains(CONNECTION_STRING_VARIABLE), "{error}");
    }

    #[test]
    fn plain_http_is_allowed_by_name_alone() {
        let text = "AccountName=a;AccountKey=c2VjcmV0;TableEndpoint=http://10.0.0.1/a";
        assert!(AzureOptions::new().open_connection_string(text).is_err());
        assert!(AzureOptions::new().with_plain_http(true).open_connection_string(text).is_ok());
    }
}
