//! The stores that every pattern runs on, and what can be seen of them.

use std::sync::Arc;

use table_core::layer::Meter;
use table_core::{
    DynamicEntity, EntityKey, ManualClock, Properties, Query, QueueStore, Result, Table, TableStore, reserved,
};
use tempfile::TempDir;
use uuid::Uuid;

use crate::azurite;
use crate::stores::{clock, embedded_store, memory_store};

/// A store under test.
#[derive(Debug)]
pub struct TestStore {
    /// For messages.
    pub name: &'static str,
    /// Its tables.
    pub tables: Arc<dyn TableStore>,
    /// Its queues.
    pub queues: Arc<dyn QueueStore>,
    /// The clock that it reads; Azurite reads its own.
    pub clock: Arc<ManualClock>,
    /// The folder of its files, which goes with it.
    _folder: Option<TempDir>,
}

/// Every store that the patterns must run on. A new one is one more line.
///
/// Others may use the same store at once, so a test takes fresh names and leaves the clock alone.
#[must_use]
pub fn stores() -> Vec<TestStore> {
    our_stores().into_iter().chain(azurite()).collect()
}

/// The stores that belong to the test alone and read a clock that it can turn.
#[must_use]
pub fn our_stores() -> Vec<TestStore> {
    vec![memory(), embedded()]
}

/// The memory store alone, for what is run very often.
#[must_use]
pub fn memory() -> TestStore {
    let (store, clock) = memory_store();
    TestStore { name: "memory", tables: Arc::new(store.clone()), queues: Arc::new(store), clock, _folder: None }
}

fn embedded() -> TestStore {
    let (store, clock, folder) = embedded_store();
    let (tables, queues) = (Arc::new(store.clone()), Arc::new(store));
    TestStore { name: "embedded", tables, queues, clock, _folder: Some(folder) }
}

fn azurite() -> Option<TestStore> {
    let account = azurite::account()?;
    let (tables, queues) = (account.tables(), account.queues());
    Some(TestStore { name: "azurite", tables, queues, clock: clock(), _folder: None })
}

impl TestStore {
    /// A name that nothing else has, since others may use the same store.
    #[must_use]
    pub fn fresh_name(&self) -> String {
        format!("T{}x", Uuid::new_v4().simple())
    }

    /// A new table with a name of its own.
    ///
    /// # Panics
    /// Where the store cannot create it.
    pub async fn table(&self) -> Table {
        self.table_behind(|store| store).await
    }

    /// A new table, seen through a layer.
    ///
    /// # Panics
    /// Where the store cannot create it.
    pub async fn table_behind<S: TableStore>(&self, layer: impl FnOnce(Arc<dyn TableStore>) -> S) -> Table {
        let name = self.fresh_name();
        let table = Table::new(Arc::clone(&self.tables), &name).expect("a valid name");
        table.create().await.expect("a new table");
        Table::new(Arc::new(layer(Arc::clone(&self.tables))), &name).expect("a valid name")
    }

    /// A new table that is counted, and its meter.
    ///
    /// # Panics
    /// Where the store cannot create it.
    pub async fn metered(&self) -> (Table, Meter<Arc<dyn TableStore>>) {
        let meter = Meter::new(Arc::clone(&self.tables));
        let table = self.table_behind(|_| meter.clone()).await;
        (table, meter)
    }
}

/// The same table, seen through a layer.
///
/// # Panics
/// Never, since the name is that of a table.
#[must_use]
pub fn behind(table: &Table, layer: impl TableStore) -> Table {
    Table::new(Arc::new(layer), table.name().as_str()).expect("the same name")
}

/// How many storage transactions some work takes.
///
/// # Panics
/// Where the work fails.
pub async fn cost<T, S>(meter: &Meter<S>, work: impl Future<Output = Result<T>>) -> u64 {
    let before = meter.report();
    work.await.expect("work that is counted succeeds");
    (meter.report() - before).total().transactions
}

/// All rows of a table, without what differs between two runs: versions, times and tokens.
///
/// # Panics
/// Where the table cannot be read.
pub async fn rows(table: &Table) -> Vec<(EntityKey, Properties)> {
    let all = table.all(Query::<DynamicEntity>::all().allow_scan()).await.expect("a table that can be read");
    all.into_iter()
        .map(|row| {
            let mut row = row.into_value();
            row.properties.remove(reserved::ROW_TOKEN.as_str());
            (row.key, row.properties)
        })
        .collect()
}
