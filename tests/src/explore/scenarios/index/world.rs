//! The tables of the employees, and what they must hold in the end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use table_core::{
    DynamicEntity, Entity, EntityKey, FromRow, Key, ManualClock, MemoryStore, Query, Result, Table, Value, reserved,
};
use table_patterns::Indexed;
use table_patterns::eventually_consistent_transactions::Mover;

use super::{Step, Steps};
use crate::explore::scenarios::history::{self, DiesAfterTransaction, Impossible, outcomes};
use crate::explore::{Answer, Judgement, Stage, StoreHandle, Wrong};
use crate::gate::Gate;

/// The default of the index's options.
const GRACE: Duration = Duration::from_secs(24 * 60 * 60);
/// Longer than a writer has its intent for itself, and shorter than the grace period.
const LATER: Duration = Duration::from_secs(600);

/// One unique value across partitions, in another table, and one index in other partitions of the same table.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(directory, table = "EmployeesByEmail", partition = "{email}", row = "", include(name))]
#[index(office, partition = "office_{office}", row = "at_{department}_{id:06}", include(name))]
pub(super) struct Employee {
    department: String,
    id: u32,
    pub(super) name: String,
    pub(super) email: String,
    pub(super) office: Option<String>,
}

/// Each employee has a department of its own, since two in one partition are no different.
pub(super) fn employee(id: u32, email: &str) -> Employee {
    Employee { department: format!("d{id}"), id, name: "Old".into(), email: email.into(), office: None }
}

pub(super) fn key(id: u32) -> Key<Employee> {
    Employee::key(&format!("d{id}"), id)
}

pub(super) async fn mover(store: &StoreHandle) -> Result<Mover> {
    let table = Table::new(store.clone(), "Employees")?;
    Mover::builder(store.clone(), "moves")?.keep_indexes::<Employee>(&table).build().await
}

/// What a writer did, and what it was told.
pub(super) type Log = history::Log<Step>;

/// The stores, past everything that is explored.
pub(super) struct World {
    clock: Arc<ManualClock>,
    memory: MemoryStore,
    undisturbed: StoreHandle,
}

#[expect(clippy::expect_used, reason = "on the memory store alone nothing fails")]
impl World {
    /// The employees that are there at first, with their copies.
    pub(super) async fn prepare(stage: &Stage, there: &[(u32, &str)]) -> Self {
        let world = Self { clock: stage.clock(), memory: stage.memory(), undisturbed: stage.undisturbed() };
        let memory: StoreHandle = Arc::new(stage.memory());
        let mover = mover(&memory).await.expect("a mover");
        let table = Table::new(memory, "Employees").expect("a table");
        let employees = Indexed::<Employee>::kept_by(table, &mover).expect("indexed entities");
        employees.create_if_missing().await.expect("tables");
        for (id, email) in there {
            employees.insert(&employee(*id, email)).await.expect("an employee");
        }
        world
    }

    /// Lets a writer die right after its transaction, so that its message is left for the workers.
    pub(super) async fn left_half_done(&self, stage: &Stage, steps: Steps) -> Log {
        let log = Log::default();
        let gate = Gate::new(stage.memory(), Arc::new(DiesAfterTransaction::default()));
        drop(steps.run(stage.sabotaged(gate), log.clone()).await);
        log
    }
}

impl World {
    /// Lets every wait pass until the queue is empty: first the work, then what is collected.
    async fn settle(&self, judgement: &mut Judgement) -> Result<()> {
        let mover = mover(&self.undisturbed).await?;
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
            let employees = self.employees(&mut judgement).await?;
            judge_answers(&mut judgement, there, &logs, &employees);
            self.judge_copies(&mut judgement, &employees).await
        }
        .await;
        if let Err(error) = looked {
            judgement.find(Wrong::Broken, error.to_string());
        }
        judgement
    }

    async fn rows(&self, table: &str) -> Result<Vec<DynamicEntity>> {
        let table = Table::new(Arc::new(self.memory.clone()), table)?;
        let rows = table.all(Query::<DynamicEntity>::all().allow_scan()).await?;
        Ok(rows.into_iter().map(table_core::Versioned::into_value).collect())
    }

    /// The employees; every other row of their table is an orphan.
    async fn employees(&self, judgement: &mut Judgement) -> Result<Vec<Employee>> {
        let mut employees = Vec::new();
        for row in self.rows("Employees").await? {
            let kind = row.get(reserved::ROW_KIND.as_str()).and_then(Value::as_str);
            if kind.is_some_and(|kind| kind.starts_with(reserved::INDEX_KIND_PREFIX)) {
                continue;
            }
            if kind.is_some() {
                judgement.find(Wrong::Orphaned, format!("Employees still holds {}", row.key));
            } else {
                employees.push(Employee::from_row(row)?.into_value());
            }
        }
        Ok(employees)
    }

    /// Every employee has its rows in both indexes, they say what the employee says, and there are no others.
    async fn judge_copies(&self, judgement: &mut Judgement, employees: &[Employee]) -> Result<()> {
        let mut stored = self.rows("EmployeesByEmail").await?;
        let own = self.rows("Employees").await?.into_iter();
        stored.extend(own.filter(|row| row.get(reserved::ROW_OWNER.as_str()).is_some()));
        let mut stored: BTreeMap<EntityKey, DynamicEntity> =
            stored.into_iter().map(|row| (row.key.clone(), row)).collect();
        for (position, employee) in (0..2).flat_map(|position| employees.iter().map(move |each| (position, each))) {
            let Some(expected) = employee.index_row(position)? else { continue };
            let twins = employees.iter().filter(|other| other.email == employee.email).count();
            judgement
                .expect(twins == 1, Wrong::Doubled, || format!("{twins} employees have the email {}", employee.email));
            match stored.remove(&expected.key) {
                None => judgement.find(Wrong::Lost, format!("no row of the index leads to {employee:?}")),
                Some(row) => {
                    let told = |row: &DynamicEntity, name: &str| row.get(name).cloned();
                    let owner = format!("employees/{}/empid_{:06}", employee.department, employee.id);
                    let is_ours = told(&row, "RowOwner") == Some(Value::from(owner));
                    let same = expected.properties.iter().all(|(name, value)| row.get(name.as_str()) == Some(value));
                    judgement
                        .expect(is_ours && same, Wrong::Stale, || format!("{employee:?} has the index row {row:?}"));
                }
            }
        }
        for key in stored.keys() {
            judgement.find(Wrong::Orphaned, format!("the index row {key} belongs to nobody"));
        }
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
        let first = there.iter().find(|(other, _)| *other == id).map(|(_, email)| employee(id, email));
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
        Step::Insert(id, _) | Step::Move(id, _) | Step::Seat(id, _) | Step::Rename(id, _) | Step::Delete(id) => id,
    }
}

/// What a step makes of an employee; an error where it cannot succeed.
fn applied(step: Step, state: Option<&Employee>) -> std::result::Result<Option<Employee>, Impossible> {
    match (step, state) {
        (Step::Insert(id, email), None) => Ok(Some(employee(id, email))),
        (Step::Move(_, email), Some(state)) => Ok(Some(Employee { email: email.into(), ..state.clone() })),
        (Step::Rename(_, name), Some(state)) => Ok(Some(Employee { name: name.into(), ..state.clone() })),
        (Step::Seat(_, office), Some(state)) => Ok(Some(Employee { office: Some(office.into()), ..state.clone() })),
        (Step::Delete(_), Some(_)) => Ok(None),
        _ => Err(Impossible),
    }
}
