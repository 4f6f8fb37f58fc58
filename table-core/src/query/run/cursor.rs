//! A place in a query's ranges, and the reading of store pages from there.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::future::try_join_all;

use super::{Prepared, at};
use crate::dynamic::DynamicEntity;
use crate::error::Result;
use crate::keys::EntityKey;
use crate::names::TableName;
use crate::query::continuation::Position;
use crate::query::plan::Step;
use crate::store::{Page, PageToken, Selection, StoreQuery, TableStore};

/// Reads the pages of a plan's ranges in order, the first pages of several ranges at once.
#[derive(Debug)]
pub(super) struct Cursor {
    store: Arc<dyn TableStore>,
    table: TableName,
    steps: Vec<Step>,
    selection: Selection,
    concurrency: usize,
    /// How many ranges are asked for next time. Ranges that end soon let it grow.
    width: usize,
    at: Position,
    /// First pages of the ranges from `at` on, which were read ahead.
    ahead: VecDeque<Page>,
}

impl Cursor {
    /// Reads all ranges to their end, so that nothing is read ahead in vain.
    pub(super) fn eager<R>(prepared: &Prepared<R>) -> Self {
        Self { width: prepared.concurrency, ..Self::frugal(prepared, Position::default()) }
    }

    /// May stop anywhere, so ranges are read ahead only once those before them proved short.
    pub(super) fn frugal<R>(prepared: &Prepared<R>, at: Position) -> Self {
        Self {
            store: Arc::clone(&prepared.store),
            table: prepared.table.clone(),
            steps: prepared.explain.steps().to_vec(),
            selection: prepared.explain.selection().clone(),
            concurrency: prepared.concurrency,
            width: 1,
            at,
            ahead: VecDeque::new(),
        }
    }

    /// Where the next page begins; none at the end.
    pub(super) fn position(&self) -> Option<&Position> {
        (self.at.step < self.steps.len()).then_some(&self.at)
    }

    /// How many rows the next page has, where it was read ahead.
    pub(super) fn rows_ahead(&self) -> usize {
        self.ahead.front().map_or(0, |page| page.entities.len())
    }

    /// Reads the next page; none at the end. A page may be empty before the end.
    pub(super) async fn next(&mut self, limit: usize) -> Result<Option<Vec<DynamicEntity>>> {
        let Some(step) = self.steps.get(self.at.step) else { return Ok(None) };
        let page = if self.at.token.is_some() {
            self.fetch(step, limit, self.at.token.clone()).await?
        } else {
            if self.ahead.is_empty() {
                self.ahead = self.fetch_ahead(limit).await?;
                self.width = self.width.saturating_mul(2).min(self.concurrency);
            }
            self.ahead.pop_front().unwrap_or_default()
        };
        match page.next {
            Some(token) => self.at.token = Some(token),
            None => self.at.step += 1,
        }
        Ok(Some(page.entities))
    }

    /// The first pages of the next ranges.
    async fn fetch_ahead(&self, limit: usize) -> Result<VecDeque<Page>> {
        let next = self.steps.iter().skip(self.at.step).take(self.width);
        try_join_all(next.map(|step| self.fetch(step, limit, None))).await.map(VecDeque::from)
    }

    async fn fetch(&self, step: &Step, limit: usize, after: Option<PageToken>) -> Result<Page> {
        let page = if let (Some((partition, row)), None) = (step.range.as_entity(), &step.filter) {
            self.fetch_point(partition, row).await
        } else {
            let query = StoreQuery {
                range: step.range.clone(),
                filter: step.filter.clone(),
                selection: self.selection.clone(),
                limit: Some(limit),
                after,
            };
            (*self.store).query(&self.table, &query).await
        };
        page.map_err(|error| at(error, &self.table))
    }

    async fn fetch_point(&self, partition: &str, row: &str) -> Result<Page> {
        // A raw filter may name a key that no row can have.
        let Ok(key) = EntityKey::parse(partition, row) else { return Ok(Page::default()) };
        let found = (*self.store).get(&self.table, &key, &self.selection).await?;
        Ok(Page { entities: found.into_iter().collect(), next: None })
    }
}
