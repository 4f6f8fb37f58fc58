//! Adding what is missing, and leaving alone what is there already.
//!
//! An insert that meets a row, or whose answer was lost, is settled by reading: a row with the same properties
//! is as good as inserted, whoever wrote it. No row is ever written over.

use std::collections::{HashMap, HashSet};
use std::ops::Bound;

use super::write;
use crate::dynamic::{DynamicEntity, Properties};
use crate::error::{Error, ErrorKind, Result};
use crate::keys::{KeyRange, RowKey, Span};
use crate::names::TableName;
use crate::operation::{Action, Operation};
use crate::store::{StoreQuery, TableStore};

/// How often the same rows are inserted: the first time, once for those that were there before, and again
/// for answers that were lost.
const ATTEMPTS: usize = 4;

/// Inserts rows of one partition, unless they are there.
pub(super) async fn insert(store: &dyn TableStore, table: &TableName, mut inserts: Vec<Operation>) -> Result<()> {
    let mut attempt = 1;
    loop {
        match write(store, table, inserts.clone()).await {
            Err(error) if attempt < ATTEMPTS && can_be_settled(&error) => {}
            settled => return settled,
        }
        let stored = stored_beside(store, table, &inserts).await?;
        inserts = missing(inserts, &stored).map_err(|error| error.with_table(table.as_str()))?;
        if inserts.is_empty() {
            return Ok(());
        }
        attempt += 1;
    }
}

fn can_be_settled(error: &Error) -> bool {
    error.kind() == ErrorKind::AlreadyExists || error.outcome_unknown()
}

/// Those that are not there yet.
fn missing(inserts: Vec<Operation>, stored: &HashMap<RowKey, Properties>) -> Result<Vec<Operation>> {
    let mut missing = Vec::new();
    for insert in inserts {
        match stored.get(&insert.key().row) {
            None => missing.push(insert),
            Some(there) if properties(insert.action()) == Some(there) => {}
            Some(_) => {
                return Err(Error::already_exists(
                    "the table holds this entity with other properties; decide which of the two stays, \
                     or allow writing over it",
                )
                .with_operation("load")
                .with_key(insert.key().clone()));
            }
        }
    }
    Ok(missing)
}

fn properties(action: &Action) -> Option<&Properties> {
    action.entity().map(|row: &DynamicEntity| &row.properties)
}

/// What is stored of these rows, read as the range from the first of them to the last.
async fn stored_beside(
    store: &dyn TableStore,
    table: &TableName,
    inserts: &[Operation],
) -> Result<HashMap<RowKey, Properties>> {
    let rows = || inserts.iter().map(|insert| &insert.key().row);
    let (Some(first), Some(last), Some(insert)) = (rows().min(), rows().max(), inserts.first()) else {
        return Ok(HashMap::new());
    };
    let span = Span::new(Bound::Included(first.as_str().into()), Bound::Included(last.as_str().into()));
    let mut query = StoreQuery::new(KeyRange { partition: Span::exact(insert.key().partition.as_str()), row: span });
    let wanted: HashSet<&RowKey> = rows().collect();
    let mut stored = HashMap::new();
    loop {
        let page = store.query(table, &query).await?;
        let rows = page.entities.into_iter().map(|row| (row.key.row, row.properties));
        stored.extend(rows.filter(|(row, _)| wanted.contains(row)));
        if page.next.is_none() {
            return Ok(stored);
        }
        query.after = page.next;
    }
}
