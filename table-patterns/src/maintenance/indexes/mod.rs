//! Maintenance of indexes: in the partition of their entities, and elsewhere.

mod judge;
mod mend;

use table_core::{DynamicEntity, Entity, Result, Table, Timestamp, Value, reserved};

use super::look::Verdict;
use super::marks::{Mark, is_of_indexes};
use super::{Checked, Finding, Maintained, Tables, Wrong};
use crate::intent::rows;
use crate::inter_partition_secondary_index::Place;
use crate::intra_partition_secondary_index::Indexed;
use crate::rows::is_unreadable;
use judge::Spot;
use mend::Done;

/// The indexes of a type, as maintenance sees them.
struct Indexes<'a, E>(&'a Indexed<E>);

impl<E: Entity> Maintained for Indexed<E> {
    fn tables(&self) -> Result<Tables> {
        let mut copies: Vec<Table> = Vec::new();
        for name in E::SCHEMA.indexes.iter().filter_map(|index| index.table) {
            let table = self.table().sibling(name)?;
            if table.name() != self.table().name() && copies.iter().all(|other| other.name() != table.name()) {
                copies.push(table);
            }
        }
        Ok(Tables { sources: vec![self.table().clone()], copies })
    }

    async fn check(&self, table: &Table, row: DynamicEntity, now: Timestamp) -> Result<Checked> {
        let indexes = Indexes(self);
        if table.name() == self.table().name() && E::recognizes(&row) {
            return indexes.check_source(row, now).await;
        }
        if let Some((position, index)) = indexes.index_of(table, &row) {
            let spot = Spot::new(self.table(), position, index, row.key.clone())?;
            return indexes.check_copy(&spot, &row, now).await;
        }
        match Mark::of(&row) {
            Some(mark) if is_of_indexes(&row) => indexes.check_mark(table, mark, &row, now).await,
            _ => Ok(Checked::default()),
        }
    }

    async fn fill(&self, table: &Table, row: DynamicEntity) -> Result<Checked> {
        if table.name() == self.table().name() && E::recognizes(&row) {
            Indexes(self).fill(row).await
        } else {
            Ok(Checked::default())
        }
    }

    async fn mend(&self, finding: &Finding, now: Timestamp) -> Result<bool> {
        let indexes = Indexes(self);
        match (finding.wrong, &finding.source, Spot::of_finding::<E>(self.table(), finding)?) {
            (_, Some(source), Some(spot)) => {
                Ok(matches!(indexes.set(&spot, source).await?, Done::Written | Done::Right))
            }
            (Wrong::Orphaned | Wrong::Leftover, _, None) => indexes.clear(finding, now).await,
            _ => Ok(false),
        }
    }
}

impl<E: Entity> Indexes<'_, E> {
    fn table(&self) -> &Table {
        self.0.table()
    }

    /// The copies of a stored entity that are not what it says; or that nothing can be said of them.
    async fn suspects(&self, row: DynamicEntity) -> Result<Result<Vec<Spot>, Finding>> {
        let key = row.key.clone();
        let entity = match E::from_row(row) {
            Ok(entity) => entity,
            Err(error) if is_unreadable(&error) => return Ok(Err(unreadable(self.table(), key))),
            Err(error) => return Err(error),
        };
        let mut suspects = Vec::new();
        for (spot, copy) in self.spots(entity.value())? {
            let stored = self.stored(&spot.place).await?;
            if !stored.is_some_and(|stored| rows::is_as(&stored, &copy)) {
                suspects.push(spot);
            }
        }
        Ok(Ok(suspects))
    }

    async fn fill(&self, row: DynamicEntity) -> Result<Checked> {
        let mut checked = Checked { is_source: true, ..Checked::default() };
        let key = row.key.clone();
        match self.suspects(row).await? {
            Err(unreadable) => checked.findings.push(unreadable),
            Ok(suspects) => {
                for spot in suspects {
                    match self.set(&spot, &key).await? {
                        Done::Written => checked.written += 1,
                        Done::Right => {}
                        Done::Taken => checked.findings.push(spot.finding(Wrong::Doubled, Some(key.clone()))),
                        Done::InFlight => checked.in_flight += 1,
                    }
                }
            }
        }
        Ok(checked)
    }

    async fn check_source(&self, row: DynamicEntity, now: Timestamp) -> Result<Checked> {
        let mut checked = Checked { is_source: true, ..Checked::default() };
        let key = row.key.clone();
        match self.suspects(row).await? {
            Err(unreadable) => checked.findings.push(unreadable),
            Ok(suspects) => {
                for spot in suspects {
                    match self.confirm(&spot, &key, now).await? {
                        // A copy whose entity has moved on since is found where the copy stands.
                        Verdict::Right | Verdict::Wrong(Wrong::Orphaned) => {}
                        Verdict::Wrong(wrong) => checked.findings.push(spot.finding(wrong, Some(key.clone()))),
                        Verdict::InFlight => checked.in_flight += 1,
                    }
                }
            }
        }
        Ok(checked)
    }

    async fn check_copy(&self, spot: &Spot, row: &DynamicEntity, now: Timestamp) -> Result<Checked> {
        let mut checked = Checked { is_copy: true, ..Checked::default() };
        let Some(source) = self.source_of(spot.position, row) else {
            // A copy that names an entity of another table is that table's to check.
            if row.get(reserved::ROW_OWNER.as_str()).is_none() {
                checked.findings.push(spot.finding(Wrong::Unreadable, None));
            }
            return Ok(checked);
        };
        let entity = match self.entity(&source).await {
            // That is found with the entity, and nothing can be said of its copy.
            Err(error) if is_unreadable(&error) => return Ok(checked),
            entity => entity?,
        };
        if self.copy_at(entity.as_ref(), spot)?.is_some() {
            // Its entity says that it is to be here; whether its fields are right is found with the entity.
            return Ok(checked);
        }
        match self.confirm(spot, &source, now).await? {
            Verdict::Wrong(wrong @ (Wrong::Orphaned | Wrong::Stale)) => {
                checked.findings.push(spot.finding(wrong, Some(source)));
            }
            Verdict::InFlight => checked.in_flight += 1,
            Verdict::Wrong(_) | Verdict::Right => {}
        }
        Ok(checked)
    }

    /// Claims, tombstones, intents and fences: on their way while they are young, and left over when they are old.
    async fn check_mark(&self, table: &Table, mark: Mark, row: &DynamicEntity, now: Timestamp) -> Result<Checked> {
        let mut checked = Checked::default();
        let owner = row.get(reserved::ROW_OWNER.as_str()).and_then(Value::as_str);
        let Some(source) = owner.and_then(|owner| rows::source(self.table(), owner)) else { return Ok(checked) };
        let is_overdue = self.is_overdue(row, now);
        let place = Place::new(table, mark.as_str(), None, row.key.clone())?;
        let finding = |wrong| {
            let Place { index, table, key } = place.clone();
            Finding { wrong, copy: index, table, key, source: Some(source.clone()) }
        };
        match mark {
            Mark::Claim if !is_overdue => checked.in_flight += 1,
            Mark::Claim => {
                let entity = match self.entity(&source).await {
                    Err(error) if is_unreadable(&error) => return Ok(checked),
                    entity => entity?,
                };
                // Where its entity has the value the copy is missing, which is found with the entity.
                if !self.holds(entity.as_ref(), &place)? {
                    checked.findings.push(finding(Wrong::Orphaned));
                }
            }
            Mark::Tombstone | Mark::Intent | Mark::Fence if is_overdue => {
                checked.findings.push(finding(Wrong::Leftover));
            }
            Mark::Tombstone | Mark::Intent | Mark::Fence => {}
        }
        Ok(checked)
    }
}

fn unreadable(table: &Table, key: table_core::EntityKey) -> Finding {
    let (copy, table) = (String::new(), table.name().clone());
    Finding { wrong: Wrong::Unreadable, copy, table, source: Some(key.clone()), key }
}
