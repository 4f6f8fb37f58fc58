//! Where the services of an account are.
//!
//! The invariant: an endpoint is an `https` address, or an `http` address of this machine, unless the
//! caller asked for plain `http` by name. It has no query, so it holds no secret.

use std::fmt;
use std::net::IpAddr;

use azure_core::http::Url;
use table_core::{Error, Result};

/// One of the services of a storage account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    Tables,
    Queues,
    Blobs,
}

impl Service {
    pub(crate) const ALL: [Self; 3] = [Self::Tables, Self::Queues, Self::Blobs];

    /// The service's label in host names.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Tables => "table",
            Self::Queues => "queue",
            Self::Blobs => "blob",
        }
    }

    /// The setting of a connection string that names its endpoint.
    pub(crate) const fn setting(self) -> &'static str {
        match self {
            Self::Tables => "TableEndpoint",
            Self::Queues => "QueueEndpoint",
            Self::Blobs => "BlobEndpoint",
        }
    }

    fn of_label(label: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|service| service.label() == label)
    }
}

/// The address of one service of one account.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Endpoint(Url);

impl Endpoint {
    /// Checks an address. Errors never quote it, since it may hold a signature.
    pub(crate) fn parse(text: &str, allow_http: bool) -> Result<Self> {
        let url = Url::parse(text.trim()).map_err(|error| {
            Error::invalid_value("an endpoint looks like https://contoso.table.core.windows.net").with_source(error)
        })?;
        let has_secret = url.query().is_some() || url.fragment().is_some() || !url.username().is_empty();
        if has_secret || url.password().is_some() {
            return Err(Error::invalid_value(
                "an endpoint is an address alone; give a shared access signature as a credential",
            ));
        }
        match url.scheme() {
            "https" => {}
            "http" if allow_http || is_loopback(&url) => {}
            "http" => {
                return Err(Error::invalid_value(
                    "plain http reaches only this machine, since it shows everything to the network; use https, or allow it by name with `with_plain_http`",
                ));
            }
            _ => return Err(Error::invalid_value("an endpoint is an https address")),
        }
        Ok(Self(url))
    }

    /// The address of something below the endpoint. The path must be percent-encoded already.
    pub(crate) fn at(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        url.set_path(&format!("{}/{path}", self.0.path().trim_end_matches('/')));
        url
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str().trim_end_matches('/')
    }

    pub(crate) fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The name of the account: the first path segment of an address by number or of this machine,
    /// else the first label of the host.
    pub(crate) fn account(&self) -> Option<&str> {
        let host = self.0.host_str()?;
        let first = if ip_of(host).is_some() || is_localhost(host) {
            self.0.path_segments()?.next()?
        } else {
            host.split('.').next()?
        };
        let first = first.strip_suffix("-secondary").unwrap_or(first);
        (!first.is_empty()).then_some(first)
    }

    /// Whether this is a table endpoint of Cosmos DB.
    pub(crate) fn is_cosmos(&self) -> bool {
        self.0.host_str().is_some_and(|host| host.contains(".table.cosmos."))
    }

    /// The service that the host's labels name.
    pub(crate) fn service(&self) -> Option<Service> {
        self.0.host_str()?.split('.').find_map(Service::of_label)
    }

    /// The same account's endpoint of another service, where the host's labels name the service.
    pub(crate) fn sibling(&self, service: Service) -> Option<Self> {
        if self.is_cosmos() {
            return (service == Service::Tables).then(|| self.clone());
        }
        let own = self.service()?;
        let host = self.0.host_str()?;
        let labels = host.split('.').map(|label| if label == own.label() { service.label() } else { label });
        let host = labels.collect::<Vec<_>>().join(".");
        let mut url = self.0.clone();
        url.set_host(Some(&host)).ok()?;
        Some(Self(url))
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

fn ip_of(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

fn is_localhost(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost")
}

fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(|host| is_localhost(host) || ip_of(host).is_some_and(|ip| ip.is_loopback()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(text: &str) -> Endpoint {
        Endpoint::parse(text, false).unwrap()
    }

    #[test]
    fn plain_http_reaches_this_machine_only() {
        for near in ["http://127.0.0.1:10002/devstoreaccount1", "http://localhost:1/a", "http://[::1]:10002/a"] {
            assert!(Endpoint::parse(near, false).is_ok(), "{near}");
        }
        for far in ["http://contoso.table.core.windows.net", "http://10.0.0.1/a", "http://localhost.example.com/a"] {
            let error = Endpoint::parse(far, false).unwrap_err();
            assert!(error.to_string().contains("with_plain_http"), "{error}");
            assert!(Endpoint::parse(far, true).is_ok(), "{far}");
        }
    }

    #[test]
    fn an_address_that_holds_more_than_a_place_is_refused_without_showing_it() {
        for text in ["https://a.table.core.windows.net/?sig=hidden", "https://hidden@a.net", "https://a.net/#hidden"] {
            let error = Endpoint::parse(text, false).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("hidden"), "{error:?}");
        }
        assert!(Endpoint::parse("ftp://a.net", true).is_err());
        assert!(Endpoint::parse("contoso", true).is_err());
    }

    #[test]
    fn the_account_is_named_by_host_or_path() {
        for (text, account) in [
            ("https://contoso.table.core.windows.net/", Some("contoso")),
            ("https://contoso-secondary.table.core.windows.net/", Some("contoso")),
            ("https://contoso.z01.table.storage.azure.net", Some("contoso")),
            ("http://127.0.0.1:10002/devstoreaccount1", Some("devstoreaccount1")),
            ("http://localhost:10002/devstoreaccount1/", Some("devstoreaccount1")),
            ("http://127.0.0.1:10002", None),
        ] {
            assert_eq!(endpoint(text).account(), account, "{text}");
        }
    }

    #[test]
    fn services_are_siblings_where_the_host_names_them() {
        let tables = endpoint("https://contoso.z01.table.storage.azure.net");
        let queues = tables.sibling(Service::Queues).unwrap();
        assert_eq!(queues.as_str(), "https://contoso.z01.queue.storage.azure.net");
        assert_eq!(queues.sibling(Service::Tables).unwrap(), tables);
        assert_eq!(endpoint("http://127.0.0.1:10002/a").sibling(Service::Queues), None);
    }

    #[test]
    fn cosmos_has_tables_alone() {
        let cosmos = endpoint("https://contoso.table.cosmos.azure.com:443/");
        assert!(cosmos.is_cosmos() && cosmos.sibling(Service::Tables).is_some());
        assert_eq!(cosmos.sibling(Service::Queues), None);
        assert!(!endpoint("https://contoso.table.core.windows.net").is_cosmos());
    }

    #[test]
    fn paths_are_added_once() {
        assert_eq!(endpoint("https://a.net").at("Tables").as_str(), "https://a.net/Tables");
        assert_eq!(endpoint("http://localhost/dev/").at("Tables").as_str(), "http://localhost/dev/Tables");
    }
}
