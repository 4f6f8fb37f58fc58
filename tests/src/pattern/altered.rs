//! Stores with a fault of character: one where somebody is always faster, one without order,
//! one whose pages are short, one whose transactions are small, and one where something happens right before a write.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use table_core::store::{Capabilities, Page, PageToken, Selection, StoreQuery, TablePage};
use table_core::{
    Action, DynamicEntity, EntityKey, IfMatch, Operation, Result, TableName, TableStore, Transaction, Written,
};

/// A store that behaves in one way otherwise than the one that it wraps.
#[derive(Debug, Clone)]
pub struct Altered {
    inner: Arc<dyn TableStore>,
    rival: bool,
    ordered: bool,
    page: Option<usize>,
    transaction_bytes: Option<usize>,
    interruption: Interruption,
}

/// What happens right before the first write, and only once.
#[derive(Clone, Default)]
struct Interruption(Arc<Mutex<Option<BoxFuture<'static, ()>>>>);

impl fmt::Debug for Interruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interruption")
    }
}

impl Altered {
    /// Somebody else touches every row that a write is conditional on, right before the write.
    #[must_use]
    pub fn with_rival(inner: Arc<dyn TableStore>) -> Self {
        Self { rival: true, ..Self::new(inner) }
    }

    /// The store promises no order.
    #[must_use]
    pub fn without_order(inner: Arc<dyn TableStore>) -> Self {
        Self { ordered: false, ..Self::new(inner) }
    }

    /// Pages hold one row, as a service may cut them anywhere.
    #[must_use]
    pub fn with_short_pages(inner: Arc<dyn TableStore>) -> Self {
        Self { page: Some(1), ..Self::new(inner) }
    }

    /// A transaction takes fewer bytes.
    #[must_use]
    pub fn with_small_transactions(inner: Arc<dyn TableStore>, bytes: usize) -> Self {
        Self { transaction_bytes: Some(bytes), ..Self::new(inner) }
    }

    /// Something happens after all reads of an operation, right before its first write.
    #[must_use]
    pub fn interrupted(inner: Arc<dyn TableStore>, by: impl Future<Output = ()> + Send + 'static) -> Self {
        let by: BoxFuture<'static, ()> = Box::pin(by);
        Self { interruption: Interruption(Arc::new(Mutex::new(Some(by)))), ..Self::new(inner) }
    }

    fn new(inner: Arc<dyn TableStore>) -> Self {
        Self {
            inner,
            rival: false,
            ordered: true,
            page: None,
            transaction_bytes: None,
            interruption: Interruption::default(),
        }
    }

    async fn interrupt(&self) {
        let by = self.interruption.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(by) = by {
            by.await;
        }
    }

    /// Gives a row a new version, and leaves its properties.
    async fn forestall(&self, table: &TableName, operation: &Operation) -> Result<()> {
        if !self.rival || !matches!(operation.action().if_match(), Some(IfMatch::Version(_))) {
            return Ok(());
        }
        let touch = Action::Merge(DynamicEntity::new(operation.key().clone()), IfMatch::Any);
        self.inner.write(table, Operation::new(touch)?).await.map(|_| ())
    }
}

#[async_trait]
impl TableStore for Altered {
    fn capabilities(&self) -> Capabilities {
        let capabilities = self.inner.capabilities();
        Capabilities {
            ordered: self.ordered && capabilities.ordered,
            transaction_bytes: self.transaction_bytes.unwrap_or(capabilities.transaction_bytes),
            ..capabilities
        }
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.inner.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.inner.delete_table(table).await
    }

    async fn list_tables(&self, after: Option<&PageToken>) -> Result<TablePage> {
        self.inner.list_tables(after).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, selection: &Selection) -> Result<Option<DynamicEntity>> {
        self.inner.get(table, key, selection).await
    }

    async fn query(&self, table: &TableName, query: &StoreQuery) -> Result<Page> {
        let limit = query.limit.into_iter().chain(self.page).min();
        self.inner.query(table, &StoreQuery { limit, ..query.clone() }).await
    }

    async fn write(&self, table: &TableName, operation: Operation) -> Result<Written> {
        self.interrupt().await;
        self.forestall(table, &operation).await?;
        self.inner.write(table, operation).await
    }

    async fn transact(&self, table: &TableName, transaction: Transaction) -> Result<Vec<Written>> {
        self.interrupt().await;
        for operation in transaction.operations() {
            self.forestall(table, operation).await?;
        }
        self.inner.transact(table, transaction).await
    }
}
