use table_core::{Entity, ErrorKind, Table};
use table_tests::azurite;

use crate::fresh_name;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
    age: i64,
}

fn jo() -> Employee {
    Employee { department: "R&D 100% + more".into(), id: 223, name: "Jo \u{1f600}".into(), age: 41 }
}

#[tokio::test]
async fn an_entity_is_written_read_changed_and_found() {
    let Some(account) = azurite::account() else { return };
    let employees = Table::new(account.tables(), &fresh_name()).unwrap();
    assert!(employees.create_if_missing().await.unwrap());
    assert!(!employees.create_if_missing().await.unwrap());
    employees.insert(&jo()).await.unwrap();

    let key = || Employee::key("R&D 100% + more", 223);
    let mut read = employees.require(key()).await.unwrap();
    let mut stale = read.clone();
    assert_eq!(*read, jo());
    read.age += 1;
    employees.replace(&mut read).await.unwrap();
    assert_eq!(employees.replace(&mut stale).await.unwrap_err().kind(), ErrorKind::PreconditionFailed);

    let found = employees.all(Employee::range("R&D 100% + more").id_range(200..300).filter(Employee::AGE.ge(42))).await;
    assert_eq!(found.unwrap().len(), 1);
    employees.store().delete_table(employees.name()).await.unwrap();
}

#[tokio::test]
async fn an_account_without_queues_says_what_to_add() {
    let Some(_) = azurite::account() else { return };
    let text = std::env::var(azurite::VARIABLE).unwrap();
    let tables_only: Vec<&str> = text.split(';').filter(|each| !each.starts_with("QueueEndpoint")).collect();
    let account = table_azure::AzureAccount::from_connection_string(&tables_only.join(";")).unwrap();
    let queue = table_core::QueueName::new(fresh_name()).unwrap();
    let error = account.queues().create_queue(&queue).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("QueueEndpoint"), "{error}");
}
