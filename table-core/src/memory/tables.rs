//! The memory store as a table store.

use std::collections::btree_map::Entry;
use std::sync::{Arc, RwLock};

use async_trait::async_trait;

use super::rows::Rows;
use super::scan::{Scan, select};
use super::{MemoryStore, read, write};
use crate::dynamic::DynamicEntity;
use crate::error::{Error, ErrorKind, Result};
use crate::keys::EntityKey;
use crate::limits;
use crate::names::TableName;
use crate::operation::{Operation, Transaction, Written};
use crate::store::{Capabilities, Page, PageToken, Selection, StoreQuery, TablePage, TableStore};

impl MemoryStore {
    /// The rows of a table. Whoever holds them while the table is deleted did so before the deletion.
    fn rows(&self, table: &TableName) -> Result<Arc<RwLock<Rows>>> {
        read(&self.shared.tables).get(table).cloned().ok_or_else(no_such_table)
    }
}

fn no_such_table() -> Error {
    Error::new(ErrorKind::TableNotFound, "create the table first")
}

fn locate<'a>(operation: &'static str, table: &'a TableName) -> impl Fn(Error) -> Error + 'a {
    move |error| error.with_operation(operation).with_table(table.as_str())
}

#[async_trait]
impl TableStore for MemoryStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::table_service()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        match write(&self.shared.tables).entry(table.clone()) {
            Entry::Vacant(place) => {
                place.insert(Arc::default());
                Ok(())
            }
            Entry::Occupied(_) => {
                Err(locate("create_table", table)(Error::already_exists("a table of this name is there already")))
            }
        }
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        // The rows are dropped after the statement, and with it the lock on the map, has ended.
        let rows = write(&self.shared.tables).remove(table);
        rows.map(drop).ok_or_else(no_such_table).map_err(locate("delete_table", table))
    }

    async fn list_tables(&self, after: Option<&PageToken>) -> Result<TablePage> {
        let start = after.map(|token| TableName::new(token.as_str())).transpose().map_err(|error| {
            Error::invalid_query("the continuation is not this store's; list the tables anew")
                .with_operation("list_tables")
                .with_source(error)
        })?;
        let tables = read(&self.shared.tables);
        let mut names = tables.keys().skip_while(|name| start.as_ref().is_some_and(|start| *name < start));
        let page: Vec<_> = names.by_ref().take(limits::PAGE_ENTITIES).cloned().collect();
        let next = names.next().map(|name| PageToken::new(name.as_str()));
        Ok(TablePage { tables: page, next })
    }

    async fn get(&self, table: &TableName, key: &EntityKey, selection: &Selection) -> Result<Option<DynamicEntity>> {
        let rows = self.rows(table).map_err(|error| locate("get", table)(error).with_key(key.clone()))?;
        let row = read(&rows).get(key).cloned();
        Ok(row.map(|row| select(&row, selection)))
    }

    async fn query(&self, table: &TableName, query: &StoreQuery) -> Result<Page> {
        let scan = Scan::new(query).map_err(locate("query", table))?;
        let rows = self.rows(table).map_err(locate("query", table))?;
        let found = scan.run(&read(&rows));
        let entities = found.rows.iter().map(|row| select(row, &query.selection)).collect();
        Ok(Page { entities, next: found.next })
    }

    async fn write(&self, table: &TableName, operation: Operation) -> Result<Written> {
        let name = operation.name();
        let rows = self.rows(table).map_err(|error| locate(name, table)(error).with_key(operation.key().clone()))?;
        let written = write(&rows).apply(vec![operation], &self.shared.stamps);
        let mut written = written.map_err(|(_, error)| locate(name, table)(error))?;
        written.pop().ok_or_else(|| Error::corrupted("a write gave no answer"))
    }

    async fn transact(&self, table: &TableName, transaction: Transaction) -> Result<Vec<Written>> {
        let rows = self.rows(table).map_err(locate("transact", table))?;
        let written = write(&rows).apply(transaction.into_operations(), &self.shared.stamps);
        written.map_err(|(index, error)| locate("transact", table)(error).with_operation_index(index))
    }
}
