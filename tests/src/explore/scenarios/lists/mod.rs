//! Lists of keys in another table, in rows and in blobs, and lists beside their entities in blobs.

mod world;

use table_core::Result;

use crate::explore::stage::Stores;
use crate::explore::{Scenario, Stage};
use world::{Log, Setup, World, employee, kept, key};

const ROWS: Setup = Setup::ROWS;
const BLOBS: Setup = Setup { before: 0, above: 0, ..ROWS };
const TO_BLOBS: Setup = Setup { above: 0, ..ROWS };
const FROM_BLOBS: Setup = Setup { before: 0, ..ROWS };
const BESIDE: Setup = Setup { beside: true, ..BLOBS };

pub(super) const PAIRS: &[Scenario] = &[
    Scenario::new("lists: insert", |stage| Box::pin(with_worker(stage, ROWS, &[], Steps(&[Step::Insert(1, "a")])))),
    Scenario::new("lists: change", |stage| {
        Box::pin(with_worker(stage, ROWS, &[(1, "a")], Steps(&[Step::Move(1, "b")])))
    }),
    Scenario::new("lists: change and back", |stage| {
        Box::pin(with_worker(stage, ROWS, &[(1, "a")], Steps(&[Step::Move(1, "b"), Step::Move(1, "a")])))
    }),
    Scenario::new("lists: delete", |stage| {
        Box::pin(with_worker(stage, ROWS, &[(1, "a"), (2, "a")], Steps(&[Step::Delete(1)])))
    }),
    Scenario::new("lists: delete and insert again", |stage| {
        Box::pin(with_worker(stage, ROWS, &[(1, "a")], Steps(&[Step::Delete(1), Step::Insert(1, "a")])))
    }),
    Scenario::new("lists: two writers, one list", |stage| {
        Box::pin(two_writers(stage, ROWS, &[], Steps(&[Step::Insert(1, "a")]), Steps(&[Step::Insert(2, "a")])))
    }),
    Scenario::new("lists: one leaves, another joins", |stage| {
        Box::pin(two_writers(stage, ROWS, &[(1, "a")], Steps(&[Step::Move(1, "b")]), Steps(&[Step::Insert(2, "a")])))
    }),
    Scenario::new("lists: two writers, one entity", |stage| {
        Box::pin(two_writers(stage, ROWS, &[(1, "a")], Steps(&[Step::Move(1, "b")]), Steps(&[Step::Move(1, "c")])))
    }),
    Scenario::new("lists: change, and back by another", |stage| {
        let back = Steps(&[Step::Move(1, "b"), Step::Move(1, "a")]);
        Box::pin(two_writers(stage, ROWS, &[(1, "a"), (2, "a")], Steps(&[Step::Move(1, "b")]), back))
    }),
    Scenario::new("lists: two workers on a change", |stage| {
        Box::pin(two_workers(stage, ROWS, &[(1, "a")], Steps(&[Step::Move(1, "b")])))
    }),
    Scenario::new("lists: late worker, and changed again", |stage| {
        Box::pin(late_worker(stage, ROWS, &[(1, "a")], Steps(&[Step::Move(1, "b")]), Steps(&[Step::Move(1, "c")])))
    }),
    Scenario::new("lists: move to a blob", |stage| {
        Box::pin(with_worker(stage, TO_BLOBS, &[(1, "a")], Steps(&[Step::Insert(2, "a")])))
    }),
    Scenario::new("lists: move back from a blob", |stage| {
        Box::pin(with_worker(stage, FROM_BLOBS, &[(1, "a"), (2, "a")], Steps(&[Step::Delete(1)])))
    }),
    Scenario::new("lists in blobs: change", |stage| {
        Box::pin(with_worker(stage, BLOBS, &[(1, "a")], Steps(&[Step::Move(1, "b")])))
    }),
    Scenario::new("lists in blobs: two writers, one list", |stage| {
        Box::pin(two_writers(stage, BLOBS, &[(3, "a")], Steps(&[Step::Insert(1, "a")]), Steps(&[Step::Insert(2, "a")])))
    }),
    Scenario::new("lists in blobs, beside: two writers, one list", |stage| {
        let (one, other) = (Steps(&[Step::Insert(1, "a")]), Steps(&[Step::Move(3, "b")]));
        Box::pin(two_writers(stage, BESIDE, &[(3, "a")], one, other))
    }),
];

pub(super) const CROWDS: &[Scenario] = &[
    Scenario::new("lists: crowd in one list", |stage| {
        let other = Steps(&[Step::Insert(2, "a"), Step::Delete(2)]);
        Box::pin(crowd(stage, ROWS, &[(1, "b")], Steps(&[Step::Move(1, "a")]), other))
    }),
    Scenario::new("lists: crowd, change and back", |stage| {
        Box::pin(crowd(stage, ROWS, &[(1, "a")], Steps(&[Step::Move(1, "b")]), Steps(&[Step::Move(1, "a")])))
    }),
    Scenario::new("lists in blobs: crowd in one list", |stage| {
        let other = Steps(&[Step::Insert(2, "a"), Step::Delete(2)]);
        Box::pin(crowd(stage, BLOBS, &[(1, "b")], Steps(&[Step::Move(1, "a")]), other))
    }),
];

/// One thing that a writer does with an employee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Insert(u32, &'static str),
    /// Changes the listed value.
    Move(u32, &'static str),
    Delete(u32),
}

/// What a writer does, one after the other, until something is refused.
#[derive(Debug, Clone, Copy)]
struct Steps(&'static [Step]);

impl Steps {
    async fn run(self, setup: Setup, stores: Stores, log: Log) -> Result<()> {
        let (employees, _) = kept(setup, setup.above, &stores).await?;
        for step in self.0 {
            let work = async {
                match *step {
                    Step::Insert(id, city) => employees.insert(&employee(id, city)).await.map(|_| ()),
                    Step::Move(id, city) => employees.update(key(id), |each| each.move_to(city)).await.map(|_| ()),
                    Step::Delete(id) => employees.delete(key(id)).await.map(|_| ()),
                }
            };
            log.run(*step, work).await?;
        }
        Ok(())
    }
}

/// A worker that takes what is due until nothing is.
async fn works(setup: Setup, stores: Stores) -> Result<()> {
    kept(setup, setup.above, &stores).await?.1.run_due().await.map(|_| ())
}

type There = &'static [(u32, &'static str)];

async fn with_worker(stage: &mut Stage, setup: Setup, there: There, steps: Steps) {
    let (world, log) = (World::prepare(stage, setup, there).await, Log::default());
    let writes = log.clone();
    stage.actor_with_blobs("writer", |stores| steps.run(setup, stores, writes));
    stage.actor_with_blobs("worker", |stores| works(setup, stores));
    stage.judge(world.judge(there, vec![log]));
}

async fn two_writers(stage: &mut Stage, setup: Setup, there: There, one: Steps, other: Steps) {
    let (world, logs) = (World::prepare(stage, setup, there).await, [Log::default(), Log::default()]);
    let [first, second] = logs.clone();
    stage.actor_with_blobs("one", |stores| one.run(setup, stores, first));
    stage.actor_with_blobs("other", |stores| other.run(setup, stores, second));
    stage.judge(world.judge(there, logs.to_vec()));
}

/// A writer has died right after its transaction, and two workers find its message.
async fn two_workers(stage: &mut Stage, setup: Setup, there: There, steps: Steps) {
    let world = World::prepare(stage, setup, there).await;
    let log = world.left_half_done(stage, steps).await;
    stage.actor_with_blobs("worker", |stores| works(setup, stores));
    stage.actor_with_blobs("rival", |stores| works(setup, stores));
    stage.judge(world.judge(there, vec![log]));
}

/// A writer has died right after its transaction. While one worker is on it, the entity is written again, and
/// another worker does both.
async fn late_worker(stage: &mut Stage, setup: Setup, there: There, left: Steps, then: Steps) {
    let world = World::prepare(stage, setup, there).await;
    let (log, later) = (world.left_half_done(stage, left).await, Log::default());
    stage.actor_with_blobs("late worker", |stores| works(setup, stores));
    let writes = later.clone();
    stage.actor_with_blobs("writer and worker", |stores| async move {
        drop(then.run(setup, stores.clone(), writes).await);
        works(setup, stores).await
    });
    stage.judge(world.judge(there, vec![log, later]));
}

async fn crowd(stage: &mut Stage, setup: Setup, there: There, one: Steps, other: Steps) {
    let (world, logs) = (World::prepare(stage, setup, there).await, [Log::default(), Log::default()]);
    let [first, second] = logs.clone();
    stage.actor_with_blobs("one", |stores| one.run(setup, stores, first));
    stage.actor_with_blobs("other", |stores| other.run(setup, stores, second));
    for worker in ["worker", "rival"] {
        stage.actor_with_blobs(worker, |stores| works(setup, stores));
    }
    stage.judge(world.judge(there, logs.to_vec()));
}
