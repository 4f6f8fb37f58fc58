//! Entities with a property in a blob: written, replaced and deleted while workers and readers are about.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use table_core::{DynamicEntity, Entity, ErrorKind, Key, ManualClock, Query, Result, Table};
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::large_entities::{BlobTable, Large};

use super::history::{self, Applied, DiesAfterTransaction, Impossible};
use crate::explore::{Judgement, Scenario, Stage, Stores, Wrong};

/// The default of the options of intents.
const GRACE: Duration = Duration::from_secs(24 * 60 * 60);
/// Longer than a writer has its intent for itself, and shorter than the grace period.
const LATER: Duration = Duration::from_secs(600);

pub(super) const PAIRS: &[Scenario] = &[
    Scenario::new("blob: insert", |stage| Box::pin(with_worker(stage, None, Steps(&[Step::Insert("a")])))),
    Scenario::new("blob: replace", |stage| Box::pin(with_worker(stage, Some("a"), Steps(&[Step::Replace("b")])))),
    Scenario::new("blob: replace and back", |stage| {
        Box::pin(with_worker(stage, Some("a"), Steps(&[Step::Replace("b"), Step::Replace("a")])))
    }),
    Scenario::new("blob: delete", |stage| Box::pin(with_worker(stage, Some("a"), Steps(&[Step::Delete])))),
    Scenario::new("blob: delete and insert again", |stage| {
        Box::pin(with_worker(stage, Some("a"), Steps(&[Step::Delete, Step::Insert("a")])))
    }),
    Scenario::new("blob: two writers replace", |stage| {
        Box::pin(two_writers(stage, Some("a"), Steps(&[Step::Replace("b")]), Steps(&[Step::Replace("c")])))
    }),
    Scenario::new("blob: two writers insert", |stage| {
        Box::pin(two_writers(stage, None, Steps(&[Step::Insert("b")]), Steps(&[Step::Insert("c")])))
    }),
    Scenario::new("blob: replace and rename", |stage| {
        Box::pin(two_writers(stage, Some("a"), Steps(&[Step::Replace("b")]), Steps(&[Step::Rename("New")])))
    }),
    Scenario::new("blob: replace and delete", |stage| {
        Box::pin(two_writers(stage, Some("a"), Steps(&[Step::Replace("b")]), Steps(&[Step::Delete])))
    }),
    Scenario::new("blob: replace while read", |stage| {
        Box::pin(while_read(stage, Some("a"), Steps(&[Step::Replace("b")])))
    }),
    Scenario::new("blob: two workers on a replace", |stage| {
        Box::pin(two_workers(stage, Some("a"), Steps(&[Step::Replace("b")])))
    }),
    Scenario::new("blob: late worker, and replaced again", |stage| {
        Box::pin(late_worker(stage, Some("a"), Steps(&[Step::Replace("b")]), Steps(&[Step::Replace("a")])))
    }),
];

pub(super) const CROWDS: &[Scenario] = &[
    Scenario::new("blob: crowd on one entity", |stage| {
        Box::pin(crowd(stage, Some("a"), Steps(&[Step::Replace("b")]), Steps(&[Step::Replace("c")])))
    }),
    Scenario::new("blob: crowd, replace and delete", |stage| {
        let (one, other) = (Steps(&[Step::Replace("b")]), Steps(&[Step::Delete, Step::Insert("a")]));
        Box::pin(crowd(stage, Some("a"), one, other))
    }),
];

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
    #[entity(blob)]
    photo: Bytes,
}

fn employee(photo: &'static str) -> Employee {
    Employee { department: "Sales".into(), id: 1, name: "Old".into(), photo: Bytes::from(photo) }
}

fn key() -> Key<Employee> {
    Employee::key("Sales", 1)
}

/// One thing that a writer does with the employee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Insert(&'static str),
    Replace(&'static str),
    /// Changes a field beside the blob, which stays.
    Rename(&'static str),
    Delete,
}

type Log = history::Log<Step>;

/// What a writer does, one after the other, until something is refused.
#[derive(Debug, Clone, Copy)]
struct Steps(&'static [Step]);

impl Steps {
    async fn run(self, stores: Stores, log: Log) -> Result<()> {
        let employees = employees(&stores).await?;
        for step in self.0 {
            log.run(*step, step.run(&employees)).await?;
        }
        Ok(())
    }
}

impl Step {
    async fn run(self, employees: &Large<Employee>) -> Result<()> {
        if let Self::Insert(photo) = self {
            return employees.insert(&employee(photo)).await.map(|_| ());
        }
        let mut read = employees.require(key()).await?;
        match self {
            Self::Replace(photo) => read.photo = Bytes::from(photo),
            Self::Rename(name) => read.name = name.into(),
            Self::Insert(_) | Self::Delete => return employees.delete(&read).await,
        }
        employees.replace(&mut read).await
    }
}

/// What a step makes of the employee.
fn applied(step: Step, state: Option<&Employee>) -> Applied<Employee> {
    match (step, state) {
        (Step::Insert(photo), None) => Ok(Some(employee(photo))),
        (Step::Replace(photo), Some(state)) => Ok(Some(Employee { photo: photo.into(), ..state.clone() })),
        (Step::Rename(name), Some(state)) => Ok(Some(Employee { name: name.into(), ..state.clone() })),
        (Step::Delete, Some(_)) => Ok(None),
        _ => Err(Impossible),
    }
}

fn place(stores: &Stores) -> Result<BlobTable> {
    Ok(BlobTable::new(Table::new(stores.store.clone(), "Employees")?, stores.blobs.clone()))
}

async fn mover(stores: &Stores) -> Result<Mover> {
    Mover::builder(stores.store.clone(), "moves")?.keep_blobs(&place(stores)?).build().await
}

async fn employees(stores: &Stores) -> Result<Large<Employee>> {
    Large::kept_by(place(stores)?, &mover(stores).await?)
}

/// A worker that takes what is due until nothing is.
async fn works(stores: Stores) -> Result<()> {
    mover(&stores).await?.run_due().await.map(|_| ())
}

/// The stores, past everything that is explored.
struct World {
    clock: Arc<ManualClock>,
    bare: Stores,
    undisturbed: Stores,
    first: Option<Employee>,
}

impl World {
    #[expect(clippy::expect_used, reason = "on the stores in memory alone nothing fails")]
    async fn prepare(stage: &Stage, photo: Option<&'static str>) -> Self {
        let first = photo.map(employee);
        let world = Self { clock: stage.clock(), bare: stage.bare(), undisturbed: stage.undisturbed(), first };
        let employees = employees(&world.bare).await.expect("entities");
        employees.table().create().await.expect("a table");
        if let Some(first) = &world.first {
            employees.insert(first).await.expect("an employee");
        }
        world
    }

    /// Lets a writer die right after its transaction, so that its message is left for the workers.
    async fn left_half_done(&self, stage: &Stage, steps: Steps) -> Log {
        let log = Log::default();
        let dying = stage.taking_turns(Arc::new(DiesAfterTransaction::default()));
        drop(steps.run(dying, log.clone()).await);
        log
    }

    /// Lets every wait pass until the queue is empty: first the work, then what is collected.
    async fn settle(&self, judgement: &mut Judgement) -> Result<()> {
        let mover = mover(&self.undisturbed).await?;
        for round in 0..20 {
            self.clock.advance(if round < 3 { LATER } else { GRACE });
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

    async fn judge(self, logs: Vec<Log>) -> Judgement {
        let mut judgement = Judgement::default();
        if let Err(error) = self.look(&mut judgement, &logs).await {
            judgement.find(Wrong::Broken, error.to_string());
        }
        judgement
    }

    async fn look(&self, judgement: &mut Judgement, logs: &[Log]) -> Result<()> {
        self.settle(judgement).await?;
        let employees = employees(&self.bare).await?;
        let report = employees.verify().await?;
        for name in &report.orphaned {
            judgement.find(Wrong::Orphaned, format!("nothing refers to the blob {name}"));
        }
        for (key, property) in &report.missing {
            judgement.find(Wrong::Lost, format!("the blob of {property} of {key} is not there"));
        }
        for row in employees.table().all(Query::<DynamicEntity>::all().allow_scan()).await? {
            let is_employee = row.key.row.as_str().starts_with("empid_");
            judgement.expect(is_employee, Wrong::Orphaned, || format!("Employees still holds {}", row.key));
        }
        if report.missing.is_empty() {
            let ended = employees.get(key()).await?.map(table_core::Versioned::into_value);
            let histories: Vec<_> = logs.iter().map(Log::history).collect();
            let possible = history::outcomes(self.first.clone(), &histories, &applied);
            judgement.expect(possible.contains(&ended), Wrong::Lost, || {
                format!("{ended:?} is none of {possible:?} after {histories:?}")
            });
        }
        Ok(())
    }
}

async fn with_worker(stage: &mut Stage, first: Option<&'static str>, steps: Steps) {
    let (world, log) = (World::prepare(stage, first).await, Log::default());
    stage.actor_with_blobs("writer", |stores| steps.run(stores, log.clone()));
    stage.actor_with_blobs("worker", works);
    stage.judge(world.judge(vec![log]));
}

async fn two_writers(stage: &mut Stage, first: Option<&'static str>, one: Steps, other: Steps) {
    let (world, logs) = (World::prepare(stage, first).await, [Log::default(), Log::default()]);
    stage.actor_with_blobs("one", |stores| one.run(stores, logs[0].clone()));
    stage.actor_with_blobs("other", |stores| other.run(stores, logs[1].clone()));
    stage.judge(world.judge(logs.to_vec()));
}

/// Whoever reads meanwhile meets the old photo or the new one, and never a row whose blob is not there.
async fn while_read(stage: &mut Stage, first: Option<&'static str>, steps: Steps) {
    let (world, log) = (World::prepare(stage, first).await, Log::default());
    stage.actor_with_blobs("writer", |stores| steps.run(stores, log.clone()));
    let seen = Rc::new(RefCell::new(None));
    let reader = Rc::clone(&seen);
    stage.actor_with_blobs("reader", |stores| async move {
        let read = employees(&stores).await?.require(key()).await;
        let result = read.as_ref().map(|_| ()).map_err(table_core::Error::clone);
        *reader.borrow_mut() = Some(read.map(|read| read.photo.clone()));
        result
    });
    stage.judge(async move {
        let mut judgement = world.judge(vec![log]).await;
        match &*seen.borrow() {
            Some(Ok(photo)) => judgement
                .expect(matches!(photo.as_ref(), b"a" | b"b"), Wrong::Stale, || format!("the reader saw {photo:?}")),
            // Its call was lost, as the explorer chose.
            Some(Err(error)) if error.kind() == ErrorKind::Unavailable => {}
            Some(Err(error)) => judgement.find(Wrong::Lost, format!("the reader met: {error}")),
            None => {}
        }
        judgement
    });
}

/// A writer has died right after its transaction, and two workers find its message.
async fn two_workers(stage: &mut Stage, first: Option<&'static str>, steps: Steps) {
    let world = World::prepare(stage, first).await;
    let log = world.left_half_done(stage, steps).await;
    stage.actor_with_blobs("worker", works);
    stage.actor_with_blobs("rival", works);
    stage.judge(world.judge(vec![log]));
}

/// A writer has died right after its transaction. While one worker is on it, the entity is written again, and
/// another worker does both.
async fn late_worker(stage: &mut Stage, first: Option<&'static str>, left: Steps, then: Steps) {
    let world = World::prepare(stage, first).await;
    let (log, later) = (world.left_half_done(stage, left).await, Log::default());
    stage.actor_with_blobs("late worker", works);
    let writes = later.clone();
    stage.actor_with_blobs("writer and worker", |stores| async move {
        drop(then.run(stores.clone(), writes).await);
        works(stores).await
    });
    stage.judge(world.judge(vec![log, later]));
}

async fn crowd(stage: &mut Stage, first: Option<&'static str>, one: Steps, other: Steps) {
    let (world, logs) = (World::prepare(stage, first).await, [Log::default(), Log::default()]);
    stage.actor_with_blobs("one", |stores| one.run(stores, logs[0].clone()));
    stage.actor_with_blobs("other", |stores| other.run(stores, logs[1].clone()));
    stage.actor_with_blobs("worker", works);
    stage.actor_with_blobs("rival", works);
    stage.judge(world.judge(logs.to_vec()));
}
