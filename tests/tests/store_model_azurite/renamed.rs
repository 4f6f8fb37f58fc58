//! A shared store that looks as if it were a fresh one: its tables have names of their own.

use std::sync::Arc;

use async_trait::async_trait;
use table_core::store::{Capabilities, Page, PageToken, Selection, StoreQuery, TablePage};
use table_core::{DynamicEntity, EntityKey, Operation, Result, TableName, TableStore, Transaction, Written};
use uuid::Uuid;

/// Puts a prefix before every table's name, and lists only tables that have it.
#[derive(Debug, Clone)]
pub(crate) struct Renamed {
    inner: Arc<dyn TableStore>,
    prefix: String,
}

impl Renamed {
    pub(crate) fn new(inner: Arc<dyn TableStore>) -> Self {
        Self { inner, prefix: format!("m{}", Uuid::new_v4().simple()) }
    }

    fn name(&self, table: &TableName) -> TableName {
        TableName::new(format!("{}{table}", self.prefix)).unwrap()
    }

    /// Deletes all tables of this view.
    pub(crate) async fn clean_up(&self) {
        for table in self.list_tables(None).await.unwrap().tables {
            self.delete_table(&table).await.unwrap();
        }
    }
}

#[async_trait]
impl TableStore for Renamed {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.inner.create_table(&self.name(table)).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.inner.delete_table(&self.name(table)).await
    }

    async fn list_tables(&self, after: Option<&PageToken>) -> Result<TablePage> {
        assert_eq!(after, None, "the tables of this view are few");
        let mut tables = Vec::new();
        let mut after: Option<PageToken> = None;
        loop {
            let page = self.inner.list_tables(after.as_ref()).await?;
            let ours = page.tables.iter().filter_map(|table| table.as_str().strip_prefix(&self.prefix));
            tables.extend(ours.map(|name| TableName::new(name).unwrap()));
            after = page.next;
            if after.is_none() {
                return Ok(TablePage { tables, next: None });
            }
        }
    }

    async fn get(&self, table: &TableName, key: &EntityKey, selection: &Selection) -> Result<Option<DynamicEntity>> {
        self.inner.get(&self.name(table), key, selection).await
    }

    async fn query(&self, table: &TableName, query: &StoreQuery) -> Result<Page> {
        self.inner.query(&self.name(table), query).await
    }

    async fn write(&self, table: &TableName, operation: Operation) -> Result<Written> {
        self.inner.write(&self.name(table), operation).await
    }

    async fn transact(&self, table: &TableName, transaction: Transaction) -> Result<Vec<Written>> {
        self.inner.transact(&self.name(table), transaction).await
    }
}
