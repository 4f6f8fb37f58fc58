//! Tables as vectors of rows.

use std::ops::Bound;

use table_core::keys::{KeyRange, Span};
use table_core::{Action, DynamicEntity, ETag, EntityKey, ErrorKind, IfMatch, Timestamp};

use crate::filters::{holds, units};
use crate::steps::{Condition, Kind, Search, Write};

/// All tables, and all versions that any row ever had.
#[derive(Debug, Default)]
pub(crate) struct Model {
    tables: Vec<(String, Vec<DynamicEntity>)>,
    pub(crate) versions: Vec<(EntityKey, ETag)>,
}

impl Model {
    fn position(&self, table: &str) -> Option<usize> {
        self.tables.iter().position(|(name, _)| name.eq_ignore_ascii_case(table))
    }

    pub(crate) fn create(&mut self, table: &str) -> Result<(), ErrorKind> {
        if self.position(table).is_some() {
            return Err(ErrorKind::AlreadyExists);
        }
        self.tables.push((table.to_owned(), Vec::new()));
        Ok(())
    }

    pub(crate) fn drop(&mut self, table: &str) -> Result<(), ErrorKind> {
        let at = self.position(table).ok_or(ErrorKind::TableNotFound)?;
        self.tables.remove(at);
        Ok(())
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.tables.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_by_key(|name| name.to_lowercase());
        names
    }

    fn rows_mut(&mut self, table: &str) -> Result<&mut Vec<DynamicEntity>, ErrorKind> {
        let at = self.position(table).ok_or(ErrorKind::TableNotFound)?;
        Ok(&mut self.tables[at].1)
    }

    pub(crate) fn rows(&self, table: &str) -> Result<&[DynamicEntity], ErrorKind> {
        Ok(&self.tables[self.position(table).ok_or(ErrorKind::TableNotFound)?].1)
    }

    /// The action that a step means, given the versions that there are and were.
    pub(crate) fn action(&self, key: &EntityKey, write: &Write) -> Action {
        let entity = write.entity(key.clone());
        let condition = match write.condition {
            Condition::Any => IfMatch::Any,
            Condition::Current => {
                let last = self.versions.iter().rev().find(|(of, _)| of == key);
                last.map_or(IfMatch::Any, |(_, etag)| IfMatch::Version(etag.clone()))
            }
            Condition::Old(_) if self.versions.is_empty() => {
                IfMatch::Version(ETag::from_timestamp(Timestamp::UNIX_EPOCH.next_tick()))
            }
            Condition::Old(index) => IfMatch::Version(index.get(&self.versions).1.clone()),
        };
        match write.kind {
            Kind::Insert => Action::Insert(entity),
            Kind::Replace => Action::Replace(entity, condition),
            Kind::Merge => Action::Merge(entity, condition),
            Kind::InsertOrReplace => Action::InsertOrReplace(entity),
            Kind::InsertOrMerge => Action::InsertOrMerge(entity),
            Kind::Delete => Action::Delete(entity.key, condition),
        }
    }

    /// Does all actions on a copy, and keeps the copy if none fails. The versions come from the store.
    pub(crate) fn apply(&mut self, table: &str, actions: &[Action]) -> Result<(), (usize, ErrorKind)> {
        let rows = self.rows_mut(table).map_err(|kind| (0, kind))?;
        let mut copy = rows.clone();
        for (index, action) in actions.iter().enumerate() {
            apply_one(&mut copy, action).map_err(|kind| (index, kind))?;
        }
        *rows = copy;
        Ok(())
    }

    /// Takes note of the version that the store gave a row.
    pub(crate) fn stamp(&mut self, table: &str, key: &EntityKey, etag: ETag) {
        let rows = self.rows_mut(table).expect("the write was done, so the table is there");
        let row = rows.iter_mut().find(|row| row.key == *key).expect("the write was done, so the row is there");
        row.timestamp = etag.timestamp();
        row.etag = Some(etag.clone());
        self.versions.push((key.clone(), etag));
    }

    pub(crate) fn query(&self, table: &str, search: &Search) -> Result<Vec<DynamicEntity>, ErrorKind> {
        let mut found: Vec<_> = self.rows(table)?.iter().filter(|row| search.wants(row)).collect();
        found.sort_by_key(|row| place(&row.key));
        Ok(found.into_iter().map(|row| selected(row, search.selection.as_deref())).collect())
    }
}

/// The place of a key in the order of the service.
pub(crate) fn place(key: &EntityKey) -> (Vec<u16>, Vec<u16>) {
    (units(key.partition.as_str()), units(key.row.as_str()))
}

fn apply_one(rows: &mut Vec<DynamicEntity>, action: &Action) -> Result<(), ErrorKind> {
    let at = rows.iter().position(|row| row.key == *action.key());
    match (action, at) {
        (Action::Insert(_), Some(_)) => return Err(ErrorKind::AlreadyExists),
        (Action::Replace(..) | Action::Merge(..) | Action::Delete(..), None) => return Err(ErrorKind::NotFound),
        _ => {}
    }
    if let (Some(IfMatch::Version(version)), Some(at)) = (action.if_match(), at)
        && rows[at].etag.as_ref() != Some(version)
    {
        return Err(ErrorKind::PreconditionFailed);
    }
    let old = at.map(|at| rows.remove(at));
    let Some(new) = action.entity() else {
        return Ok(());
    };
    let mut row = new.clone();
    if matches!(action, Action::Merge(..) | Action::InsertOrMerge(_)) {
        for (name, value) in old.iter().flat_map(|old| old.properties.iter()) {
            if row.get(name.as_str()).is_none() {
                row.set(name.as_str(), value.clone()).unwrap();
            }
        }
    }
    rows.push(row);
    Ok(())
}

/// A row with the properties that a selection names.
pub(crate) fn selected(row: &DynamicEntity, selection: Option<&[&str]>) -> DynamicEntity {
    let mut row = row.clone();
    if let Some(names) = selection {
        row.properties.retain(|name| names.contains(&name.as_str()));
    }
    row
}

impl Search {
    pub(crate) fn wants(&self, row: &DynamicEntity) -> bool {
        in_range(&self.range, &row.key) && self.filter.as_ref().is_none_or(|filter| holds(filter, row))
    }
}

fn in_range(range: &KeyRange, key: &EntityKey) -> bool {
    in_span(&range.partition, key.partition.as_str()) && in_span(&range.row, key.row.as_str())
}

fn in_span(span: &Span, key: &str) -> bool {
    let above = match span.lower() {
        Bound::Unbounded => true,
        Bound::Included(lower) => units(key) >= units(lower),
        Bound::Excluded(lower) => units(key) > units(lower),
    };
    let below = match span.upper() {
        Bound::Unbounded => true,
        Bound::Included(upper) => units(key) <= units(upper),
        Bound::Excluded(upper) => units(key) < units(upper),
    };
    above && below
}
