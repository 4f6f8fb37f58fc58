//! The tables of products and shelves, and what they must hold in the end.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use table_core::{DynamicEntity, Entity, ManualClock, MemoryStore, Query, Result, Table, reserved};
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::maintenance::{Maintained, MaintenanceOptions};
use table_patterns::{Denormalized, Indexed};

use super::shelf::{Content, Holder, Product, product};
use super::{Step, Steps};
use crate::explore::scenarios::history::{self, DiesAfterTransaction, Impossible};
use crate::explore::{Judgement, Stage, StoreHandle, Wrong};

/// The default of the intents' options.
const GRACE: Duration = Duration::from_secs(24 * 60 * 60);
/// Longer than a writer has its intent for itself, and shorter than the grace period.
const LATER: Duration = Duration::from_secs(600);

fn tables(store: &StoreHandle) -> Result<(Table, Table)> {
    Ok((Table::new(store.clone(), "Products")?, Table::new(store.clone(), "Shelves")?))
}

pub(super) async fn mover<T: Holder>(store: &StoreHandle) -> Result<Mover> {
    let (products, shelves) = tables(store)?;
    let builder = Mover::builder(store.clone(), "moves")?.keep_copies::<T>(&products, &shelves);
    builder.keep_indexes::<T>(&shelves).build().await
}

pub(super) fn kept<T: Holder>(store: &StoreHandle, mover: &Mover) -> Result<Denormalized<T>> {
    let (products, shelves) = tables(store)?;
    Denormalized::kept_by(products, shelves, mover)
}

/// What a writer of products and shelves did, and what it was told.
pub(super) type Log = history::Log<Step>;

/// The stores, past everything that is explored.
pub(super) struct World<T> {
    clock: Arc<ManualClock>,
    memory: MemoryStore,
    undisturbed: StoreHandle,
    holder: PhantomData<T>,
}

#[expect(clippy::expect_used, reason = "on the memory store alone nothing fails")]
impl<T: Holder> World<T> {
    /// Two products, and one shelf with the first.
    pub(super) async fn prepare(stage: &Stage) -> Self {
        let (clock, undisturbed) = (stage.clock(), stage.undisturbed().store);
        let world = Self { clock, memory: stage.memory(), undisturbed, holder: PhantomData };
        let memory: StoreHandle = Arc::new(stage.memory());
        let mover = mover::<T>(&memory).await.expect("a mover");
        let shelves = kept::<T>(&memory, &mover).expect("a pair");
        shelves.create_if_missing().await.expect("tables");
        for id in [1, 2] {
            shelves.insert(&product(id)).await.expect("a product");
        }
        shelves.insert_target(&T::new(1, 1)).await.expect("a shelf");
        world
    }

    /// Lets a writer die right after its transaction, so that its message is left for the workers.
    pub(super) async fn left_half_done(&self, stage: &Stage, steps: Steps) -> Log {
        let log = Log::default();
        drop(steps.run::<T>(stage.taking_turns(Arc::new(DiesAfterTransaction::default())).store, log.clone()).await);
        log
    }
}

impl<T: Holder> World<T> {
    /// Lets every wait pass until the queue is empty: first the work, then what is collected.
    async fn settle(&self, judgement: &mut Judgement) -> Result<()> {
        let mover = mover::<T>(&self.undisturbed).await?;
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

    pub(super) async fn judge(self, logs: Vec<Log>) -> Judgement {
        let mut judgement = Judgement::default();
        let looked: Result<()> = async {
            self.settle(&mut judgement).await?;
            let products: Vec<Product> = self.stored("Products", &mut judgement).await?;
            let shelves: Vec<T> = self.stored("Shelves", &mut judgement).await?;
            let shelves: Vec<Content> = shelves.iter().map(Holder::content).collect();
            for shelf in &shelves {
                let product = products.iter().find(|product| product.id == shelf.product);
                let right = shelf.label.as_ref() == product.map(|product| &product.name);
                judgement.expect(right, Wrong::Stale, || format!("{shelf:?} of {product:?}"));
            }
            judge_answers::<T>(&mut judgement, &logs, &State::of(&products, &shelves));
            self.verify(&mut judgement).await
        }
        .await;
        if let Err(error) = looked {
            judgement.find(Wrong::Broken, error.to_string());
        }
        judgement
    }

    /// Maintenance finds nothing either, of the copies and of the index that leads to them.
    async fn verify(&self, judgement: &mut Judgement) -> Result<()> {
        let memory: StoreHandle = Arc::new(self.memory.clone());
        let mover = mover::<T>(&memory).await?;
        let now = || MaintenanceOptions::default().with_clock(self.clock.clone());
        let copies = kept::<T>(&memory, &mover)?;
        judgement.add_report(&copies.verify(now()).await?);
        if !T::SCHEMA.indexes.is_empty() {
            let shelves = Indexed::<T>::kept_by(copies.table().clone(), &mover)?;
            judgement.add_report(&shelves.verify(now()).await?);
        }
        Ok(())
    }

    /// The entities of a table; every other row is an orphan.
    async fn stored<E: Entity>(&self, table: &str, judgement: &mut Judgement) -> Result<Vec<E>> {
        let stored = Table::new(Arc::new(self.memory.clone()), table)?;
        let mut entities = Vec::new();
        for row in stored.all(Query::<DynamicEntity>::all().allow_scan()).await? {
            let row = row.into_value();
            if row.get(reserved::ROW_KIND.as_str()).is_some() {
                judgement.find(Wrong::Orphaned, format!("{table} still holds {}", row.key));
            } else {
                entities.push(E::from_row(row)?.into_value());
            }
        }
        Ok(entities)
    }
}

/// What writers can see of both tables, without the copies.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    products: BTreeMap<u32, String>,
    shelves: BTreeMap<u32, (u32, u32)>,
}

impl State {
    fn of(products: &[Product], shelves: &[Content]) -> Self {
        Self {
            products: products.iter().map(|product| (product.id, product.name.clone())).collect(),
            shelves: shelves.iter().map(|shelf| (shelf.id, (shelf.product, shelf.items))).collect(),
        }
    }

    /// What a step makes of it; none where it cannot succeed.
    fn after(&self, step: Step) -> Option<Self> {
        let mut next = self.clone();
        let is_new = match step {
            Step::Insert(id) => next.products.insert(id, format!("p{id}")).is_none(),
            Step::Place(id, product) => next.shelves.insert(id, (product, 0)).is_none(),
            Step::Rename(id, name) => {
                name.clone_into(next.products.get_mut(&id)?);
                true
            }
            Step::Delete(id) => {
                next.products.remove(&id);
                true
            }
            Step::Point(id, product) => {
                next.shelves.get_mut(&id)?.0 = product;
                true
            }
            Step::Fill(id) => {
                next.shelves.get_mut(&id)?.1 = 7;
                true
            }
        };
        is_new.then_some(next)
    }
}

/// What was acknowledged is there, and what was refused is not.
fn judge_answers<T: Holder>(judgement: &mut Judgement, logs: &[Log], ended: &State) {
    let histories: Vec<_> = logs.iter().map(Log::history).collect();
    let first = State::of(&[product(1), product(2)], &[T::new(1, 1).content()]);
    let applied = |step, state: Option<&State>| state.and_then(|state| state.after(step)).map(Some).ok_or(Impossible);
    let possible = history::outcomes(Some(first), &histories, &applied);
    judgement.expect(possible.iter().flatten().any(|state| state == ended), Wrong::Lost, || {
        format!("{ended:?} is none of {possible:?} after {histories:?}")
    });
}
