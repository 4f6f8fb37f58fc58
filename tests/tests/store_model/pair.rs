//! A store's tables beside their model, step by step.

use std::collections::HashSet;
use std::sync::Arc;

use proptest::prelude::*;
use table_core::store::{Selection, StoreQuery};
use table_core::{
    Action, DynamicEntity, ETag, EntityKey, ErrorKind, ManualClock, Operation, PropertyName, TableName, TableStore,
    Transaction,
};

use crate::answer;
use crate::steps::{Search, Step, Write};
use crate::table_model::{Model, place, selected};

pub(crate) struct Pair {
    tables: Box<dyn TableStore>,
    /// That of a store of our own, which can be turned.
    clock: Option<Arc<ManualClock>>,
    model: Model,
    etags: HashSet<(Option<EntityKey>, ETag)>,
}

fn table(name: &str) -> TableName {
    TableName::new(name).unwrap()
}

fn selection(names: Option<&[&str]>) -> Selection {
    names.map_or(Selection::All, |names| {
        Selection::Only(names.iter().map(|name| PropertyName::new(name).unwrap()).collect())
    })
}

fn store_query(search: &Search) -> StoreQuery {
    StoreQuery {
        range: search.range.clone(),
        filter: search.filter.clone(),
        selection: selection(search.selection.as_deref()),
        limit: search.limit,
        after: None,
    }
}

fn kind<T>(result: table_core::Result<T>) -> Result<T, ErrorKind> {
    result.map_err(|error| error.kind())
}

impl Pair {
    /// Runs all steps, and compares all that is left.
    pub(crate) fn run(
        tables: Box<dyn TableStore>,
        clock: Option<Arc<ManualClock>>,
        steps: Vec<Step>,
    ) -> Result<(), TestCaseError> {
        let mut pair = Self { tables, clock, model: Model::default(), etags: HashSet::new() };
        for step in steps {
            pair.step(step)?;
        }
        for name in ["Staff", "Teams", "Rooms"] {
            let all = Search { range: table_core::keys::KeyRange::ALL, filter: None, selection: None, limit: None };
            pair.query(name, &all)?;
        }
        Ok(())
    }

    fn step(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Create(name) => {
                prop_assert_eq!(kind(answer(self.tables.create_table(&table(name)))), self.model.create(name));
            }
            Step::Drop(name) => {
                prop_assert_eq!(kind(answer(self.tables.delete_table(&table(name)))), self.model.drop(name));
            }
            Step::List => {
                let page = answer(self.tables.list_tables(None)).unwrap();
                let names: Vec<_> = page.tables.iter().map(TableName::as_str).collect();
                prop_assert_eq!(names, self.model.names());
            }
            Step::Write(name, key, write) => self.write(name, &key, &write)?,
            Step::Transact(name, partition, operations) => self.transact(name, partition, &operations)?,
            Step::Get(name, key, names) => {
                let read = kind(answer(self.tables.get(&table(name), &key, &selection(names.as_deref()))));
                let row = self.model.rows(name).map(|rows| rows.iter().find(|row| row.key == key));
                prop_assert_eq!(read, row.map(|row| row.map(|row| selected(row, names.as_deref()))));
            }
            Step::Query(name, search) => self.query(name, &search)?,
            Step::Interrupted(name, search, writes) => self.interrupted(name, &search, &writes)?,
            Step::Clock(ticks) => {
                use table_core::{Clock, Timestamp};
                if let Some(clock) = &self.clock {
                    let moved = clock.now().ticks() + ticks;
                    clock.set(Timestamp::from_ticks(moved).unwrap());
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, name: &str, key: &EntityKey, write: &Write) -> Result<(), TestCaseError> {
        let action = self.model.action(key, write);
        let written = answer(self.tables.write(&table(name), Operation::new(action.clone()).unwrap()));
        match self.model.apply(name, std::slice::from_ref(&action)) {
            Ok(()) => {
                let written = written.map_err(|error| TestCaseError::fail(format!("{action:?}: {error}")))?;
                self.stamp(name, &action, written.etag)
            }
            Err((_, expected)) => {
                let error = written.expect_err("the model refuses this write");
                prop_assert_eq!(error.kind(), expected, "{:?}", action);
                prop_assert_eq!(error.key(), Some(key));
                prop_assert_eq!(error.operation(), Some(action.name()));
                Ok(())
            }
        }
    }

    fn transact(&mut self, name: &str, partition: &str, all: &[(&str, Write)]) -> Result<(), TestCaseError> {
        let actions =
            all.iter().map(|(row, write)| self.model.action(&EntityKey::parse(partition, row).unwrap(), write));
        let actions: Vec<_> = actions.collect();
        let operations = actions.iter().map(|action| Operation::new(action.clone()).unwrap()).collect();
        let written = answer(self.tables.transact(&table(name), Transaction::new(operations).unwrap()));
        match self.model.apply(name, &actions) {
            Ok(()) => {
                let written = written.map_err(|error| TestCaseError::fail(format!("{actions:?}: {error}")))?;
                prop_assert_eq!(written.len(), actions.len());
                for (action, written) in actions.iter().zip(written) {
                    self.stamp(name, action, written.etag)?;
                }
            }
            Err((index, expected)) => {
                let error = written.expect_err("the model refuses this transaction");
                prop_assert_eq!(error.kind(), expected);
                let expected_index = (expected != ErrorKind::TableNotFound).then_some(index);
                prop_assert_eq!(error.operation_index(), expected_index);
            }
        }
        Ok(())
    }

    /// Gives the model the version that the store answered, which must be new.
    fn stamp(&mut self, name: &str, action: &Action, etag: Option<ETag>) -> Result<(), TestCaseError> {
        prop_assert_eq!(etag.is_some(), action.entity().is_some());
        if let Some(etag) = etag {
            // Our own stores promise more than the service: that no two rows share one either.
            let of = if self.clock.is_some() { None } else { Some(action.key().clone()) };
            prop_assert!(self.etags.insert((of, etag.clone())), "an ETag repeats: {etag}");
            self.model.stamp(name, action.key(), etag);
        }
        Ok(())
    }

    fn query(&self, name: &str, search: &Search) -> Result<(), TestCaseError> {
        let mut query = store_query(search);
        let mut found = Vec::new();
        loop {
            match answer(self.tables.query(&table(name), &query)) {
                Ok(page) => {
                    prop_assert!(page.entities.len() <= query.page_size());
                    found.extend(page.entities);
                    query.after = page.next;
                }
                Err(error) => {
                    prop_assert_eq!(Err(error.kind()), self.model.query(name, search));
                    return Ok(());
                }
            }
            if query.after.is_none() {
                prop_assert_eq!(Ok(found), self.model.query(name, search));
                return Ok(());
            }
        }
    }

    /// Reads page by page with a write after each: what no write touched comes exactly once.
    fn interrupted(&mut self, name: &str, search: &Search, writes: &[(EntityKey, Write)]) -> Result<(), TestCaseError> {
        let Ok(before) = self.model.query(name, search) else {
            return Ok(());
        };
        let mut query = StoreQuery { limit: Some(1), ..store_query(search) };
        let mut writes = writes.iter();
        let mut touched = HashSet::new();
        let mut found: Vec<DynamicEntity> = Vec::new();
        loop {
            let page = answer(self.tables.query(&table(name), &query)).unwrap();
            for row in &page.entities {
                let current = self.model.rows(name).unwrap().iter().find(|each| each.key == row.key);
                let current = current.map(|current| selected(current, search.selection.as_deref()));
                prop_assert_eq!(current.as_ref(), Some(row), "a row is given as it is when its page is read");
            }
            found.extend(page.entities);
            query.after = page.next;
            if query.after.is_none() {
                break;
            }
            if let Some((key, write)) = writes.next() {
                self.write(name, key, write)?;
                touched.insert(key.clone());
            }
        }
        let places: Vec<_> = found.iter().map(|row| place(&row.key)).collect();
        prop_assert!(places.is_sorted_by(|a, b| a < b), "rows come twice or out of order");
        let untouched = |rows: Vec<DynamicEntity>| -> Vec<_> {
            rows.into_iter().filter(|row| !touched.contains(&row.key)).collect()
        };
        prop_assert_eq!(untouched(found), untouched(before));
        Ok(())
    }
}
