//! Plain work items: each is done or put aside, whoever dies.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use serde::{Deserialize, Serialize};
use table_core::store::Selection;
use table_core::{
    Action, DynamicEntity, EntityKey, Error, ManualClock, MemoryStore, Operation, Result, TableName, TableStore,
};
use table_patterns::eventually_consistent_transactions::{Mover, MoverOptions, Next, WorkItem};

use crate::explore::{Answer, Judgement, Scenario, Stage, StoreHandle, Wrong};

pub(super) const PAIRS: &[Scenario] = &[
    Scenario::new("item done at least once", done),
    Scenario::new("item by two workers", by_two_workers),
    Scenario::new("item put aside", put_aside),
];

pub(super) const CROWDS: &[Scenario] = &[Scenario::new("items in a crowd", in_a_crowd)];

/// Writes a row that bears the item's number, unless the item is a bad one.
#[derive(Debug, Serialize, Deserialize, PartialEq)]
struct Note {
    number: u32,
    bad: bool,
}

impl WorkItem for Note {
    const KIND: &'static str = "note";
}

fn table() -> Result<TableName> {
    TableName::new("Notes")
}

fn key(number: u32) -> Result<EntityKey> {
    EntityKey::parse("notes", &number.to_string())
}

async fn mover(store: &StoreHandle) -> Result<Mover> {
    let tables = store.clone();
    let builder = Mover::builder(store.clone(), "notes")?.with_options(MoverOptions::default().with_most_failures(2));
    let builder = builder.on(move |note: Note, delivery| {
        let tables = tables.clone();
        async move {
            if note.bad {
                return Err(Error::invalid_value("a bad item"));
            }
            let row = DynamicEntity::new(key(note.number)?);
            let write = Operation::new(Action::InsertOrReplace(row))?;
            delivery.step("note", tables.write(&table()?, write)).await?;
            Ok(Next::Done)
        }
    });
    builder.build().await
}

async fn sends(store: StoreHandle, number: u32, bad: bool) -> Result<()> {
    mover(&store).await?.send(&Note { number, bad }).await.map(|_| ())
}

async fn works(store: StoreHandle) -> Result<()> {
    mover(&store).await?.run_due().await.map(|_| ())
}

struct World {
    clock: Arc<ManualClock>,
    memory: MemoryStore,
    undisturbed: StoreHandle,
}

/// What is known of an item in the end.
#[derive(Debug, PartialEq)]
struct Ended {
    noted: bool,
    aside: usize,
}

impl World {
    #[expect(clippy::expect_used, reason = "on the memory store alone nothing fails")]
    async fn prepare(stage: &Stage) -> Self {
        let world = Self { clock: stage.clock(), memory: stage.memory(), undisturbed: stage.undisturbed().store };
        world.memory.create_table(&table().expect("a name")).await.expect("a table");
        world
    }

    #[expect(clippy::expect_used, reason = "on the memory store alone nothing fails")]
    async fn holding(self, number: u32, bad: bool) -> Self {
        sends(self.undisturbed.clone(), number, bad).await.expect("a message");
        self
    }

    async fn ended(&self, numbers: &[u32]) -> Result<Vec<Ended>> {
        let mover = mover(&self.undisturbed).await?;
        for _ in 0..20 {
            self.clock.advance(Duration::from_secs(3600));
            mover.run_due().await?;
        }
        let left = mover.progress().await?.queued;
        if left > 0 {
            return Err(Error::invalid_value(format!("{left} messages are left on the queue")));
        }
        let poisoned = mover.poisoned().await?;
        let mut ended = Vec::new();
        for number in numbers {
            let noted = self.memory.get(&table()?, &key(*number)?, &Selection::All).await?.is_some();
            let aside = poisoned.iter().filter(|item| item.item::<Note>().is_ok_and(|note| note.number == *number));
            ended.push(Ended { noted, aside: aside.count() });
        }
        Ok(ended)
    }

    async fn judge(self, numbers: &'static [u32], look: impl FnOnce(&mut Judgement, &[Ended])) -> Judgement {
        let mut judgement = Judgement::default();
        match self.ended(numbers).await {
            Ok(ended) => look(&mut judgement, &ended),
            Err(error) => judgement.find(Wrong::Broken, error.to_string()),
        }
        judgement
    }
}

/// Every item that was sent for sure is noted, and none of them put aside.
fn all_noted(judgement: &mut Judgement, sent: &[Answer], ended: &[Ended]) {
    for (answer, ended) in sent.iter().zip(ended) {
        judgement.expect(ended.aside == 0, Wrong::Broken, || format!("a good item was put aside: {ended:?}"));
        let lost = *answer == Answer::Done && !ended.noted;
        judgement.expect(!lost, Wrong::Lost, || "an item that was sent is not done".to_owned());
    }
}

fn done(stage: &mut Stage) -> LocalBoxFuture<'_, ()> {
    Box::pin(async move {
        let world = World::prepare(stage).await;
        let sent = stage.actor("sender", |store| sends(store, 1, false));
        stage.actor("worker", works);
        stage.judge(world.judge(&[1], move |judgement, ended| all_noted(judgement, &[sent.answer()], ended)));
    })
}

fn by_two_workers(stage: &mut Stage) -> LocalBoxFuture<'_, ()> {
    Box::pin(async move {
        let world = World::prepare(stage).await.holding(1, false).await.holding(2, false).await;
        stage.actor("worker", works);
        stage.actor("rival", works);
        stage.judge(world.judge(&[1, 2], |judgement, ended| all_noted(judgement, &[Answer::Done; 2], ended)));
    })
}

/// An item that never succeeds ends on the poison queue. It may be there twice: sending there and deleting here are two steps.
fn put_aside(stage: &mut Stage) -> LocalBoxFuture<'_, ()> {
    Box::pin(async move {
        let world = World::prepare(stage).await.holding(1, true).await;
        stage.actor("worker", works);
        stage.actor("rival", works);
        stage.judge(world.judge(&[1], |judgement, ended| {
            let aside = ended.iter().all(|ended| ended.aside > 0);
            judgement.expect(aside, Wrong::Lost, || format!("neither done nor put aside: {ended:?}"));
        }));
    })
}

fn in_a_crowd(stage: &mut Stage) -> LocalBoxFuture<'_, ()> {
    Box::pin(async move {
        let world = World::prepare(stage).await;
        let first = stage.actor("sender", |store| sends(store, 1, false));
        let second = stage.actor("another sender", |store| sends(store, 2, false));
        stage.actor("worker", works);
        stage.actor("rival", works);
        stage.judge(world.judge(&[1, 2], move |judgement, ended| {
            all_noted(judgement, &[first.answer(), second.answer()], ended);
        }));
    })
}
