//! The memory store as a table store.

use std::collections::btree_map::Entry;
use std::ops::Bound;
use std::sync::{Arc, RwLock};

use async_trait::async_trait;

use super::rows::Rows;
use super::{MemoryStore, read, scan, write};
use crate::dynamic::DynamicEntity;
use crate::error::{Error, ErrorKind, Result};
use crate::keys::EntityKey;
use crate::limits;
use crate::names::TableName;
use crate::operation::{Operation, Transaction, Written};
use crate::store::kit::{Scan, table_of_token, token_of_table};
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
        let start = after.map(table_of_token).transpose().map_err(|error| error.with_operation("list_tables"))?;
        let from = start.as_ref().map_or(Bound::Unbounded, Bound::Included);
        let tables = read(&self.shared.tables);
        let mut names = tables.range::<TableName, _>((from, Bound::Unbounded)).map(|(name, _)| name);
        let page = names.by_ref().take(limits::PAGE_ENTITIES).cloned().collect();
        let next = names.next().map(token_of_table);
        Ok(TablePage { tables: page, next })
    }

    async fn get(&self, table: &TableName, key: &EntityKey, selection: &Selection) -> Result<Option<DynamicEntity>> {
        let rows = self.rows(table).map_err(|error| locate("get", table)(error).with_key(key.clone()))?;
        let row = read(&rows).get(key).cloned();
        Ok(row.map(|row| scan::select(&row, selection)))
    }

    async fn query(&self, table: &TableName, query: &StoreQuery) -> Result<Page> {
        let page = Scan::new(query).map_err(locate("query", table))?;
        let rows = self.rows(table).map_err(locate("query", table))?;
        let found = scan::run(&page, query.filter.as_ref(), &read(&rows));
        let entities = found.rows.iter().map(|row| scan::select(row, &query.selection)).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn more_than_a_thousand_tables_are_listed_in_pages() {
        let store = MemoryStore::new();
        let names: Vec<_> = (0..=2 * limits::PAGE_ENTITIES).map(|number| format!("Table{number:05}")).collect();
        for name in names.iter().rev() {
            store.create_table(&TableName::new(name).unwrap()).await.unwrap();
        }
        let (mut listed, mut sizes, mut after) = (Vec::new(), Vec::new(), None);
        loop {
            let page = store.list_tables(after.as_ref()).await.unwrap();
            sizes.push(page.tables.len());
            listed.extend(page.tables.iter().map(ToString::to_string));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(listed, names);
        assert_eq!(sizes, [limits::PAGE_ENTITIES, limits::PAGE_ENTITIES, 1]);
    }
}
