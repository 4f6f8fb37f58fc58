//! Signing requests with an account key.
//!
//! Tables take the short form, [`shared_key_lite`]; queues and blobs the full one, [`shared_key`]. Both are
//! pure functions from a request to the text that is signed, so that published vectors can hold them.

mod policy;
mod shared_key;
mod shared_key_lite;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use sha2::Sha256;

pub(crate) use policy::{AppendSas, SignRequests};

use crate::secret::SecretBytes;

/// The name and the key of a storage account.
#[derive(Debug, Clone)]
pub(crate) struct AccountKey {
    pub(crate) account: String,
    pub(crate) key: SecretBytes,
}

/// Which text is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// What queues and blobs take.
    SharedKey,
    /// What tables take.
    SharedKeyLite,
}

impl Scheme {
    const fn as_str(self) -> &'static str {
        match self {
            Self::SharedKey => "SharedKey",
            Self::SharedKeyLite => "SharedKeyLite",
        }
    }
}

impl AccountKey {
    /// The value of the header `Authorization`.
    fn authorization(&self, scheme: Scheme, text: &str) -> String {
        format!("{} {}:{}", scheme.as_str(), self.account, signature(self.key.reveal(), text))
    }
}

/// HMAC-SHA256 of a text, in base64.
fn signature(key: &[u8], text: &str) -> String {
    #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length");
    mac.update(text.as_bytes());
    STANDARD.encode(mac.finalize().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_that_of_rfc_4231() {
        // Test case 2: key "Jefe", data "what do ya want for nothing?".
        let hex = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        let expected: Vec<u8> = (0..32).map(|at| u8::from_str_radix(&hex[at * 2..at * 2 + 2], 16).unwrap()).collect();
        assert_eq!(signature(b"Jefe", "what do ya want for nothing?"), STANDARD.encode(expected));
    }

    #[test]
    fn a_key_is_not_shown() {
        let key = AccountKey { account: "contoso".to_owned(), key: SecretBytes::new(b"hidden".to_vec()) };
        assert_eq!(format!("{key:?}"), r#"AccountKey { account: "contoso", key: [secret] }"#);
    }
}
