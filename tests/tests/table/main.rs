//! The typed handle on a table: writes, transactions and bulk loads, on every store.

mod load;
mod requests;
mod transactions;
mod writes;

use std::sync::Arc;

use table_core::{DynamicEntity, Entity, MemoryStore, Result, Table, TableStore};
use table_tests::stores;
use tempfile::TempDir;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
    age: i32,
    email: Option<String>,
}

fn employee(department: &str, id: u32) -> Employee {
    Employee { department: department.into(), id, name: "Jo".into(), age: 40, email: Some("jo@contoso.com".into()) }
}

/// An empty table on each store, with the folder of its file.
async fn tables() -> Result<Vec<(Table, Option<TempDir>)>> {
    let (embedded, _, folder) = stores::embedded_store();
    let stores: [(Arc<dyn TableStore>, _); 2] =
        [(Arc::new(MemoryStore::new()), None), (Arc::new(embedded), Some(folder))];
    let mut tables = Vec::new();
    for (store, folder) in stores {
        let table = Table::new(store, "Employees")?;
        table.create().await?;
        tables.push((table, folder));
    }
    Ok(tables)
}

/// Adds a property that the type does not know.
async fn add_unknown(table: &Table, id: u32) -> Result<()> {
    let row = DynamicEntity::new(Employee::key("Sales", id).resolve()?).with("Badge", "blue")?;
    let merge = table_core::Action::Merge(row, table_core::IfMatch::Any);
    table.store().write(table.name(), table_core::Operation::new(merge)?).await.map(|_| ())
}

/// What is stored under that name in the row of an employee.
async fn unknown(table: &Table, id: u32) -> Result<Option<table_core::Value>> {
    let row = table.require::<DynamicEntity>(Employee::key("Sales", id).resolve()?).await?;
    Ok(row.get("Badge").cloned())
}
