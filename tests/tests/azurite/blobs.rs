use bytes::Bytes;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions};
use table_core::ErrorKind;
use table_tests::azurite;

use crate::fresh_name;

#[tokio::test]
async fn a_container_is_created_when_asked_for_and_keeps_blobs() {
    let Some(account) = azurite::account() else { return };
    let photos = account.blobs(&fresh_name());
    let store = photos.open().unwrap();
    let path = Path::from("2014/07/31/jo.jpg");
    assert!(store.put(&path, Bytes::from_static(b"jpeg").into()).await.is_err(), "there is no container yet");
    assert!(photos.create_if_missing().await.unwrap());
    assert!(!photos.create_if_missing().await.unwrap());

    store.put(&path, Bytes::from_static(b"jpeg").into()).await.unwrap();
    assert_eq!(store.get(&path).await.unwrap().bytes().await.unwrap(), "jpeg");
    let create = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
    let twice = store.put_opts(&path, Bytes::new().into(), create).await;
    assert!(matches!(twice, Err(Error::AlreadyExists { .. })), "{twice:?}");
    store.delete(&path).await.unwrap();
    assert!(matches!(store.get(&path).await, Err(Error::NotFound { .. })));
}

#[tokio::test]
async fn a_container_name_is_checked_before_anything_is_sent() {
    let Some(account) = azurite::account() else { return };
    for name in ["No", "UPPER", "a--b", "../other"] {
        let container = account.blobs(name);
        assert_eq!(container.create_if_missing().await.unwrap_err().kind(), ErrorKind::InvalidName, "{name}");
        assert_eq!(container.open().unwrap_err().kind(), ErrorKind::InvalidName, "{name}");
    }
}

#[tokio::test]
async fn a_store_of_blobs_does_not_show_its_key() {
    let Some(account) = azurite::account() else { return };
    let shown = format!("{:?} {account:?}", account.blobs("photos").open().unwrap());
    // The first bytes of Azurite's key, as object_store would show them.
    assert!(!shown.contains("17, 188, 188") && !shown.contains("Eby8vdM0"), "{shown}");
}
