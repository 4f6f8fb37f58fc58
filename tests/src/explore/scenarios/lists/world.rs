//! The table of the employees with its lists, and what they must hold in the end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use table_core::{DynamicEntity, Entity, EntityKey, Key, ManualClock, Query, Result, Table, Versioned};
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::{IndexEntities, ListBlobs, ListPlace};

use super::{Step, Steps};
use crate::explore::scenarios::history::{self, DiesAfterTransaction, Impossible, outcomes};
use crate::explore::stage::Stores;
use crate::explore::{Answer, Judgement, Stage, Wrong};

/// The default of the intents' options.
const GRACE: Duration = Duration::from_secs(24 * 60 * 60);
/// Longer than a writer has its intent for itself, and shorter than the grace period.
const LATER: Duration = Duration::from_secs(600);

/// Where the lists are, and when in blobs: above so many bytes, before the actors come and with them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setup {
    pub(super) beside: bool,
    pub(super) before: usize,
    pub(super) above: usize,
}

impl Setup {
    /// In another table, in rows.
    pub(super) const ROWS: Self = Self { beside: false, before: 100_000, above: 100_000 };
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
pub(super) struct Employee {
    department: String,
    id: u32,
    city: String,
}

impl Employee {
    pub(super) fn move_to(&mut self, city: &str) {
        city.clone_into(&mut self.city);
    }
}

pub(super) fn employee(id: u32, city: &str) -> Employee {
    Employee { department: "d".into(), id, city: city.into() }
}

pub(super) fn key(id: u32) -> Key<Employee> {
    Employee::key("d", id)
}

/// What a writer did, and what it was told.
pub(super) type Log = history::Log<Step>;

/// The lists, and the mover that keeps them.
pub(super) async fn kept(
    setup: Setup,
    above: usize,
    Stores { store, blobs }: &Stores,
) -> Result<(IndexEntities<Employee>, Mover)> {
    let place = if setup.beside { ListPlace::beside() } else { ListPlace::table("EmployeesByCity") };
    let lists = IndexEntities::<Employee>::new(Table::new(store.clone(), "Employees")?)
        .list_at(place, "city", |each| Some(each.city.clone()))
        .with_blobs(ListBlobs::new(blobs.clone()).with_above_bytes(above));
    let mover = Mover::builder(store.clone(), "moves")?.keep_lists(&lists).build().await?;
    Ok((lists.kept_by(&mover)?, mover))
}

/// The stores, past everything that is explored.
pub(super) struct World {
    setup: Setup,
    clock: Arc<ManualClock>,
    bare: Stores,
    undisturbed: Stores,
}

#[expect(clippy::expect_used, reason = "on the memory store alone nothing fails")]
impl World {
    /// The employees that are there at first, in their lists.
    pub(super) async fn prepare(stage: &Stage, setup: Setup, there: &[(u32, &str)]) -> Self {
        let world = Self { setup, clock: stage.clock(), bare: stage.bare(), undisturbed: stage.undisturbed() };
        let (employees, _) = kept(setup, setup.before, &world.bare).await.expect("lists");
        employees.create_if_missing().await.expect("tables");
        let by_city = employees.table().sibling("EmployeesByCity").expect("a name");
        by_city.create_if_missing().await.expect("a table");
        for (id, city) in there {
            employees.insert(&employee(*id, city)).await.expect("an employee");
        }
        world
    }

    /// Lets a writer die right after its transaction, so that its message is left for the workers.
    pub(super) async fn left_half_done(&self, stage: &Stage, steps: Steps) -> Log {
        let log = Log::default();
        let dying = stage.taking_turns(Arc::new(DiesAfterTransaction::default()));
        drop(steps.run(self.setup, dying, log.clone()).await);
        log
    }
}

impl World {
    /// Lets every wait pass until the queue is empty: first the work, then what is collected.
    async fn settle(&self, judgement: &mut Judgement) -> Result<()> {
        let (_, mover) = kept(self.setup, self.setup.above, &self.undisturbed).await?;
        for round in 0..30 {
            self.clock.advance(if round < 6 { LATER } else { GRACE });
            mover.run_due().await?;
            if mover.progress().await?.queued == 0 {
                break;
            }
        }
        let left = mover.progress().await?.queued;
        judgement.expect(left == 0, Wrong::Broken, || format!("{left} messages are left on the queue"));
        let poisoned = mover.poisoned().await?;
        judgement.expect(poisoned.is_empty(), Wrong::Broken, || format!("{poisoned:?}"));
        Ok(())
    }

    pub(super) async fn judge(self, there: &'static [(u32, &'static str)], logs: Vec<Log>) -> Judgement {
        let mut judgement = Judgement::default();
        let looked: Result<()> = async {
            self.settle(&mut judgement).await?;
            let (lists, _) = kept(self.setup, self.setup.above, &self.bare).await?;
            let employees = lists.table().all(Query::<Employee>::all().allow_scan()).await?;
            let employees: Vec<Employee> = employees.into_iter().map(Versioned::into_value).collect();
            judge_answers(&mut judgement, there, &logs, &employees);
            self.judge_lists(&mut judgement, &lists, &employees).await
        }
        .await;
        if let Err(error) = looked {
            judgement.find(Wrong::Broken, error.to_string());
        }
        judgement
    }

    /// Every employee is in the list of its city, no list names another, and no other row or blob is there.
    async fn judge_lists(
        &self,
        judgement: &mut Judgement,
        lists: &IndexEntities<Employee>,
        employees: &[Employee],
    ) -> Result<()> {
        let mut expected: BTreeMap<&str, Vec<EntityKey>> = BTreeMap::new();
        for employee in employees {
            expected.entry(&employee.city).or_default().push(employee.entity_key()?);
        }
        for (city, keys) in &expected {
            let found: Vec<EntityKey> = if self.setup.beside {
                let partition = table_core::PartitionKey::new("d")?;
                let rows = lists.keys(&partition, "city", city).await?;
                rows.into_iter().map(|row| EntityKey::new(partition.clone(), row)).collect()
            } else {
                lists.keys_across("city", city).await?
            };
            for key in keys {
                judgement.expect(found.contains(key), Wrong::Lost, || format!("the list of {city} lacks {key}"));
            }
            for key in &found {
                judgement.expect(keys.contains(key), Wrong::Stale, || format!("the list of {city} names {key}"));
            }
        }
        let mut rows = Vec::new();
        for name in ["Employees", "EmployeesByCity"] {
            let table = Table::new(self.bare.store.clone(), name)?;
            rows.extend(table.all(Query::<DynamicEntity>::all().allow_scan()).await?);
        }
        let count = rows.len();
        judgement.expect(count == employees.len() + expected.len(), Wrong::Orphaned, || {
            format!("there are {count} rows of {employees:?}: {rows:?}")
        });
        let blobs = lists.verify_blobs().await?;
        judgement.expect(blobs.orphaned.is_empty(), Wrong::Orphaned, || format!("{blobs:?}"));
        judgement.expect(blobs.missing.is_empty(), Wrong::Lost, || format!("{blobs:?}"));
        Ok(())
    }
}

/// What was acknowledged is there, and what was refused is not.
fn judge_answers(judgement: &mut Judgement, there: &[(u32, &str)], logs: &[Log], employees: &[Employee]) {
    let mut ids: Vec<u32> = there.iter().map(|(id, _)| *id).collect();
    let steps: Vec<(Step, Answer)> = logs.iter().flat_map(|log| log.steps(|_| true)).collect();
    ids.extend(steps.iter().map(|(step, _)| id_of(*step)));
    ids.sort_unstable();
    ids.dedup();
    for id in ids {
        let first = there.iter().find(|(other, _)| *other == id).map(|(_, city)| employee(id, city));
        let histories: Vec<_> = logs.iter().map(|log| log.steps(|step| id_of(*step) == id)).collect();
        let possible = outcomes(first, &histories, &applied);
        let ended = employees.iter().find(|employee| employee.id == id);
        judgement.expect(possible.iter().any(|possible| possible.as_ref() == ended), Wrong::Lost, || {
            format!("{ended:?} is none of {possible:?} after {steps:?}")
        });
    }
}

const fn id_of(step: Step) -> u32 {
    match step {
        Step::Insert(id, _) | Step::Move(id, _) | Step::Delete(id) => id,
    }
}

/// What a step makes of an employee; an error where it cannot succeed.
fn applied(step: Step, state: Option<&Employee>) -> std::result::Result<Option<Employee>, Impossible> {
    match (step, state) {
        (Step::Insert(id, city), None) | (Step::Move(id, city), Some(_)) => Ok(Some(employee(id, city))),
        (Step::Delete(_), _) => Ok(None),
        _ => Err(Impossible),
    }
}
