//! Indexes in other partitions and tables, and values that are unique across partitions.

mod world;

use table_core::{Result, Table};
use table_patterns::Indexed;

use crate::explore::{Scenario, Stage, StoreHandle};
use world::{Employee, Log, World, employee, key, mover};

pub(super) const PAIRS: &[Scenario] = &[
    Scenario::new("index: insert", |stage| Box::pin(with_worker(stage, &[], Steps(&[Step::Insert(1, "a")])))),
    Scenario::new("index: change", |stage| Box::pin(with_worker(stage, &[(1, "a")], Steps(&[Step::Move(1, "b")])))),
    Scenario::new("index: change and back", |stage| {
        Box::pin(with_worker(stage, &[(1, "a")], Steps(&[Step::Move(1, "b"), Step::Move(1, "a")])))
    }),
    Scenario::new("index: change of a copied field", |stage| {
        Box::pin(with_worker(stage, &[(1, "a")], Steps(&[Step::Rename(1, "New")])))
    }),
    Scenario::new("index: delete", |stage| Box::pin(with_worker(stage, &[(1, "a")], Steps(&[Step::Delete(1)])))),
    Scenario::new("index: delete and insert again", |stage| {
        Box::pin(with_worker(stage, &[(1, "a")], Steps(&[Step::Delete(1), Step::Insert(1, "a")])))
    }),
    Scenario::new("index: two writers, one entity", |stage| {
        Box::pin(two_writers(stage, &[(1, "a")], Steps(&[Step::Move(1, "b")]), Steps(&[Step::Move(1, "c")])))
    }),
    Scenario::new("index: change, and back by another", |stage| {
        Box::pin(two_writers(stage, &[(1, "a")], Steps(&[Step::Move(1, "b")]), Steps(&[Step::Move(1, "a")])))
    }),
    Scenario::new("index: renamed, and back by another", |stage| {
        Box::pin(two_writers(stage, &[(1, "a")], Steps(&[Step::Rename(1, "New")]), Steps(&[Step::Rename(1, "Old")])))
    }),
    Scenario::new("index: change and delete", |stage| {
        Box::pin(two_writers(stage, &[(1, "a")], Steps(&[Step::Move(1, "b")]), Steps(&[Step::Delete(1)])))
    }),
    Scenario::new("index: one leaves a value that another claims", |stage| {
        let (leaves, claims) = (Steps(&[Step::Move(2, "c")]), Steps(&[Step::Insert(1, "b")]));
        Box::pin(two_writers(stage, &[(2, "b")], leaves, claims))
    }),
    Scenario::new("index: two claim one value", |stage| {
        Box::pin(two_writers(stage, &[], Steps(&[Step::Insert(1, "b")]), Steps(&[Step::Insert(2, "b")])))
    }),
    Scenario::new("index: two change to one value", |stage| {
        let there = &[(1, "a"), (2, "c")];
        Box::pin(two_writers(stage, there, Steps(&[Step::Move(1, "b")]), Steps(&[Step::Move(2, "b")])))
    }),
    Scenario::new("index: shared value, change", |stage| {
        Box::pin(with_worker(stage, &[(1, "a")], Steps(&[Step::Seat(1, "n"), Step::Seat(1, "s")])))
    }),
    Scenario::new("index: shared value, late worker", |stage| {
        Box::pin(late_worker(stage, &[(1, "a")], Steps(&[Step::Seat(1, "n")]), Steps(&[Step::Seat(1, "s")])))
    })
    .with_most_preemptions(2),
    Scenario::new("index: two workers on a change", |stage| {
        Box::pin(two_workers(stage, &[(1, "a")], Steps(&[Step::Move(1, "b")])))
    }),
    Scenario::new("index: two workers on an insert", |stage| {
        Box::pin(two_workers(stage, &[], Steps(&[Step::Insert(1, "a")])))
    }),
    Scenario::new("index: two workers on a delete", |stage| {
        Box::pin(two_workers(stage, &[(1, "a")], Steps(&[Step::Delete(1)])))
    }),
    Scenario::new("index: late worker, and changed again", |stage| {
        Box::pin(late_worker(stage, &[(1, "a")], Steps(&[Step::Move(1, "b")]), Steps(&[Step::Move(1, "a")])))
    })
    .with_most_preemptions(2),
    Scenario::new("index: late worker, and renamed twice", |stage| {
        let back = Steps(&[Step::Rename(1, "New"), Step::Rename(1, "Old")]);
        Box::pin(late_worker(stage, &[(1, "a")], Steps(&[Step::Rename(1, "New")]), back))
    })
    .with_most_preemptions(2),
];

pub(super) const CROWDS: &[Scenario] = &[
    Scenario::new("index: crowd on one entity", |stage| {
        Box::pin(crowd(stage, &[(1, "a")], Steps(&[Step::Move(1, "b")]), Steps(&[Step::Move(1, "c")])))
    }),
    Scenario::new("index: crowd, change and back", |stage| {
        Box::pin(crowd(stage, &[(1, "a")], Steps(&[Step::Move(1, "b")]), Steps(&[Step::Move(1, "a")])))
    }),
    Scenario::new("index: crowd, renamed and back", |stage| {
        Box::pin(crowd(stage, &[(1, "a")], Steps(&[Step::Rename(1, "New")]), Steps(&[Step::Rename(1, "Old")])))
    }),
    Scenario::new("index: crowd, change and delete", |stage| {
        Box::pin(crowd(
            stage,
            &[(1, "a")],
            Steps(&[Step::Move(1, "b")]),
            Steps(&[Step::Delete(1), Step::Insert(1, "a")]),
        ))
    }),
    Scenario::new("index: crowd, one leaves what another claims", |stage| {
        Box::pin(crowd(stage, &[(2, "b")], Steps(&[Step::Move(2, "c")]), Steps(&[Step::Insert(1, "b")])))
    }),
    Scenario::new("index: crowd on a shared value", |stage| {
        let (one, other) = (Steps(&[Step::Seat(1, "n")]), Steps(&[Step::Seat(1, "s"), Step::Seat(1, "n")]));
        Box::pin(crowd(stage, &[(1, "a")], one, other))
    }),
    Scenario::new("index: crowd, three claim one value for two", |stage| Box::pin(three_claims(stage))),
    Scenario::new("index: crowd, two claim one value", |stage| {
        Box::pin(crowd(stage, &[], Steps(&[Step::Insert(1, "b")]), Steps(&[Step::Insert(2, "b")])))
    }),
];

/// One thing that a writer does with an employee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Insert(u32, &'static str),
    /// Changes a field that is unique across partitions.
    Move(u32, &'static str),
    /// Changes an indexed field that many may share.
    Seat(u32, &'static str),
    /// Changes a field that index rows copy.
    Rename(u32, &'static str),
    Delete(u32),
}

/// What a writer does, one after the other, until something is refused.
#[derive(Debug, Clone, Copy)]
struct Steps(&'static [Step]);

impl Steps {
    async fn run(self, store: StoreHandle, log: Log) -> Result<()> {
        let mover = mover(&store).await?;
        let employees = Indexed::<Employee>::kept_by(Table::new(store, "Employees")?, &mover)?;
        for step in self.0 {
            log.run(*step, step.run(&employees)).await?;
        }
        Ok(())
    }
}

impl Step {
    async fn run(self, employees: &Indexed<Employee>) -> Result<()> {
        match self {
            Self::Insert(id, email) => employees.insert(&employee(id, email)).await.map(|_| ()),
            Self::Move(id, email) => {
                let mut read = employees.require(key(id)).await?;
                read.email = email.into();
                employees.replace(&mut read).await
            }
            Self::Seat(id, office) => {
                let mut read = employees.require(key(id)).await?;
                read.office = Some(office.into());
                employees.replace(&mut read).await
            }
            Self::Rename(id, name) => {
                let mut read = employees.require(key(id)).await?;
                read.name = name.into();
                employees.replace(&mut read).await
            }
            Self::Delete(id) => {
                let read = employees.require(key(id)).await?;
                employees.delete(&read).await
            }
        }
    }
}

/// A worker that takes what is due until nothing is.
async fn works(store: StoreHandle) -> Result<()> {
    mover(&store).await?.run_due().await.map(|_| ())
}

type There = &'static [(u32, &'static str)];

async fn with_worker(stage: &mut Stage, there: There, steps: Steps) {
    let world = World::prepare(stage, there).await;
    let log = Log::default();
    stage.actor("writer", |store| steps.run(store, log.clone()));
    stage.actor("worker", works);
    stage.judge(world.judge(there, vec![log]));
}

async fn two_writers(stage: &mut Stage, there: There, one: Steps, other: Steps) {
    let world = World::prepare(stage, there).await;
    let logs = [Log::default(), Log::default()];
    let [first, second] = logs.clone();
    stage.actor("one", |store| one.run(store, first));
    stage.actor("other", |store| other.run(store, second));
    stage.judge(world.judge(there, logs.to_vec()));
}

/// A writer has died right after its transaction, and two workers find its message.
async fn two_workers(stage: &mut Stage, there: There, steps: Steps) {
    let world = World::prepare(stage, there).await;
    let log = world.left_half_done(stage, steps).await;
    stage.actor("worker", works);
    stage.actor("rival", works);
    stage.judge(world.judge(there, vec![log]));
}

/// A writer has died right after its transaction. While one worker is on it, the entity is written again, and
/// another worker does both.
async fn late_worker(stage: &mut Stage, there: There, left: Steps, then: Steps) {
    let world = World::prepare(stage, there).await;
    let (log, later) = (world.left_half_done(stage, left).await, Log::default());
    stage.actor("late worker", works);
    let writes = later.clone();
    stage.actor("writer and worker", |store| async move {
        drop(then.run(store.clone(), writes).await);
        works(store).await
    });
    stage.judge(world.judge(there, vec![log, later]));
}

async fn crowd(stage: &mut Stage, there: There, one: Steps, other: Steps) {
    let world = World::prepare(stage, there).await;
    let logs = [Log::default(), Log::default()];
    let [first, second] = logs.clone();
    stage.actor("one", |store| one.run(store, first));
    stage.actor("other", |store| other.run(store, second));
    stage.actor("worker", works);
    stage.actor("rival", works);
    stage.judge(world.judge(there, logs.to_vec()));
}

/// Two writers of one entity and one of another want the same value.
async fn three_claims(stage: &mut Stage) {
    let there = &[(1, "a")];
    let world = World::prepare(stage, there).await;
    let logs = [Log::default(), Log::default(), Log::default()];
    let [one, another, other] = logs.clone();
    stage.actor("one", |store| Steps(&[Step::Move(1, "b")]).run(store, one));
    stage.actor("another", |store| Steps(&[Step::Move(1, "b")]).run(store, another));
    stage.actor("other", |store| Steps(&[Step::Insert(2, "b")]).run(store, other));
    stage.actor("worker", works);
    stage.judge(world.judge(there, logs.to_vec()));
}
