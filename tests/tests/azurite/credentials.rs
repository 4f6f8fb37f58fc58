use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use object_store::ObjectStoreExt;
use sha2::Sha256;
use table_azure::AzureAccount;
use table_core::store::SendOptions;
use table_core::{ErrorKind, QueueName, Table, TableName};
use table_tests::azurite;

use crate::fresh_name;

/// The settings of Azurite's connection string, with the credential left to the test.
fn settings() -> Option<(String, String)> {
    azurite::account()?;
    let text = std::env::var(azurite::VARIABLE).unwrap();
    let value = |name: &str| text.split(';').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')).unwrap();
    let endpoints = ["TableEndpoint", "QueueEndpoint", "BlobEndpoint"].map(|name| format!("{name}={}", value(name)));
    Some((endpoints.join(";"), value("AccountKey").to_owned()))
}

/// A signature that allows everything until the year 2100.
fn account_sas(key: &str) -> String {
    let (permissions, services, types, expiry, version) =
        ("rwdlacup", "btq", "sco", "2100-01-01T00:00:00Z", "2019-02-02");
    let text = format!("devstoreaccount1\n{permissions}\n{services}\n{types}\n\n{expiry}\n\n\n{version}\n");
    let mut mac = Hmac::<Sha256>::new_from_slice(&STANDARD.decode(key).unwrap()).unwrap();
    mac.update(text.as_bytes());
    let signature = STANDARD.encode(mac.finalize().into_bytes());
    let signature = signature.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
    format!("sv={version}&ss={services}&srt={types}&sp={permissions}&se={expiry}&sig={signature}").replace(':', "%3A")
}

#[tokio::test]
async fn a_wrong_key_is_permission_denied() {
    let Some((endpoints, _)) = settings() else { return };
    let wrong = STANDARD.encode("not the key");
    let account =
        AzureAccount::from_connection_string(&format!("AccountName=devstoreaccount1;AccountKey={wrong};{endpoints}"))
            .unwrap();
    let table = TableName::new(fresh_name()).unwrap();
    let error = account.tables().create_table(&table).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    assert!(error.service_code().is_some() && error.request_id().is_some(), "{error}");
    let queue = QueueName::new(fresh_name()).unwrap();
    let error = account.queues().create_queue(&queue).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    let error = account.blobs(&fresh_name()).create_if_missing().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
}

#[tokio::test]
async fn a_shared_access_signature_opens_every_service() {
    let Some((endpoints, key)) = settings() else { return };
    let text = format!("SharedAccessSignature={};{endpoints}", account_sas(&key));
    let account = AzureAccount::from_connection_string(&text).unwrap();
    let name = fresh_name();
    Table::new(account.tables(), &name).unwrap().create().await.unwrap();
    let queue = QueueName::new(&name).unwrap();
    account.queues().create_queue(&queue).await.unwrap();
    account.queues().send(&queue, "body".into(), SendOptions::default()).await.unwrap();
    let container = account.blobs(&name);
    assert!(container.create_if_missing().await.unwrap());
    let blobs = container.open().unwrap();
    blobs.put(&"a/b".into(), "body".into()).await.unwrap();
    assert_eq!(blobs.get(&"a/b".into()).await.unwrap().bytes().await.unwrap(), "body");
}

#[tokio::test]
async fn a_signature_that_is_wrong_is_denied_and_not_shown() {
    let Some((endpoints, key)) = settings() else { return };
    let text = format!("SharedAccessSignature={};{endpoints}", account_sas(&key).replace("sp=rwdlacup", "sp=rl"));
    let account = AzureAccount::from_connection_string(&text).unwrap();
    let error = account.tables().create_table(&TableName::new(fresh_name()).unwrap()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    let signature = text.split("sig=").nth(1).and_then(|rest| rest.split(';').next()).unwrap();
    assert!(!format!("{error} {error:?} {account:?}").contains(signature));
}
