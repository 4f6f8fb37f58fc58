//! Running a copy: a table after the other, and the next page read while one is stored.

use futures_util::{future, stream};

use super::cursor::{CopyCursor, StateFile, Stored};
use super::{CopyProgress, CopyReport, TableCopy};
use crate::dynamic::DynamicEntity;
use crate::error::{Error, ErrorKind, Result};
use crate::keys::KeyRange;
use crate::names::TableName;
use crate::store::{Page, PageToken, StoreQuery, TableStore};
use crate::table::{LoadOptions, Table};

/// Runs a copy from where its cursor says to its end.
pub(super) async fn run(mut copy: TableCopy) -> Result<CopyReport> {
    let file = copy.state_file.take().map(StateFile::new);
    let kept = file.as_ref().map(StateFile::read).transpose()?.flatten();
    let cursor = kept.or_else(|| copy.cursor.take());
    let tables = chosen(&*copy.source, copy.tables.take()).await?;
    let mut run = Run {
        entities: cursor.as_ref().map_or(0, |cursor| cursor.entities),
        done: 0,
        in_all: tables.len(),
        file,
        copy,
    };
    for (table, begin) in remaining(tables, cursor, &mut run.done)? {
        run.table(table, begin).await?;
    }
    if let Some(file) = &run.file {
        file.delete()?;
    }
    Ok(CopyReport { tables: run.done, entities: run.entities })
}

/// The tables to copy, by name.
async fn chosen(source: &dyn TableStore, names: Option<Vec<TableName>>) -> Result<Vec<TableName>> {
    let mut there = Vec::new();
    let mut after = None;
    loop {
        let page = source.list_tables(after.as_ref()).await?;
        there.extend(page.tables);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let mut tables = names.unwrap_or_else(|| there.clone());
    tables.sort();
    tables.dedup();
    match tables.iter().find(|table| !there.contains(table)) {
        None => Ok(tables),
        Some(missing) => {
            Err(Error::new(ErrorKind::TableNotFound, "there is no such table to copy; nothing was copied")
                .with_operation("copy")
                .with_table(missing.as_str()))
        }
    }
}

/// The tables from the cursor on, each with the page to begin with; counts those before.
fn remaining(
    tables: Vec<TableName>,
    cursor: Option<CopyCursor>,
    done: &mut usize,
) -> Result<Vec<(TableName, Option<PageToken>)>> {
    let Some(cursor) = cursor else {
        return Ok(tables.into_iter().map(|table| (table, None)).collect());
    };
    if !tables.contains(&cursor.table) {
        return Err(Error::invalid_query(
            "the cursor belongs to a copy of other tables; use it with the copy that gave it, or start without it",
        )
        .with_operation("copy")
        .with_table(cursor.table.as_str()));
    }
    let mut remaining = Vec::new();
    for table in tables {
        match (table.cmp(&cursor.table), &cursor.stored) {
            (std::cmp::Ordering::Less, _) | (std::cmp::Ordering::Equal, Stored::Whole) => *done += 1,
            (std::cmp::Ordering::Equal, Stored::Before(page)) => remaining.push((table, Some(page.clone()))),
            (std::cmp::Ordering::Greater, _) => remaining.push((table, None)),
        }
    }
    Ok(remaining)
}

struct Run {
    copy: TableCopy,
    file: Option<StateFile>,
    done: usize,
    in_all: usize,
    entities: u64,
}

impl Run {
    async fn table(&mut self, table: TableName, begin: Option<PageToken>) -> Result<()> {
        let target = Table::new(self.copy.target.clone(), table.as_str())?;
        target.create_if_missing().await?;
        let mut query = StoreQuery::new(KeyRange::ALL);
        query.limit = Some(self.copy.page_entities);
        query.after = begin;
        let mut page = self.copy.source.query(&table, &query).await?;
        loop {
            let Page { entities, next } = page;
            let Some(next) = next else {
                self.entities += self.store(&target, entities).await?;
                self.done += 1;
                return self.reached(table, Stored::Whole);
            };
            query.after = Some(next.clone());
            let (stored, following) =
                future::try_join(self.store(&target, entities), self.copy.source.query(&table, &query)).await?;
            self.entities += stored;
            self.reached(table.clone(), Stored::Before(next))?;
            page = following;
        }
    }

    /// Stores a page whole.
    async fn store(&self, target: &Table, entities: Vec<DynamicEntity>) -> Result<u64> {
        let options = LoadOptions::default().with_mode(self.copy.mode).with_concurrency(self.copy.concurrency);
        // Versions are the source's own.
        let rows = entities.into_iter().map(|row| Ok(DynamicEntity { etag: None, timestamp: None, ..row }));
        Ok(target.load_rows(stream::iter(rows), options).await?.entities)
    }

    /// Keeps the place, and tells the caller.
    fn reached(&self, table: TableName, stored: Stored) -> Result<()> {
        let cursor = CopyCursor { table: table.clone(), stored, entities: self.entities };
        if let Some(file) = &self.file {
            file.write(&cursor)?;
        }
        (self.copy.progress)(&CopyProgress {
            table,
            tables: self.done,
            tables_in_all: self.in_all,
            entities: self.entities,
            cursor,
        });
        Ok(())
    }
}
