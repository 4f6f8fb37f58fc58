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
    pub(super) fn new(credential: &Credential) -> Result<Self> {
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
    use std::sync::atomic::{AtomicUsize, Ordering};

    use azure_core::credentials::{AccessToken, TokenRequestOptions};

    use super::*;

    #[test]
    fn nothing_of_a_credential_is_shown() {
        for credential in [Credential::shared_key("contoso", "c2VjcmV0"), Credential::sas("sv=1&sig=hidden")] {
            let credentials = Credentials::new(&credential.unwrap()).unwrap();
            assert_eq!(format!("{credentials:?}"), "Credentials");
        }
    }

    /// Gives tokens that live for a while, and counts them.
    #[derive(Debug)]
    struct Tokens {
        life: Duration,
        given: AtomicUsize,
    }

    #[async_trait]
    impl TokenCredential for Tokens {
        async fn get_token(&self, _: &[&str], _: Option<TokenRequestOptions<'_>>) -> azure_core::Result<AccessToken> {
            let number = self.given.fetch_add(1, Ordering::SeqCst);
            Ok(AccessToken::new(format!("token-{number}"), OffsetDateTime::now_utc() + self.life))
        }
    }

    async fn two_tokens(life: Duration) -> [Arc<AzureCredential>; 2] {
        let tokens = Arc::new(Tokens { life, given: AtomicUsize::new(0) });
        let credentials = Credentials::new(&Credential::token(tokens)).unwrap();
        [credentials.get_credential().await.unwrap(), credentials.get_credential().await.unwrap()]
    }

    #[tokio::test]
    async fn a_token_is_used_until_it_is_about_to_end() {
        let token = |number: usize| AzureCredential::BearerToken(format!("token-{number}"));
        assert_eq!(two_tokens(Duration::hours(1)).await.map(|each| *each == token(0)), [true, true]);
        assert_eq!(two_tokens(Duration::minutes(4)).await.map(|each| *each == token(1)), [false, true]);
    }
}
