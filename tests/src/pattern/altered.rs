//! Stores with a fault of character: one where somebody is always faster, one without order, and
//! one whose pages are short.

use std::sync::Arc;

use async_trait::async_trait;
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
}

impl Altered {
    /// Somebody else touches every row that a write is conditional on, right before the write.
    #[must_use]
    pub const fn with_rival(inner: Arc<dyn TableStore>) -> Self {
        Self { inner, rival: true, ordered: true, page: None }
    }

    /// The store promises no order.
    #[must_use]
    pub const fn without_order(inner: Arc<dyn TableStore>) -> Self {
        Self { inner, rival: false, ordered: false, page: None }
    }

    /// Pages hold one row, as a service may cut them anywhere.
    #[must_use]
    pub const fn with_short_pages(inner: Arc<dyn TableStore>) -> Self {
        Self { inner, rival: false, ordered: true, page: Some(1) }
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
        Capabilities { ordered: self.ordered && capabilities.ordered, ..capabilities }
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
        self.forestall(table, &operation).await?;
        self.inner.write(table, operation).await
    }

    async fn transact(&self, table: &TableName, transaction: Transaction) -> Result<Vec<Written>> {
        for operation in transaction.operations() {
            self.forestall(table, operation).await?;
        }
        self.inner.transact(table, transaction).await
    }
}
