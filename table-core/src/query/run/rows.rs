//! The rows of a type, up to a query's `top`.

use std::marker::PhantomData;

use super::Prepared;
use super::cursor::Cursor;
use crate::dynamic::DynamicEntity;
use crate::entity::FromRow;
use crate::error::Result;
use crate::limits;
use crate::query::continuation::Position;

/// Reads the rows that are of type `E`, from the first range to the last.
#[derive(Debug)]
pub(super) struct Rows<E> {
    cursor: Cursor,
    budget: Budget,
    entity: PhantomData<fn() -> E>,
}

impl<E: FromRow> Rows<E> {
    pub(super) fn new<R>(prepared: &Prepared<R>) -> Self {
        let cursor = match prepared.top {
            None => Cursor::eager(prepared),
            Some(_) => Cursor::frugal(prepared, Position::default()),
        };
        Self { cursor, budget: Budget::new(prepared.top), entity: PhantomData }
    }

    /// The next rows, at least one; none at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<DynamicEntity>>> {
        while !self.budget.is_spent() {
            let Some(rows) = self.cursor.next(self.budget.limit()).await? else { return Ok(None) };
            let rows = self.budget.take::<E>(rows);
            if !rows.is_empty() {
                return Ok(Some(rows));
            }
        }
        Ok(None)
    }
}

/// How many entities a query may still return.
#[derive(Debug)]
pub(super) struct Budget {
    remaining: Option<usize>,
    skipped: usize,
}

impl Budget {
    pub(super) const fn new(remaining: Option<usize>) -> Self {
        Self { remaining, skipped: 0 }
    }

    pub(super) const fn remaining(&self) -> Option<usize> {
        self.remaining
    }

    pub(super) fn is_spent(&self) -> bool {
        self.remaining == Some(0)
    }

    /// How many rows to ask for. Where many rows are of other types, the number grows with them,
    /// so that the first entity behind a thousand copies does not take a thousand requests.
    pub(super) fn limit(&self) -> usize {
        let wanted = self.remaining.map_or(limits::PAGE_ENTITIES, |count| count.saturating_add(self.skipped));
        wanted.min(limits::PAGE_ENTITIES)
    }

    /// The rows of type `E` that the query may still return.
    pub(super) fn take<E: FromRow>(&mut self, mut rows: Vec<DynamicEntity>) -> Vec<DynamicEntity> {
        let read = rows.len();
        rows.retain(E::recognizes);
        self.skipped = self.skipped.saturating_add(read - rows.len());
        if let Some(remaining) = &mut self.remaining {
            rows.truncate(*remaining);
            *remaining -= rows.len();
        }
        rows
    }
}
