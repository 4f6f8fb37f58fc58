//! Who asks: an account key, a shared access signature, or a token of Microsoft Entra ID.

use std::fmt;
use std::sync::Arc;

use azure_core::credentials::TokenCredential;
use azure_core::http::policies::Policy;
use azure_core::http::policies::auth::BearerTokenAuthorizationPolicy;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use table_core::{Error, ErrorKind, Result};

use crate::secret::{Secret, SecretBytes};
use crate::sign::{AccountKey, AppendSas, Scheme, SignRequests};

/// What a request proves its right with. It never shows a secret, and wipes those that it holds.
///
/// ```
/// use table_azure::Credential;
///
/// let key = Credential::shared_key("contoso", "c2VjcmV0")?;
/// assert_eq!(format!("{key:?}"), r#"SharedKey { account: "contoso" }"#);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Credential(Form);

#[derive(Clone)]
pub(crate) enum Form {
    SharedKey(AccountKey),
    Sas(Secret),
    Token(Arc<dyn TokenCredential>),
}

impl Credential {
    /// The key of a storage account, in base64 as the portal shows it.
    ///
    /// # Errors
    /// [`PermissionDenied`](ErrorKind::PermissionDenied) for an empty name or a key that is not base64.
    pub fn shared_key(account: &str, key: &str) -> Result<Self> {
        if account.is_empty() {
            return Err(refused("an account key needs the name of its account"));
        }
        // The cause would quote a byte of the key.
        let key = STANDARD.decode(key.trim()).map_err(|_| refused("an account key is base64; copy the whole of it"))?;
        if key.is_empty() {
            return Err(refused("the account key is empty"));
        }
        Ok(Self(Form::SharedKey(AccountKey { account: account.to_owned(), key: SecretBytes::new(key) })))
    }

    /// A shared access signature: `sv=...&sig=...`, with or without a question mark before it.
    ///
    /// # Errors
    /// [`PermissionDenied`](ErrorKind::PermissionDenied) for a text that is no such signature.
    pub fn sas(token: &str) -> Result<Self> {
        let token = token.trim();
        let token = token.strip_prefix('?').unwrap_or(token);
        let signed = token.split('&').any(|pair| pair.strip_prefix("sig=").is_some_and(|sig| !sig.is_empty()));
        if !signed || !token.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
            return Err(refused("a shared access signature looks like `sv=...&sig=...`; copy the whole of it"));
        }
        Ok(Self(Form::Sas(Secret::new(token))))
    }

    /// Any credential that gives tokens of Microsoft Entra ID. It asks for an `https` endpoint.
    #[must_use]
    pub fn token(credential: Arc<dyn TokenCredential>) -> Self {
        Self(Form::Token(credential))
    }

    pub(crate) const fn is_token(&self) -> bool {
        matches!(self.0, Form::Token(_))
    }

    pub(crate) const fn form(&self) -> &Form {
        &self.0
    }

    /// The policy that authorizes the requests of a pipeline.
    pub(crate) fn policy(&self, scheme: Scheme, scope: &str) -> Arc<dyn Policy> {
        match &self.0 {
            Form::SharedKey(key) => Arc::new(SignRequests { key: key.clone(), scheme }),
            Form::Sas(signature) => Arc::new(AppendSas { signature: signature.clone() }),
            Form::Token(credential) => Arc::new(BearerTokenAuthorizationPolicy::new(credential.clone(), [scope])),
        }
    }
}

#[cfg(feature = "identity")]
impl Credential {
    /// What the developer tools of this machine are signed in with: the Azure CLI or the Azure Developer CLI.
    ///
    /// # Errors
    /// [`PermissionDenied`](ErrorKind::PermissionDenied) where none can be used.
    pub fn developer_tools() -> Result<Self> {
        let credential = azure_identity::DeveloperToolsCredential::new(None).map_err(no_identity)?;
        Ok(Self::token(credential))
    }

    /// The identity that Azure gives to the machine, container or app that this runs in.
    ///
    /// # Errors
    /// [`PermissionDenied`](ErrorKind::PermissionDenied) where there is none.
    pub fn managed_identity() -> Result<Self> {
        let credential = azure_identity::ManagedIdentityCredential::new(None).map_err(no_identity)?;
        Ok(Self::token(credential))
    }
}

#[cfg(feature = "identity")]
fn no_identity(error: azure_core::Error) -> Error {
    refused("no such identity can be used here").with_source(error)
}

impl From<Arc<dyn TokenCredential>> for Credential {
    fn from(credential: Arc<dyn TokenCredential>) -> Self {
        Self::token(credential)
    }
}

pub(crate) fn refused(message: &str) -> Error {
    Error::new(ErrorKind::PermissionDenied, message)
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::SharedKey(key) => f.debug_struct("SharedKey").field("account", &key.account).finish(),
            Form::Sas(_) => f.write_str("SharedAccessSignature"),
            Form::Token(_) => f.write_str("Token"),
        }
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use azure_core::credentials::{AccessToken, TokenRequestOptions};
    use azure_core::http::headers::{AUTHORIZATION, Headers};
    use azure_core::http::policies::PolicyResult;
    use azure_core::http::{AsyncRawResponse, Context, Method, Request, StatusCode};
    use azure_core::time::OffsetDateTime;

    use super::*;
    use crate::account::AzureAccount;

    #[test]
    fn what_is_no_key_is_refused_without_showing_it() {
        for key in ["", "not base64 at all!", "SECRET*"] {
            let error = Credential::shared_key("contoso", key).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::PermissionDenied);
            assert!(key.is_empty() || !format!("{error} {error:?}").contains(key), "{error:?}");
        }
        assert!(Credential::shared_key("", "c2VjcmV0").is_err());
    }

    #[test]
    fn a_signature_is_taken_with_its_question_mark_or_without() {
        for token in ["?sv=2024-11-04&sig=abc%3D", "sv=2024-11-04&sig=abc%3D", " sig=x&sv=1 "] {
            assert!(Credential::sas(token).is_ok(), "{token}");
        }
    }

    #[test]
    fn what_is_no_signature_is_refused_without_showing_it() {
        for token in ["", "sv=hidden", "sig=", "sig=hidden hidden&sv=1", "sig=hidden#", "sv=1&xsig=hidden"] {
            let error = Credential::sas(token).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("hidden"), "{error:?}");
        }
    }

    /// Gives always the same token.
    #[derive(Debug)]
    struct Fixed;

    #[async_trait]
    impl TokenCredential for Fixed {
        async fn get_token(
            &self,
            scopes: &[&str],
            _: Option<TokenRequestOptions<'_>>,
        ) -> azure_core::Result<AccessToken> {
            let hour = OffsetDateTime::now_utc() + azure_core::time::Duration::hours(1);
            Ok(AccessToken::new(format!("token-for-{}", scopes.join(" ")), hour))
        }
    }

    /// Answers what a request was authorized with.
    #[derive(Debug)]
    struct Echo;

    #[async_trait]
    #[expect(elided_lifetimes_in_paths, reason = "the trait leaves the lifetime of a context out, and so must we")]
    impl Policy for Echo {
        async fn send(&self, _: &Context, request: &mut Request, _: &[Arc<dyn Policy>]) -> PolicyResult {
            let seen = request.headers().get_optional_string(&AUTHORIZATION).unwrap_or_default();
            Ok(AsyncRawResponse::from_bytes(StatusCode::Ok, Headers::new(), seen.into_bytes()))
        }
    }

    #[tokio::test]
    async fn a_token_is_asked_for_and_sent() {
        let credential = Credential::from(Arc::new(Fixed) as Arc<dyn TokenCredential>);
        let policy = credential.policy(Scheme::SharedKey, "scope");
        let mut request = Request::new("https://contoso.table.core.windows.net/".parse().unwrap(), Method::Get);
        let answer = policy.send(&Context::new(), &mut request, &[Arc::new(Echo)]).await.unwrap();
        let answer = answer.try_into_raw_response().await.unwrap();
        assert_eq!(answer.body().as_ref(), b"Bearer token-for-scope");
    }

    #[test]
    fn a_token_is_not_sent_in_the_clear() {
        let error = AzureAccount::new("http://127.0.0.1:10002/devstoreaccount1", Credential::token(Arc::new(Fixed)))
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    }

    #[test]
    fn no_form_shows_a_secret() {
        let key = format!("{:?}", Credential::shared_key("contoso", "c2VjcmV0").unwrap());
        assert_eq!(key, r#"SharedKey { account: "contoso" }"#);
        assert_eq!(format!("{:?}", Credential::sas("sv=1&sig=hidden").unwrap()), "SharedAccessSignature");
    }
}
