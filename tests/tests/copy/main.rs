//! Copying every table from one store to another.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod faults;
mod resuming;
mod whole;

use std::sync::Arc;

use table_core::{
    Action, DynamicEntity, EntityKey, IfMatch, MemoryStore, Operation, Properties, Result, Table, TableName,
    TableStore, Timestamp, Value,
};
use table_tests::pattern::rows;

type Store = Arc<dyn TableStore>;

fn memory() -> Store {
    Arc::new(MemoryStore::new())
}

/// A store with three tables: one with many rows, one with every type, one that is empty.
async fn seeded() -> Result<Store> {
    let store = memory();
    let many = Table::new(store.clone(), "Many")?;
    many.create().await?;
    for id in 0..23 {
        let key = EntityKey::parse(&format!("p{}", id % 3), &format!("{id:03}"))?;
        put(&many, DynamicEntity::new(key).with("Id", id)?).await?;
    }
    let types = Table::new(store.clone(), "Types")?;
    types.create().await?;
    put(&types, of_every_type(EntityKey::parse("", "")?)?).await?;
    put(&types, of_every_type(EntityKey::parse("it's 100% é 🦀", "a+b & c=d")?)?).await?;
    Table::new(store.clone(), "Empty")?.create().await?;
    Ok(store)
}

fn of_every_type(key: EntityKey) -> Result<DynamicEntity> {
    DynamicEntity::new(key)
        .with("Binary", vec![0_u8, 255])?
        .with("Boolean", true)?
        .with("DateTime", Value::DateTime(Timestamp::from_ticks(Timestamp::UNIX_EPOCH.ticks() + 1)?))?
        .with("Double", 1.0)?
        .with("Guid", Value::Guid(uuid::Uuid::from_u128(7)))?
        .with("Infinite", f64::NEG_INFINITY)?
        .with("Int32", 1)?
        .with("Int64", i64::MAX)?
        .with("NoNumber", f64::NAN)?
        .with("String", "it's \u{1F980}")
}

/// Everything in a store: tables, keys, properties and types.
async fn content(store: &Store) -> Result<Vec<(String, Vec<(EntityKey, Properties)>)>> {
    let mut content = Vec::new();
    for name in store.list_tables(None).await?.tables {
        let table = Table::new(store.clone(), name.as_str())?;
        content.push((name.to_string(), rows(&table).await));
    }
    content.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(content)
}

async fn put(table: &Table, row: DynamicEntity) -> Result<()> {
    table.store().write(table.name(), Operation::new(Action::Insert(row))?).await.map(|_| ())
}

async fn delete(table: &Table, key: &EntityKey) -> Result<()> {
    let delete = Action::Delete(key.clone(), IfMatch::Any);
    table.store().write(table.name(), Operation::new(delete)?).await.map(|_| ())
}

fn name(text: &str) -> TableName {
    TableName::new(text).unwrap()
}
