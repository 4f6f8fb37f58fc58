//! What is copied, and how it is looked at.

use std::sync::Arc;

use table_core::{
    Action, DynamicEntity, EntityKey, MemoryStore, Operation, Properties, Result, Table, TableName, TableStore,
    Timestamp, Value,
};
use table_tests::pattern::rows;

pub(crate) type Store = Arc<dyn TableStore>;

pub(crate) fn memory() -> Store {
    Arc::new(MemoryStore::new())
}

/// A store with three tables, whose names begin with a prefix: one with many rows, one with every type, one that is
/// empty.
pub(crate) async fn seeded_as(prefix: &str) -> Result<Store> {
    let store = memory();
    let name = |name| format!("{prefix}{name}");
    let many = Table::new(store.clone(), &name("Many"))?;
    many.create().await?;
    for id in 0..23 {
        let key = EntityKey::parse(&format!("p{}", id % 3), &format!("{id:03}"))?;
        put(&many, DynamicEntity::new(key).with("Id", id)?).await?;
    }
    let types = Table::new(store.clone(), &name("Types"))?;
    types.create().await?;
    put(&types, of_every_type(EntityKey::parse("", "")?)?).await?;
    put(&types, of_every_type(EntityKey::parse("it's 100% é 🦀", "a+b & c=d")?)?).await?;
    Table::new(store.clone(), &name("Empty"))?.create().await?;
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

/// Everything in the tables whose names begin with a prefix: keys, properties and types.
pub(crate) async fn content_as(prefix: &str, store: &Store) -> Result<Vec<(String, Vec<(EntityKey, Properties)>)>> {
    let mut content = Vec::new();
    for name in tables(store).await?.into_iter().filter(|name| name.as_str().starts_with(prefix)) {
        let table = Table::new(store.clone(), name.as_str())?;
        content.push((name.to_string(), rows(&table).await));
    }
    content.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(content)
}

async fn tables(store: &Store) -> Result<Vec<TableName>> {
    let (mut tables, mut after) = (Vec::new(), None);
    loop {
        let page = store.list_tables(after.as_ref()).await?;
        tables.extend(page.tables);
        after = page.next;
        if after.is_none() {
            return Ok(tables);
        }
    }
}

pub(crate) async fn put(table: &Table, row: DynamicEntity) -> Result<()> {
    table.store().write(table.name(), Operation::new(Action::Insert(row))?).await.map(|_| ())
}
