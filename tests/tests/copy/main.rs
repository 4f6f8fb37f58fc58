//! Copying every table from one store to another.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod faults;
mod resuming;
mod seeds;
mod whole;

use table_core::{Action, EntityKey, IfMatch, Operation, Properties, Result, Table, TableName};

use seeds::{Store, content_as, memory, put, seeded_as};

async fn seeded() -> Result<Store> {
    seeded_as("").await
}

async fn content(store: &Store) -> Result<Vec<(String, Vec<(EntityKey, Properties)>)>> {
    content_as("", store).await
}

async fn delete(table: &Table, key: &EntityKey) -> Result<()> {
    let delete = Action::Delete(key.clone(), IfMatch::Any);
    table.store().write(table.name(), Operation::new(delete)?).await.map(|_| ())
}

fn name(text: &str) -> TableName {
    TableName::new(text).unwrap()
}
