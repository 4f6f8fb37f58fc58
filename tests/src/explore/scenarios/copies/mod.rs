//! Copies of a source's fields in other partitions and tables.

mod shelf;
mod world;

use table_core::Result;
use table_patterns::Denormalized;

use crate::explore::{Scenario, Stage, StoreHandle};
use shelf::{Holder, Shelf, SortedShelf, product, product_key};
use world::{Log, World, kept, mover};

pub(super) const PAIRS: &[Scenario] = &[
    Scenario::new("copies: source changed", |stage| {
        Box::pin(with_worker::<Shelf>(stage, Steps(&[Step::Rename(1, "New")])))
    }),
    Scenario::new("copies: source changed and back", |stage| {
        Box::pin(with_worker::<Shelf>(stage, Steps(&[Step::Rename(1, "New"), Step::Rename(1, "p1")])))
    }),
    Scenario::new("copies: source deleted", |stage| Box::pin(with_worker::<Shelf>(stage, Steps(&[Step::Delete(1)])))),
    Scenario::new("copies: source deleted and inserted again", |stage| {
        Box::pin(with_worker::<Shelf>(stage, Steps(&[Step::Delete(1), Step::Insert(1)])))
    }),
    Scenario::new("copies: target pointed at another source", |stage| {
        Box::pin(with_worker::<Shelf>(stage, Steps(&[Step::Point(1, 2)])))
    }),
    Scenario::new("copies: target inserted", |stage| {
        Box::pin(with_worker::<Shelf>(stage, Steps(&[Step::Place(2, 1)])))
    }),
    Scenario::new("copies: two writers, one source", |stage| {
        Box::pin(two_writers::<Shelf>(stage, Steps(&[Step::Rename(1, "New")]), Steps(&[Step::Rename(1, "Other")])))
    }),
    Scenario::new("copies: changed, and back by another", |stage| {
        Box::pin(two_writers::<Shelf>(stage, Steps(&[Step::Rename(1, "New")]), Steps(&[Step::Rename(1, "p1")])))
    }),
    Scenario::new("copies: target pointed at a source that changes", |stage| {
        Box::pin(two_writers::<Shelf>(stage, Steps(&[Step::Point(1, 2)]), Steps(&[Step::Rename(2, "New")])))
    }),
    Scenario::new("copies: target pointed away from a source that changes", |stage| {
        Box::pin(two_writers::<Shelf>(stage, Steps(&[Step::Point(1, 2)]), Steps(&[Step::Rename(1, "New")])))
    }),
    Scenario::new("copies: target pointed at a source that goes", |stage| {
        Box::pin(two_writers::<Shelf>(stage, Steps(&[Step::Point(1, 2)]), Steps(&[Step::Delete(2)])))
    }),
    Scenario::new("copies: target inserted while its source changes", |stage| {
        Box::pin(two_writers::<Shelf>(stage, Steps(&[Step::Place(2, 1)]), Steps(&[Step::Rename(1, "New")])))
    }),
    Scenario::new("copies: target inserted while its source is inserted again", |stage| {
        let again = Steps(&[Step::Delete(1), Step::Insert(1)]);
        Box::pin(two_writers::<Shelf>(stage, Steps(&[Step::Place(2, 1)]), again))
    }),
    Scenario::new("copies: target changed while its source changes", |stage| {
        Box::pin(two_writers::<Shelf>(stage, Steps(&[Step::Fill(1)]), Steps(&[Step::Rename(1, "New")])))
    }),
    Scenario::new("copies: target pointed at two sources", |stage| {
        Box::pin(two_writers::<Shelf>(
            stage,
            Steps(&[Step::Point(1, 2)]),
            Steps(&[Step::Point(1, 1), Step::Point(1, 2)]),
        ))
    }),
    Scenario::new("copies: two workers on a source", |stage| {
        Box::pin(two_workers::<Shelf>(stage, Steps(&[Step::Rename(1, "New")])))
    }),
    Scenario::new("copies: two workers on a deleted source", |stage| {
        Box::pin(two_workers::<Shelf>(stage, Steps(&[Step::Delete(1)])))
    }),
    Scenario::new("copies: two workers on a target", |stage| {
        Box::pin(two_workers::<Shelf>(stage, Steps(&[Step::Point(1, 2)])))
    }),
    Scenario::new("copies: late worker, and changed back", |stage| {
        Box::pin(late_worker::<Shelf>(stage, Steps(&[Step::Rename(1, "New")]), Steps(&[Step::Rename(1, "p1")])))
    }),
    Scenario::new("copies: late worker, and pointed elsewhere", |stage| {
        Box::pin(late_worker::<Shelf>(stage, Steps(&[Step::Rename(1, "New")]), Steps(&[Step::Point(1, 2)])))
    }),
    Scenario::new("copies: late worker on a target, and its source changed", |stage| {
        Box::pin(late_worker::<Shelf>(stage, Steps(&[Step::Point(1, 2)]), Steps(&[Step::Rename(2, "New")])))
    }),
    Scenario::new("copies: late writer of a target, and its source changed", |stage| {
        Box::pin(late_writer::<Shelf>(stage, Steps(&[Step::Place(2, 1)]), Steps(&[Step::Rename(1, "New")])))
    }),
    // By an index whose key has what is changed, and what is copied.
    Scenario::new("copies by index: target moved", |stage| {
        Box::pin(with_worker::<SortedShelf>(stage, Steps(&[Step::Fill(1)])))
    }),
    Scenario::new("copies by index: source changed", |stage| {
        Box::pin(with_worker::<SortedShelf>(stage, Steps(&[Step::Rename(1, "New")])))
    })
    .with_most_preemptions(2),
    Scenario::new("copies by index: target moved while its source changes", |stage| {
        Box::pin(two_writers::<SortedShelf>(stage, Steps(&[Step::Fill(1)]), Steps(&[Step::Rename(1, "New")])))
    })
    .with_most_preemptions(2),
    Scenario::new("copies by index: target moved while its source is inserted again", |stage| {
        let again = Steps(&[Step::Delete(1), Step::Insert(1)]);
        Box::pin(two_writers::<SortedShelf>(stage, Steps(&[Step::Fill(1)]), again))
    })
    .with_most_preemptions(2),
    Scenario::new("copies by index: two writers, one source", |stage| {
        Box::pin(two_writers::<SortedShelf>(
            stage,
            Steps(&[Step::Rename(1, "New")]),
            Steps(&[Step::Rename(1, "Other")]),
        ))
    })
    .with_most_preemptions(2),
    Scenario::new("copies by index: target pointed at a source that changes", |stage| {
        Box::pin(two_writers::<SortedShelf>(stage, Steps(&[Step::Point(1, 2)]), Steps(&[Step::Rename(2, "New")])))
    })
    .with_most_preemptions(2),
    Scenario::new("copies by index: two workers on a source", |stage| {
        Box::pin(two_workers::<SortedShelf>(stage, Steps(&[Step::Rename(1, "New")])))
    })
    .with_most_preemptions(2),
    Scenario::new("copies by index: late worker on a target, and its source changed", |stage| {
        Box::pin(late_worker::<SortedShelf>(stage, Steps(&[Step::Fill(1)]), Steps(&[Step::Rename(1, "New")])))
    })
    .with_most_preemptions(1),
];

pub(super) const CROWDS: &[Scenario] = &[
    Scenario::new("copies: crowd on one source", |stage| {
        Box::pin(crowd::<Shelf>(stage, Steps(&[Step::Rename(1, "New")]), Steps(&[Step::Rename(1, "p1")])))
    }),
    Scenario::new("copies: crowd, pointed at a source that changes", |stage| {
        let pointed = Steps(&[Step::Point(1, 2), Step::Point(1, 1)]);
        Box::pin(crowd::<Shelf>(stage, pointed, Steps(&[Step::Rename(2, "New"), Step::Rename(2, "p2")])))
    }),
    Scenario::new("copies: crowd, inserted while its source changes", |stage| {
        let back = Steps(&[Step::Rename(1, "New"), Step::Rename(1, "p1")]);
        Box::pin(crowd::<Shelf>(stage, Steps(&[Step::Place(2, 1)]), back))
    }),
    Scenario::new("copies: crowd, source deleted and pointed at", |stage| {
        Box::pin(crowd::<Shelf>(
            stage,
            Steps(&[Step::Delete(2), Step::Insert(2)]),
            Steps(&[Step::Point(1, 2), Step::Fill(1)]),
        ))
    }),
    Scenario::new("copies by index: crowd, moved while its source changes", |stage| {
        let back = Steps(&[Step::Rename(1, "New"), Step::Rename(1, "p1")]);
        Box::pin(crowd::<SortedShelf>(stage, Steps(&[Step::Fill(1)]), back))
    }),
    Scenario::new("copies by index: crowd on one source", |stage| {
        Box::pin(crowd::<SortedShelf>(stage, Steps(&[Step::Rename(1, "New")]), Steps(&[Step::Rename(1, "p1")])))
    }),
];

/// One thing that a writer does with a product or a shelf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Inserts a product under its first name.
    Insert(u32),
    Rename(u32, &'static str),
    Delete(u32),
    /// Inserts a shelf for a product.
    Place(u32, u32),
    /// Points a shelf at a product.
    Point(u32, u32),
    /// Changes a shelf that stays with its product.
    Fill(u32),
}

/// What a writer does, one after the other, until something is refused.
#[derive(Debug, Clone, Copy)]
struct Steps(&'static [Step]);

impl Steps {
    async fn run<T: Holder>(self, store: StoreHandle, log: Log) -> Result<()> {
        let mover = mover::<T>(&store).await?;
        let shelves = kept::<T>(&store, &mover)?;
        for step in self.0 {
            log.run(*step, step.run(&shelves)).await?;
        }
        Ok(())
    }
}

impl Step {
    async fn run<T: Holder>(self, shelves: &Denormalized<T>) -> Result<()> {
        match self {
            Self::Insert(id) => shelves.insert(&product(id)).await.map(|_| ()),
            Self::Rename(id, name) => {
                shelves.update(product_key(id), |product| product.name = name.into()).await.map(|_| ())
            }
            Self::Delete(id) => shelves.delete(product_key(id)).await.map(|_| ()),
            Self::Place(id, product) => shelves.insert_target(&T::new(id, product)).await.map(|_| ()),
            Self::Point(id, product) => {
                shelves.update_target(T::at(id), |shelf| shelf.point(product)).await.map(|_| ())
            }
            Self::Fill(id) => shelves.update_target(T::at(id), T::fill).await.map(|_| ()),
        }
    }
}

/// A worker that takes what is due until nothing is.
async fn works<T: Holder>(store: StoreHandle) -> Result<()> {
    mover::<T>(&store).await?.run_due().await.map(|_| ())
}

async fn with_worker<T: Holder>(stage: &mut Stage, steps: Steps) {
    let world = World::<T>::prepare(stage).await;
    let log = Log::default();
    stage.actor("writer", |store| steps.run::<T>(store, log.clone()));
    stage.actor("worker", works::<T>);
    stage.judge(world.judge(vec![log]));
}

async fn two_writers<T: Holder>(stage: &mut Stage, one: Steps, other: Steps) {
    let world = World::<T>::prepare(stage).await;
    let logs = [Log::default(), Log::default()];
    let [first, second] = logs.clone();
    stage.actor("one", |store| one.run::<T>(store, first));
    stage.actor("other", |store| other.run::<T>(store, second));
    stage.judge(world.judge(logs.to_vec()));
}

/// A writer has died right after its transaction, and two workers find its message.
async fn two_workers<T: Holder>(stage: &mut Stage, steps: Steps) {
    let world = World::<T>::prepare(stage).await;
    let log = world.left_half_done(stage, steps).await;
    stage.actor("worker", works::<T>);
    stage.actor("rival", works::<T>);
    stage.judge(world.judge(vec![log]));
}

/// A writer has died right after its transaction. While one worker is on it, the entity is written again, and
/// another worker does both.
async fn late_worker<T: Holder>(stage: &mut Stage, left: Steps, then: Steps) {
    let world = World::<T>::prepare(stage).await;
    let (log, later) = (world.left_half_done(stage, left).await, Log::default());
    stage.actor("late worker", works::<T>);
    let writes = later.clone();
    stage.actor("writer and worker", |store| async move {
        drop(then.run::<T>(store.clone(), writes).await);
        works::<T>(store).await
    });
    stage.judge(world.judge(vec![log, later]));
}

/// While a writer is on its way, a worker may already find its message, and another writes.
async fn late_writer<T: Holder>(stage: &mut Stage, late: Steps, then: Steps) {
    let world = World::<T>::prepare(stage).await;
    let logs = [Log::default(), Log::default()];
    let [first, second] = logs.clone();
    stage.actor("late writer", |store| late.run::<T>(store, first));
    stage.actor("worker and writer", |store| async move {
        works::<T>(store.clone()).await?;
        then.run::<T>(store, second).await
    });
    stage.judge(world.judge(logs.to_vec()));
}

async fn crowd<T: Holder>(stage: &mut Stage, one: Steps, other: Steps) {
    let world = World::<T>::prepare(stage).await;
    let logs = [Log::default(), Log::default()];
    let [first, second] = logs.clone();
    stage.actor("one", |store| one.run::<T>(store, first));
    stage.actor("other", |store| other.run::<T>(store, second));
    stage.actor("worker", works::<T>);
    stage.actor("rival", works::<T>);
    stage.judge(world.judge(logs.to_vec()));
}
