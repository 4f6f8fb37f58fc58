//! What a case is given: fresh tables and queues on the store under test.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use table_core::{QueueName, QueueStore, TableName, TableStore};
use uuid::Uuid;

use crate::failure::Failure;
use crate::harness::Harness;
use crate::test_queue::TestQueue;
use crate::test_table::TestTable;

/// The store under test as one case sees it.
///
/// Names are fresh, so cases run side by side on one store, and whatever was made is removed
/// after the case.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    harness: Arc<Harness>,
    made: Arc<Mutex<Made>>,
}

#[derive(Debug, Default)]
struct Made {
    tables: Vec<TableName>,
    queues: Vec<QueueName>,
}

impl Context {
    pub(crate) fn new(harness: Arc<Harness>) -> Self {
        Self { harness, made: Arc::default() }
    }

    pub(crate) fn tables(&self) -> Result<&Arc<dyn TableStore>, Failure> {
        self.harness.tables().ok_or_else(|| Failure::of_run("the harness has no table store"))
    }

    pub(crate) fn queues(&self) -> Result<&Arc<dyn QueueStore>, Failure> {
        self.harness.queues().ok_or_else(|| Failure::of_run("the harness has no queue store"))
    }

    /// A table name that nobody has used.
    pub(crate) fn table_name(&self) -> Result<TableName, Failure> {
        self.named_table(&format!("Conformance{}", Uuid::new_v4().simple()))
    }

    /// A table name of the case's own making, which is removed like the others.
    pub(crate) fn named_table(&self, name: &str) -> Result<TableName, Failure> {
        let name = TableName::new(name)?;
        self.made.lock().unwrap_or_else(PoisonError::into_inner).tables.push(name.clone());
        Ok(name)
    }

    /// A fresh table.
    pub(crate) async fn table(&self) -> Result<TestTable, Failure> {
        let name = self.table_name()?;
        let store = self.tables()?.clone();
        store.create_table(&name).await?;
        Ok(TestTable { store, name })
    }

    /// A queue name that nobody has used.
    pub(crate) fn queue_name(&self) -> Result<QueueName, Failure> {
        let name = QueueName::new(format!("conformance-{}", Uuid::new_v4().simple()))?;
        self.made.lock().unwrap_or_else(PoisonError::into_inner).queues.push(name.clone());
        Ok(name)
    }

    /// A fresh queue.
    pub(crate) async fn queue(&self) -> Result<TestQueue, Failure> {
        let name = self.queue_name()?;
        let store = self.queues()?.clone();
        store.create_queue(&name).await?;
        Ok(TestQueue { store, name })
    }

    /// Lets time pass for the store.
    pub(crate) async fn advance(&self, by: Duration) {
        self.harness.advance(by).await;
    }

    /// Removes what the case made. What cannot be removed does no harm: no name is used twice.
    pub(crate) async fn clean_up(&self) {
        let made = std::mem::take(&mut *self.made.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(store) = self.harness.tables() {
            for table in made.tables {
                store.delete_table(&table).await.ok();
            }
        }
        if let Some(store) = self.harness.queues() {
            for queue in made.queues {
                store.delete_queue(&queue).await.ok();
            }
        }
    }
}
