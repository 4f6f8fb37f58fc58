//! Cosmos DB for Table: what it would refuse is not sent, and what it names otherwise is.

use table_azure::{AzureAccount, Credential};
use table_core::{
    Action, DynamicEntity, Entity, EntityKey, ErrorKind, Operation, Table, TableStore, Timestamp, Transaction,
};
use table_patterns::log_tail::LogTail;

use crate::server::{Reply, Server};
use crate::{options, row, staff};

fn cosmos(server: &Server) -> AzureAccount {
    let credential = Credential::shared_key("contoso", "c2VjcmV0").unwrap();
    options().with_cosmos(true).open(&server.url(), credential).unwrap()
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{employee:06}", row = "{at:desc}_{id:06}")]
struct Claim {
    employee: u32,
    at: Timestamp,
    id: u32,
}

#[tokio::test]
async fn a_pattern_that_needs_order_refuses() {
    let server = Server::start([Reply::new(204)]).await;
    let table = Table::new(cosmos(&server).tables(), "Claims").unwrap();
    let error = LogTail::<Claim>::new(table, Claim::range(123)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("a log tail needs results in key order"), "{error}");
}

#[tokio::test]
async fn what_it_would_refuse_is_not_sent() {
    let server = Server::start([Reply::written("W/\"1\"")]).await;
    let tables = cosmos(&server).tables();
    let insert = |row: DynamicEntity| Operation::new(Action::Insert(row)).unwrap();
    let long = DynamicEntity::new(EntityKey::parse("p", &"x".repeat(256)).unwrap());
    let error = tables.write(&staff(), insert(long.clone())).await.unwrap_err();
    assert_eq!((error.kind(), error.key()), (ErrorKind::LimitExceeded, Some(&long.key)));
    let error = tables.write(&staff(), insert(row().with("etag", 1).unwrap())).await.unwrap_err();
    assert_eq!((error.kind(), error.property()), (ErrorKind::InvalidName, Some("etag")));
    let transaction = Transaction::new(vec![insert(row().with("rid", 1).unwrap())]).unwrap();
    let error = tables.transact(&staff(), transaction).await.unwrap_err();
    assert_eq!((error.kind(), error.operation_index()), (ErrorKind::InvalidName, Some(0)));
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_merge_has_the_name_that_it_knows() {
    let server = Server::start([Reply::written("W/\"1\"")]).await;
    let merge = Operation::new(Action::InsertOrMerge(row())).unwrap();
    cosmos(&server).tables().write(&staff(), merge).await.unwrap();
    let seen = &server.seen()[0];
    assert!(seen.head.starts_with("POST /Staff(PartitionKey='Sales',RowKey='00001') HTTP/1.1\r\n"), "{}", seen.head);
    assert_eq!(seen.header("x-http-method"), Some("MERGE"));
}

#[tokio::test]
async fn an_endpoint_is_recognized_by_its_name() {
    let credential = || Credential::shared_key("contoso", "c2VjcmV0").unwrap();
    let account = AzureAccount::new("https://contoso.table.cosmos.azure.com", credential()).unwrap();
    assert!(!account.tables().capabilities().ordered);
    let storage = AzureAccount::new("https://contoso.table.core.windows.net", credential()).unwrap();
    assert!(storage.tables().capabilities().ordered);
    let named = AzureAccount::cosmos("https://tables.contoso.example", credential()).unwrap();
    assert!(!named.tables().capabilities().ordered);
}
