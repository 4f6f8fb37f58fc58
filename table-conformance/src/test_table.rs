//! A fresh table with shorthands, so that a case reads as what it says.

use std::sync::Arc;

use table_core::keys::KeyRange;
use table_core::query::Filter;
use table_core::store::{Page, Selection, StoreQuery};
use table_core::{
    Action, DynamicEntity, ETag, EntityKey, IfMatch, Operation, PropertyName, Result as StoreResult, TableName,
    TableStore, Transaction, Written,
};

use crate::failure::{Failure, Outcome, ensure, ensure_eq};

/// The partition of cases that need only one.
pub(crate) const PARTITION: &str = "p";

/// Pages that a query of the suite follows before it is taken to be endless.
const MOST_PAGES: usize = 10_000;

/// A key in the usual partition.
pub(crate) fn key(row: &str) -> Result<EntityKey, Failure> {
    Ok(EntityKey::parse(PARTITION, row)?)
}

/// A row without properties in the usual partition.
pub(crate) fn row(row: &str) -> Result<DynamicEntity, Failure> {
    Ok(DynamicEntity::new(key(row)?))
}

/// A row without properties.
pub(crate) fn row_in(partition: &str, row: &str) -> Result<DynamicEntity, Failure> {
    Ok(DynamicEntity::new(EntityKey::parse(partition, row)?))
}

/// A selection of these properties.
pub(crate) fn select(names: &[&str]) -> Result<Selection, Failure> {
    Ok(Selection::Only(names.iter().map(PropertyName::new).collect::<StoreResult<_>>()?))
}

/// The keys of rows, as `partition|row`; no key of the suite's own holds a bar.
pub(crate) fn keys_of(rows: &[DynamicEntity]) -> Vec<String> {
    rows.iter().map(|row| format!("{}|{}", row.key.partition, row.key.row)).collect()
}

/// The row keys of rows.
pub(crate) fn row_keys_of(rows: &[DynamicEntity]) -> Vec<&str> {
    rows.iter().map(|row| row.key.row.as_str()).collect()
}

/// A table of the store under test.
#[derive(Debug, Clone)]
pub(crate) struct TestTable {
    pub(crate) store: Arc<dyn TableStore>,
    pub(crate) name: TableName,
}

impl TestTable {
    pub(crate) async fn write(&self, action: Action) -> StoreResult<Written> {
        self.store.write(&self.name, Operation::new(action)?).await
    }

    pub(crate) async fn transact(&self, actions: Vec<Action>) -> StoreResult<Vec<Written>> {
        let operations = actions.into_iter().map(Operation::new).collect::<StoreResult<_>>()?;
        self.store.transact(&self.name, Transaction::new(operations)?).await
    }

    /// Does a write that must succeed, and gives the ETag that it answers.
    pub(crate) async fn put(&self, action: Action) -> Result<ETag, Failure> {
        let name = action.name();
        let written = self.write(action).await?;
        written.etag.ok_or_else(|| Failure::new(format!("{name} answered no ETag")))
    }

    pub(crate) async fn insert(&self, entity: DynamicEntity) -> Result<ETag, Failure> {
        self.put(Action::Insert(entity)).await
    }

    pub(crate) async fn delete(&self, row: &str) -> Outcome {
        self.write(Action::Delete(key(row)?, IfMatch::Any)).await?;
        Ok(())
    }

    pub(crate) async fn get_key(&self, key: &EntityKey) -> Result<Option<DynamicEntity>, Failure> {
        Ok(self.store.get(&self.name, key, &Selection::All).await?)
    }

    /// Reads a row of the usual partition.
    pub(crate) async fn get(&self, row: &str) -> Result<Option<DynamicEntity>, Failure> {
        self.get_key(&key(row)?).await
    }

    /// Reads a row of the usual partition that must be there.
    pub(crate) async fn require(&self, row: &str) -> Result<DynamicEntity, Failure> {
        self.get(row).await?.ok_or_else(|| Failure::new(format!("the row {row:?} is not there")))
    }

    /// The ETag that a read of a row gives.
    pub(crate) async fn etag(&self, row: &str) -> Result<ETag, Failure> {
        self.require(row).await?.etag.ok_or_else(|| Failure::new("a read gave no ETag"))
    }

    pub(crate) async fn page(&self, query: &StoreQuery) -> StoreResult<Page> {
        self.store.query(&self.name, query).await
    }

    /// All pages of a query, each within its limit.
    pub(crate) async fn pages(&self, mut query: StoreQuery) -> Result<Vec<Page>, Failure> {
        let mut pages = Vec::new();
        loop {
            ensure(pages.len() < MOST_PAGES, "a query gave ten thousand pages and did not end")?;
            let page = self.page(&query).await?;
            ensure(page.entities.len() <= query.page_size(), "a page holds more entities than its limit")?;
            query.after.clone_from(&page.next);
            pages.push(page);
            if query.after.is_none() {
                return Ok(pages);
            }
        }
    }

    /// All rows of a query.
    pub(crate) async fn rows(&self, query: StoreQuery) -> Result<Vec<DynamicEntity>, Failure> {
        let pages = self.pages(query).await?;
        Ok(pages.into_iter().flat_map(|page| page.entities).collect())
    }

    /// The keys of a range, sorted as text, so that a store without order can answer too.
    pub(crate) async fn keys_in(&self, range: KeyRange) -> Result<Vec<String>, Failure> {
        let mut keys = keys_of(&self.rows(StoreQuery::new(range)).await?);
        keys.sort();
        Ok(keys)
    }

    /// Checks which row keys fulfil a filter, over the whole table.
    pub(crate) async fn expect_matches(&self, filter: Filter, expected: &[&str], what: &str) -> Outcome {
        let query = StoreQuery { filter: Some(filter), ..StoreQuery::new(KeyRange::ALL) };
        let rows = self.rows(query).await?;
        let mut found = row_keys_of(&rows);
        found.sort_unstable();
        ensure_eq(found, expected, what)
    }

    /// Fills a partition with the rows `00000`, `00001`, ... that hold their number as `N`.
    pub(crate) async fn fill(&self, partition: &str, count: usize) -> Outcome {
        let numbers: Vec<usize> = (0..count).collect();
        for chunk in numbers.chunks(table_core::limits::TRANSACTION_OPERATIONS) {
            let mut actions = Vec::with_capacity(chunk.len());
            for number in chunk {
                let n = i32::try_from(*number).unwrap_or(i32::MAX);
                actions.push(Action::Insert(row_in(partition, &numbered(*number))?.with("N", n)?));
            }
            self.transact(actions).await?;
        }
        Ok(())
    }
}

/// The row key of a number, in the order of numbers.
pub(crate) fn numbered(number: usize) -> String {
    format!("{number:05}")
}
