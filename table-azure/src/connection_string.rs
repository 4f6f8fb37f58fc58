//! Connection strings, as every Azure SDK reads them: `name=value;name=value`.

use table_core::{Error, Result};

use crate::credential::{Credential, refused};
use crate::endpoint::{Endpoint, Service};

/// The emulator's account, its well-known key and the ports it listens on.
const EMULATOR_ACCOUNT: &str = "devstoreaccount1";
const EMULATOR_KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const EMULATOR_HOST: &str = "http://127.0.0.1";

/// What a connection string says.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) credential: Credential,
    /// One for each of [`Service::ALL`], where there is one.
    pub(crate) endpoints: [Option<Endpoint>; 3],
}

/// The settings of a connection string. Names are compared without case; unknown ones are left alone.
struct Settings<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Settings<'a> {
    fn parse(text: &'a str) -> Result<Self> {
        let mut settings: Vec<(&str, &str)> = Vec::new();
        for setting in text.split(';').map(str::trim).filter(|setting| !setting.is_empty()) {
            let Some((name, value)) = setting.split_once('=') else {
                return Err(malformed("a connection string is made of `name=value` pairs with `;` between them"));
            };
            let name = name.trim();
            if settings.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                return Err(malformed("a connection string has a setting twice; leave one out"));
            }
            settings.push((name, value.trim()));
        }
        Ok(Self(settings))
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        let found = self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| *value).filter(|value| !value.is_empty())
    }

    fn credential(&self) -> Result<Credential> {
        match (self.get("AccountName"), self.get("AccountKey"), self.get("SharedAccessSignature")) {
            (Some(account), Some(key), _) => Credential::shared_key(account, key),
            (_, None, Some(signature)) => Credential::sas(signature),
            _ => Err(refused(
                "the connection string needs AccountName and AccountKey, or SharedAccessSignature; copy the whole of it",
            )),
        }
    }

    fn endpoint(&self, service: Service, allow_http: bool) -> Result<Option<Endpoint>> {
        if let Some(text) = self.get(service.setting()) {
            return Endpoint::parse(text, allow_http).map(Some);
        }
        let Some(account) = self.get("AccountName") else {
            return Ok(None);
        };
        // One endpoint by name means that the others are not there, unless the string says where.
        let any_by_name = Service::ALL.iter().any(|other| self.get(other.setting()).is_some());
        if any_by_name && self.get("EndpointSuffix").is_none() {
            return Ok(None);
        }
        let protocol = self.get("DefaultEndpointsProtocol").unwrap_or("https");
        let suffix = self.get("EndpointSuffix").unwrap_or("core.windows.net");
        Endpoint::parse(&format!("{protocol}://{account}.{}.{suffix}", service.label()), allow_http).map(Some)
    }
}

/// Reads a connection string.
///
/// # Errors
/// `InvalidValue` where it is malformed, `PermissionDenied` where its credential is missing or no credential.
/// Neither quotes the string.
pub(crate) fn parse(text: &str, allow_http: bool) -> Result<Parsed> {
    let settings = Settings::parse(text)?;
    if settings.get("UseDevelopmentStorage").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return emulator(settings.get("DevelopmentStorageProxyUri").unwrap_or(EMULATOR_HOST), allow_http);
    }
    let credential = settings.credential()?;
    let [tables, queues, blobs] = Service::ALL.map(|service| settings.endpoint(service, allow_http));
    let endpoints = [tables?, queues?, blobs?];
    if endpoints.iter().all(Option::is_none) {
        return Err(malformed(
            "the connection string names no account and no endpoint; add AccountName or TableEndpoint",
        ));
    }
    Ok(Parsed { credential, endpoints })
}

fn emulator(host: &str, allow_http: bool) -> Result<Parsed> {
    let host = host.trim_end_matches('/');
    let endpoint = |port: u16| Endpoint::parse(&format!("{host}:{port}/{EMULATOR_ACCOUNT}"), allow_http);
    Ok(Parsed {
        credential: Credential::shared_key(EMULATOR_ACCOUNT, EMULATOR_KEY)?,
        endpoints: [Some(endpoint(10002)?), Some(endpoint(10001)?), Some(endpoint(10000)?)],
    })
}

fn malformed(message: &str) -> Error {
    Error::invalid_value(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use table_core::ErrorKind;

    fn endpoints(text: &str) -> [Option<String>; 3] {
        parse(text, false).unwrap().endpoints.map(|each| each.map(|endpoint| endpoint.as_str().to_owned()))
    }

    fn some(texts: [&str; 3]) -> [Option<String>; 3] {
        texts.map(|text| Some(text.to_owned()))
    }

    #[test]
    fn an_account_and_its_key_lead_to_all_services() {
        let text =
            "DefaultEndpointsProtocol=https;AccountName=contoso;AccountKey=c2VjcmV0;EndpointSuffix=core.windows.net";
        assert_eq!(
            endpoints(text),
            some([
                "https://contoso.table.core.windows.net",
                "https://contoso.queue.core.windows.net",
                "https://contoso.blob.core.windows.net"
            ])
        );
        let credential = parse(text, false).unwrap().credential;
        assert_eq!(format!("{credential:?}"), r#"SharedKey { account: "contoso" }"#);
    }

    #[test]
    fn other_clouds_have_other_suffixes() {
        let found = endpoints("accountname=contoso;ACCOUNTKEY=c2VjcmV0;EndpointSuffix=core.chinacloudapi.cn;");
        assert_eq!(found[0].as_deref(), Some("https://contoso.table.core.chinacloudapi.cn"));
    }

    #[test]
    fn explicit_endpoints_stand_alone() {
        let found = endpoints("AccountName=a;AccountKey=c2VjcmV0;TableEndpoint=http://127.0.0.1:7/a");
        assert_eq!(found, [Some("http://127.0.0.1:7/a".to_owned()), None, None]);
    }

    #[test]
    fn a_signature_needs_explicit_endpoints() {
        let text = "TableEndpoint=https://contoso.table.core.windows.net/;SharedAccessSignature=sv=2024&sig=a%3D";
        let parsed = parse(text, false).unwrap();
        assert_eq!(format!("{:?}", parsed.credential), "SharedAccessSignature");
        assert_eq!(endpoints(text)[0].as_deref(), Some("https://contoso.table.core.windows.net"));
        assert_eq!(parse("SharedAccessSignature=sv=2024&sig=a", false).unwrap_err().kind(), ErrorKind::InvalidValue);
    }

    #[test]
    fn development_storage_is_the_emulator() {
        let expected =
            ["10002", "10001", "10000"].map(|port| Some(format!("http://127.0.0.1:{port}/devstoreaccount1")));
        assert_eq!(endpoints("UseDevelopmentStorage=true"), expected);
        let proxied = endpoints("UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://localhost/");
        assert_eq!(proxied[0].as_deref(), Some("http://localhost:10002/devstoreaccount1"));
    }

    #[test]
    fn a_key_may_end_in_equals_signs() {
        assert!(parse("AccountName=a;AccountKey=c2VjcmV0cw==", false).is_ok());
    }

    #[test]
    fn what_cannot_be_read_is_refused_without_showing_it() {
        for (text, kind) in [
            ("hidden", ErrorKind::InvalidValue),
            ("", ErrorKind::PermissionDenied),
            ("AccountName=hidden", ErrorKind::PermissionDenied),
            ("AccountName=a;AccountKey=hidden*", ErrorKind::PermissionDenied),
            ("AccountName=a;AccountName=hidden;AccountKey=c2VjcmV0", ErrorKind::InvalidValue),
            ("AccountName=a;AccountKey=c2VjcmV0;TableEndpoint=hidden", ErrorKind::InvalidValue),
            ("DefaultEndpointsProtocol=http;AccountName=hidden;AccountKey=c2VjcmV0", ErrorKind::InvalidValue),
        ] {
            let error = parse(text, false).unwrap_err();
            assert_eq!(error.kind(), kind, "{text}: {error}");
            assert!(!format!("{error} {error:?}").contains("hidden"), "{error:?}");
        }
    }
}
