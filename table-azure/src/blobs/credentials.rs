//! The account's credential as `object_store` asks for it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use azure_core::credentials::TokenCredential;
use azure_core::time::{Duration, OffsetDateTime};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use object_store::azure::{AzureAccessKey, AzureCredential, split_sas};
use object_store::client::CredentialProvider;
use table_core::Result;
use zeroize::Zeroizing;

use crate::credential::{Credential, Form, refused};
use crate::endpoint::Endpoint;

const SCOPE: &str = "https://storage.azure.com/.default";
/// A token that ends sooner than this is exchanged, so that no request outlives it.
const TOKEN_MARGIN: Duration = Duration::minutes(5);

/// Gives `object_store` the account's credential, and shows nothing of it: its own types would show a key.
pub(super) struct Credentials(Source);

enum Source {
    Fixed(Arc<AzureCredential>),
    Token { credential: Arc<dyn TokenCredential>, last: Mutex<Option<(Arc<AzureCredential>, OffsetDateTime)>> },
}

impl Credentials {
    pub(super) fn new(credential: &Credential, endpoint: &Endpoint) -> Result<Self> {
        let fixed = match credential.form() {
            Form::SharedKey(key) => {
                let text = Zeroizing::new(STANDARD.encode(key.key.reveal()));
                AzureAccessKey::try_new(&text)
                    .map(AzureCredential::AccessKey)
                    .map_err(|_| refused("the key is not taken"))?
            }
            Form::Sas(signature) => split_sas(signature.reveal())
                .map(AzureCredential::SASToken)
                .map_err(|_| refused("the shared access signature is not taken"))?,
            Form::Token(_) if !endpoint.is_https() => return Err(refused("a token is sent over https alone")),
            Form::Token(credential) => {
                return Ok(Self(Source::Token { credential: credential.clone(), last: Mutex::new(None) }));
            }
        };
        Ok(Self(Source::Fixed(Arc::new(fixed))))
    }
}

#[async_trait]
impl CredentialProvider for Credentials {
    type Credential = AzureCredential;

    async fn get_credential(&self) -> object_store::Result<Arc<AzureCredential>> {
        let (credential, last) = match &self.0 {
            Source::Fixed(credential) => return Ok(credential.clone()),
            Source::Token { credential, last } => (credential, last),
        };
        let known = last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((token, ends)) = known
            && ends - OffsetDateTime::now_utc() > TOKEN_MARGIN
        {
            return Ok(token);
        }
        let fresh = credential
            .get_token(&[SCOPE], None)
            .await
            .map_err(|error| object_store::Error::Generic { store: "Azure", source: Box::new(error) })?;
        let token = Arc::new(AzureCredential::BearerToken(fresh.token.secret().to_owned()));
        *last.lock().unwrap_or_else(PoisonError::into_inner) = Some((token.clone(), fresh.expires_on));
        Ok(token)
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_credential_is_shown() {
        let endpoint = Endpoint::parse("https://contoso.blob.core.windows.net", false).unwrap();
        for credential in [Credential::shared_key("contoso", "c2VjcmV0"), Credential::sas("sv=1&sig=hidden")] {
            let credentials = Credentials::new(&credential.unwrap(), &endpoint).unwrap();
            assert_eq!(format!("{credentials:?}"), "Credentials");
        }
    }
}
