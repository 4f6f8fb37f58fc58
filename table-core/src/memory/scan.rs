//! One page of a query over the rows of a table.

use super::rows::{Row, Rows};
use crate::dynamic::{DynamicEntity, Properties};
use crate::keys::SortKey;
use crate::query::Filter;
use crate::store::kit::{ROWS_LOOKED_AT, Scan, Step, token_of_key};
use crate::store::{PageToken, Selection};

/// What a page found: pointers to rows, to be copied once the lock is gone.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) rows: Vec<Row>,
    /// The first row that was not looked at.
    pub(super) next: Option<PageToken>,
}

/// Looks at rows until the page is full, the range ends, or enough were looked at.
pub(super) fn run(scan: &Scan<'_>, filter: Option<&Filter>, rows: &Rows) -> Found {
    let mut found = Found::default();
    let mut looked_at = 0;
    let mut sure_until = scan.sure_until();
    let mut start: Option<SortKey> = (!scan.is_empty()).then(|| scan.start().clone());
    while let Some(from) = start.take() {
        for (place, row) in rows.between(&from, scan.end()) {
            if found.rows.len() == scan.page_size() || looked_at == ROWS_LOOKED_AT {
                found.next = Some(token_of_key(&row.key));
                return found;
            }
            looked_at += 1;
            if sure_until.as_ref().is_some_and(|sure| place >= sure) {
                match scan.step(&row.key) {
                    Step::Take(until) => sure_until = Some(until),
                    Step::Skip(to) => {
                        start = scan.end().is_none_or(|end| to < *end).then_some(to);
                        break;
                    }
                }
            }
            if filter.is_none_or(|filter| filter.matches(row)) {
                found.rows.push(row.clone());
            }
        }
    }
    found
}

/// Copies what a read returns, and nothing that it leaves out.
pub(super) fn select(row: &DynamicEntity, selection: &Selection) -> DynamicEntity {
    if *selection == Selection::All {
        return row.clone();
    }
    let chosen = row.properties.iter().filter(|(name, _)| selection.includes(name.as_str()));
    DynamicEntity {
        key: row.key.clone(),
        etag: row.etag.clone(),
        timestamp: row.timestamp,
        properties: chosen.map(|(name, value)| (name.clone(), value.clone())).collect::<Properties>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{EntityKey, KeyRange};
    use crate::memory::MemoryStore;
    use crate::names::TableName;
    use crate::operation::{Action, Operation};
    use crate::query::{Comparison, Field};
    use crate::store::{StoreQuery, TableStore};

    #[tokio::test]
    async fn a_selective_filter_gives_empty_pages_before_its_row() {
        let (store, table) = (MemoryStore::new(), TableName::new("Numbers").unwrap());
        store.create_table(&table).await.unwrap();
        for number in 0..=2 * ROWS_LOOKED_AT {
            let key = EntityKey::parse("p", &format!("{number:05}")).unwrap();
            let row = DynamicEntity::new(key).with("Last", number == 2 * ROWS_LOOKED_AT).unwrap();
            store.write(&table, Operation::new(Action::Insert(row)).unwrap()).await.unwrap();
        }
        let filter = Some(Filter::compare(Field::new("Last").unwrap(), Comparison::Eq, true));
        let mut query = StoreQuery { filter, ..StoreQuery::new(KeyRange::ALL) };
        let mut sizes = Vec::new();
        loop {
            let page = store.query(&table, &query).await.unwrap();
            sizes.push(page.entities.len());
            query.after = page.next;
            if query.after.is_none() {
                break;
            }
        }
        assert_eq!(sizes, [0, 0, 1]);
    }
}
