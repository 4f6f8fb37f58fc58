//! Maintenance of copies in other entities, and of counts: in the partition of their sources, and elsewhere.
//!
//! A target names its source, so everything that can be wrong is found at the target.

mod judge;
mod mend;

use table_core::{DynamicEntity, EntityKey, FromRow, Result, Table, Timestamp, Value, reserved};

use super::look::Verdict;
use super::marks::Mark;
use super::{Checked, Finding, Maintained, Tables, Wrong};
use crate::denormalization::{Denormalized, KeepsCopies};
use crate::intent::rows;
use crate::rows::is_unreadable;
use judge::judge;

/// What a finding calls the count of a target.
const COUNT: &str = "~count";

/// The copies of a pair, as maintenance sees them.
struct Copies<'a, T: KeepsCopies>(&'a Denormalized<T>);

impl<T: KeepsCopies> Maintained for Denormalized<T> {
    fn tables(&self) -> Result<Tables> {
        let others = (self.sources().name() != self.table().name()).then(|| self.sources().clone());
        Ok(Tables { sources: vec![self.table().clone()], copies: others.into_iter().collect() })
    }

    async fn check(&self, table: &Table, row: DynamicEntity, now: Timestamp) -> Result<Checked> {
        let copies = Copies(self);
        if table.name() == self.table().name() && T::recognizes(&row) {
            return copies.check_target(row, now).await;
        }
        if table.name() == self.sources().name() && T::Source::recognizes(&row) {
            return source_of::<T::Source>(table, row);
        }
        Ok(copies.check_mark(table, &row, now))
    }

    async fn fill(&self, table: &Table, row: DynamicEntity) -> Result<Checked> {
        if table.name() == self.sources().name() && T::Source::recognizes(&row) {
            return source_of::<T::Source>(table, row);
        }
        if table.name() != self.table().name() || !T::recognizes(&row) {
            return Ok(Checked::default());
        }
        let key = row.key.clone();
        let mut checked = Checked { is_copy: true, ..Checked::default() };
        if let Err(unreadable) = readable::<T>(table, row)? {
            checked.findings.push(unreadable);
        } else {
            match Copies(self).set(&key).await {
                Ok(is_written) => checked.written = u64::from(is_written),
                Err(error) if is_unreadable(&error) => {
                    checked.findings.push(unreadable(self.sources(), error.key().cloned().unwrap_or(key)));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(checked)
    }

    async fn mend(&self, finding: &Finding, now: Timestamp) -> Result<bool> {
        let copies = Copies(self);
        match finding.wrong {
            Wrong::Orphaned | Wrong::Stale | Wrong::Missing => copies.set(&finding.key).await.map(|_| true),
            Wrong::Leftover => copies.clear(finding, now).await,
            Wrong::Doubled | Wrong::Unreadable => Ok(false),
        }
    }
}

impl<T: KeepsCopies> Copies<'_, T> {
    async fn check_target(&self, row: DynamicEntity, now: Timestamp) -> Result<Checked> {
        let mut checked = Checked { is_copy: true, ..Checked::default() };
        let key = row.key.clone();
        let target = match readable::<T>(self.0.table(), row)? {
            Ok(target) => target,
            Err(unreadable) => {
                checked.findings.push(unreadable);
                return Ok(checked);
            }
        };
        let source = match self.source_of(&target).await {
            // That is found with the source, and nothing can be said of the copy.
            Err(error) if is_unreadable(&error) => return Ok(checked),
            source => source?,
        };
        if judge(&target, source.as_deref())?.is_some() {
            match self.confirm(&key, now).await? {
                Verdict::Right => {}
                Verdict::InFlight => checked.in_flight += 1,
                Verdict::Wrong((wrong, at)) => {
                    checked.findings.push(self.finding(wrong, T::SCHEMA.name, key.clone(), at));
                }
            }
        }
        if self.0.across().is_none() && self.has_wrong_count(&key).await? {
            checked.findings.push(self.finding(Wrong::Stale, COUNT, key, None));
        }
        Ok(checked)
    }

    /// Intents and fences of this pair: on their way while they are young, and left over when they are old.
    fn check_mark(&self, table: &Table, row: &DynamicEntity, now: Timestamp) -> Checked {
        let mark = Mark::of(row).filter(|mark| matches!(mark, Mark::Intent | Mark::Fence) && self.owns(row));
        let owner = row.get(reserved::ROW_OWNER.as_str()).and_then(Value::as_str);
        let owner = owner.and_then(|owner| rows::source(table, owner));
        match (mark, owner) {
            (Some(mark), Some(owner)) if self.is_overdue(row, now) => {
                let (copy, table, key) = (mark.as_str().to_owned(), table.name().clone(), row.key.clone());
                let left = Finding { wrong: Wrong::Leftover, copy, table, key, source: Some(owner) };
                Checked { findings: vec![left], ..Checked::default() }
            }
            _ => Checked::default(),
        }
    }

    fn finding(&self, wrong: Wrong, copy: &str, key: EntityKey, source: Option<EntityKey>) -> Finding {
        Finding { wrong, copy: copy.to_owned(), table: self.0.table().name().clone(), key, source }
    }
}

/// A source, of which only can be said whether it can be read.
fn source_of<S: FromRow>(table: &Table, row: DynamicEntity) -> Result<Checked> {
    let findings = readable::<S>(table, row)?.err().into_iter().collect();
    Ok(Checked { is_source: true, findings, ..Checked::default() })
}

/// An entity, or that nothing can be said of it.
fn readable<T: FromRow>(table: &Table, row: DynamicEntity) -> Result<Result<table_core::Versioned<T>, Finding>> {
    let key = row.key.clone();
    match T::from_row(row) {
        Ok(target) => Ok(Ok(target)),
        Err(error) if is_unreadable(&error) => Ok(Err(unreadable(table, key))),
        Err(error) => Err(error),
    }
}

fn unreadable(table: &Table, key: EntityKey) -> Finding {
    Finding { wrong: Wrong::Unreadable, copy: String::new(), table: table.name().clone(), key, source: None }
}
