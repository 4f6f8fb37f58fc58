//! Moving an entity to the archive, while others work on it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use table_core::{DynamicEntity, Entity, ErrorKind, Key, ManualClock, MemoryStore, Query, Result, Table};
use table_patterns::eventually_consistent_transactions::{Archive, Mover};

use crate::explore::{Answer, Judgement, Scenario, Stage, StoreHandle, Told, Wrong};

/// How long fences stay.
const GRACE: Duration = Duration::from_secs(3600);

pub(super) const PAIRS: &[Scenario] = &[
    Scenario::new("archive", archive),
    Scenario::new("archive by two workers", by_two_workers),
    Scenario::new("archive racing an update", racing_an_update),
    Scenario::new("archive by a late worker after an update", late_after_an_update),
    Scenario::new("archive racing a delete", racing_a_delete),
    Scenario::new("archive racing a re-creation", racing_a_recreation),
    Scenario::new("archive asked for twice", asked_for_twice),
];

pub(super) const CROWDS: &[Scenario] = &[
    Scenario::new("archive and update in a crowd", updated_in_a_crowd),
    Scenario::new("archive and delete in a crowd", deleted_in_a_crowd),
];

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
}

fn employee(name: &str) -> Employee {
    Employee { department: "Sales".into(), id: 456, name: name.into() }
}

fn key() -> Key<Employee> {
    Employee::key("Sales", 456)
}

/// The tables, past everything that is explored.
struct World {
    clock: Arc<ManualClock>,
    memory: MemoryStore,
    undisturbed: StoreHandle,
}

impl World {
    /// An employee `Old` in the current table.
    async fn prepare(stage: &Stage) -> Result<Self> {
        let world = Self { clock: stage.clock(), memory: stage.memory(), undisturbed: stage.undisturbed().store };
        world.table("Current")?.create().await?;
        world.table("Archive")?.create().await?;
        world.table("Current")?.insert(&employee("Old")).await?;
        Ok(world)
    }

    fn table(&self, name: &str) -> Result<Table> {
        Table::new(Arc::new(self.memory.clone()), name)
    }

    async fn asks(&self) -> Result<()> {
        asks(self.undisturbed.clone()).await
    }

    /// Lets every wait pass until the queue is empty.
    async fn settle(&self, judgement: &mut Judgement) -> Result<()> {
        let mover = mover(&self.undisturbed).await?;
        for _ in 0..20 {
            self.clock.advance(GRACE);
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

    /// The names in a table; every other row is an orphan.
    async fn names(&self, table: &str, judgement: &mut Judgement) -> Result<Vec<String>> {
        let rows = self.table(table)?.all(Query::<DynamicEntity>::all().allow_scan()).await?;
        let mut names = Vec::new();
        for row in rows {
            match row.get("Name").and_then(table_core::Value::as_str) {
                Some(name) => names.push(name.to_owned()),
                None => judgement.find(Wrong::Orphaned, format!("{table} still holds {}", row.key)),
            }
        }
        Ok(names)
    }

    /// Settles, and has a look at the names in both tables.
    async fn judge(self, look: impl FnOnce(&mut Judgement, Ended)) -> Judgement {
        let mut judgement = Judgement::default();
        let ended = async {
            self.settle(&mut judgement).await?;
            let current = self.names("Current", &mut judgement).await?;
            Ok(Ended { current, archive: self.names("Archive", &mut judgement).await? })
        };
        let ended: Result<Ended> = ended.await;
        match ended {
            Ok(ended) => look(&mut judgement, ended),
            Err(error) => judgement.find(Wrong::Broken, error.to_string()),
        }
        judgement
    }
}

/// A right end: the names in the current table, and those in the archive.
type End = (&'static [&'static str], &'static [&'static str]);

/// The names in both tables in the end.
#[derive(Debug)]
struct Ended {
    current: Vec<String>,
    archive: Vec<String>,
}

impl Ended {
    fn is(&self, current: &[&str], archive: &[&str]) -> bool {
        self.current == current && self.archive == archive
    }

    /// Says what is wrong with an end that is none of the right ones.
    fn accuse(&self, judgement: &mut Judgement, right: &[End]) {
        if right.iter().any(|(current, archive)| self.is(current, archive)) {
            return;
        }
        let names: Vec<&String> = self.current.iter().chain(&self.archive).collect();
        let wanted = right.iter().map(|(current, archive)| current.len() + archive.len());
        let wrong = if wanted.clone().all(|wanted| names.len() > wanted) {
            Wrong::Doubled
        } else if wanted.clone().all(|wanted| names.len() < wanted) {
            Wrong::Lost
        } else {
            Wrong::Stale
        };
        judgement.find(wrong, format!("{self:?}, and not one of {right:?}"));
    }
}

async fn mover(store: &StoreHandle) -> Result<Mover> {
    let archive = Archive::new(Table::new(store.clone(), "Current")?, Table::new(store.clone(), "Archive")?);
    Mover::builder(store.clone(), "moves")?.archive(archive.with_grace(GRACE)).build().await
}

/// Asks for the move.
async fn asks(store: StoreHandle) -> Result<()> {
    let current = Table::new(store.clone(), "Current")?;
    mover(&store).await?.archive(&current, key()).await
}

/// A worker that takes what is due until nothing is.
async fn works(store: StoreHandle) -> Result<()> {
    mover(&store).await?.run_due().await.map(|_| ())
}

async fn renames(store: StoreHandle) -> Result<()> {
    let current = Table::new(store, "Current")?;
    let mut read = current.require(key()).await?;
    read.name = "New".into();
    current.replace(&mut read).await
}

async fn deletes(store: StoreHandle) -> Result<()> {
    let current = Table::new(store, "Current")?;
    let read = current.require(key()).await?;
    current.delete(&read).await
}

/// Sets the stage, which fails only where the store does.
#[expect(clippy::expect_used, reason = "on the memory store alone nothing fails")]
async fn prepare(stage: &Stage, asked: bool) -> World {
    let world = World::prepare(stage).await.expect("a world");
    if asked {
        world.asks().await.expect("a message");
    }
    world
}

fn archive(stage: &mut Stage) -> LocalBoxFuture<'_, ()> {
    Box::pin(async move {
        let world = prepare(stage, false).await;
        let asked = stage.actor("asker", asks);
        stage.actor("worker", works);
        stage.judge(world.judge(move |judgement, ended| {
            let moved: End = (&[], &["Old"]);
            match asked.answer() {
                Answer::Done => ended.accuse(judgement, &[moved]),
                _ => ended.accuse(judgement, &[moved, (&["Old"], &[])]),
            }
        }));
    })
}

fn by_two_workers(stage: &mut Stage) -> LocalBoxFuture<'_, ()> {
    Box::pin(async move {
        let world = prepare(stage, true).await;
        stage.actor("worker", works);
        stage.actor("rival", works);
        stage.judge(world.judge(|judgement, ended| ended.accuse(judgement, &[(&[], &["Old"])])));
    })
}

fn racing_an_update(stage: &mut Stage) -> LocalBoxFuture<'_, ()> {
    Box::pin(async move {
        let world = prepare(stage, true).await;
        stage.actor("worker", works);
        let renamed = stage.actor("writer", renames);
        stage.judge(world.judge(move |judgement, ended| {
            ended.accuse(judgement, updated(&renamed));
        }));
    })
}

fn late_after_an_update(stage: &mut Stage) -> LocalBoxFuture<'_, ()> {
    Box::pin(async move {
        let world = prepare(stage, true).await;
        stage.actor("late worker", works);
        let renamed = stage.actor("writer and worker", |store| async move {
            let renamed = renames(store.clone()).await;
            drop(works(store).await);
            renamed
        });
        stage.judge(world.judge(move |judgement, ended| ended.accuse(judgement, updated(&renamed))));
    })
}

/// What may be there after an update, whatever else happened: the moved entity, as the writer was told.
fn updated(told: &Told) -> &'static [End] {
    match told.answer() {
        Answer::Done => &[(&[], &["New"])],
        Answer::Refused(_) => &[(&[], &["Old"])],
        Answer::None | Answer::Unknown => &[(&[], &["New"]), (&[], &["Old"])],
    }
}

fn racing_a_delete(stage: &mut Stage) -> LocalBoxFuture<'_, ()> {
    Box::pin(async move {
        let world = prepare(stage, true).await;
        stage.actor("worker", works);
        let deleted = stage.actor("writer", deletes);
        stage.judge(world.judge(move |judgement, ended| ended.accuse(judgement, left_by(&deleted))));
    })
}

/// What may be there after a delete: nothing, or the moved entity, as the writer was told.
fn left_by(told: &Told) -> &'static [End] {
    match told.answer() {
        Answer::Done => &[(&[], &[])],
        Answer::Refused(_) => &[(&[], &["Old"])],
        Answer::None | Answer::Unknown => &[(&[], &[]), (&[], &["Old"])],
    }
}

/// The entity is inserted anew, and once more where the old one was not yet moved.
fn racing_a_recreation(stage: &mut Stage) -> LocalBoxFuture<'_, ()> {
    Box::pin(async move {
        let world = prepare(stage, true).await;
        stage.actor("worker", works);
        let created = stage.actor("writer", |store| async move {
            let current = Table::new(store, "Current")?;
            match current.insert(&employee("New")).await {
                Err(error) if error.kind() == ErrorKind::AlreadyExists && !error.outcome_unknown() => {}
                result => return result.map(|_| ()),
            }
            current.insert(&employee("New")).await.map(|_| ())
        });
        stage.judge(world.judge(move |judgement, ended| {
            let (created_anew, moved): (End, End) = ((&["New"], &["Old"]), (&[], &["Old"]));
            match created.answer() {
                Answer::Done => ended.accuse(judgement, &[created_anew]),
                Answer::Refused(_) => ended.accuse(judgement, &[moved]),
                _ => ended.accuse(judgement, &[created_anew, moved]),
            }
        }));
    })
}

fn asked_for_twice(stage: &mut Stage) -> LocalBoxFuture<'_, ()> {
    Box::pin(async move {
        let world = prepare(stage, true).await;
        stage.actor("worker", works);
        stage.actor("asker and worker", |store| async move {
            asks(store.clone()).await?;
            works(store).await
        });
        stage.judge(world.judge(|judgement, ended| ended.accuse(judgement, &[(&[], &["Old"])])));
    })
}

fn updated_in_a_crowd(stage: &mut Stage) -> LocalBoxFuture<'_, ()> {
    Box::pin(async move {
        let world = prepare(stage, true).await;
        stage.actor("worker", works);
        stage.actor("rival", works);
        let renamed = stage.actor("writer", renames);
        stage.actor("asker", asks);
        stage.judge(world.judge(move |judgement, ended| ended.accuse(judgement, updated(&renamed))));
    })
}

fn deleted_in_a_crowd(stage: &mut Stage) -> LocalBoxFuture<'_, ()> {
    Box::pin(async move {
        let world = prepare(stage, true).await;
        stage.actor("worker", works);
        stage.actor("rival", works);
        let deleted = stage.actor("writer", deletes);
        stage.actor("asker", asks);
        stage.judge(world.judge(move |judgement, ended| ended.accuse(judgement, left_by(&deleted))));
    })
}
