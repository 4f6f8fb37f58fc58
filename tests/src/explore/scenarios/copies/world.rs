//! The tables of products and shelves, and what they must hold in the end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use table_core::{DynamicEntity, Entity, Key, ManualClock, MemoryStore, Query, Result, Table, reserved};
use table_patterns::denormalization::{Denormalized, KeepsCopies, Targets};
use table_patterns::eventually_consistent_transactions::Mover;

use super::{Step, Steps};
use crate::explore::scenarios::history::{self, DiesAfterTransaction, Impossible};
use crate::explore::{Judgement, Stage, StoreHandle, Wrong};

/// The default of the intents' options.
const GRACE: Duration = Duration::from_secs(24 * 60 * 60);
/// Longer than a writer has its intent for itself, and shorter than the grace period.
const LATER: Duration = Duration::from_secs(600);

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "p{id}", row = "product")]
pub(super) struct Product {
    id: u32,
    pub(super) name: String,
}

/// All in one room, so that one query finds them.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "room", row = "shelf_{id}")]
pub(super) struct Shelf {
    id: u32,
    pub(super) product: u32,
    label: Option<String>,
    pub(super) items: i32,
}

impl KeepsCopies for Shelf {
    type Source = Product;

    fn targets(_: &Product) -> Targets<Self> {
        Self::range().query().into()
    }

    fn source(&self) -> Option<Key<Product>> {
        Some(product_key(self.product))
    }

    fn take(&mut self, product: Option<&Product>) {
        self.label = product.map(|product| product.name.clone());
    }
}

pub(super) fn product(id: u32) -> Product {
    Product { id, name: format!("p{id}") }
}

pub(super) fn product_key(id: u32) -> Key<Product> {
    Product::key(id)
}

pub(super) fn shelf(id: u32, product: u32) -> Shelf {
    Shelf { id, product, label: None, items: 0 }
}

pub(super) fn shelf_key(id: u32) -> Key<Shelf> {
    Shelf::key(id)
}

fn tables(store: &StoreHandle) -> Result<(Table, Table)> {
    Ok((Table::new(store.clone(), "Products")?, Table::new(store.clone(), "Shelves")?))
}

pub(super) async fn mover(store: &StoreHandle) -> Result<Mover> {
    let (products, shelves) = tables(store)?;
    Mover::builder(store.clone(), "moves")?.keep_copies::<Shelf>(&products, &shelves).build().await
}

pub(super) fn kept(store: &StoreHandle, mover: &Mover) -> Result<Denormalized<Shelf>> {
    let (products, shelves) = tables(store)?;
    Denormalized::kept_by(products, shelves, mover)
}

/// What a writer of products and shelves did, and what it was told.
pub(super) type Log = history::Log<Step>;

/// The stores, past everything that is explored.
pub(super) struct World {
    clock: Arc<ManualClock>,
    memory: MemoryStore,
    undisturbed: StoreHandle,
}

#[expect(clippy::expect_used, reason = "on the memory store alone nothing fails")]
impl World {
    /// Two products, and one shelf with the first.
    pub(super) async fn prepare(stage: &Stage) -> Self {
        let world = Self { clock: stage.clock(), memory: stage.memory(), undisturbed: stage.undisturbed().store };
        let memory: StoreHandle = Arc::new(stage.memory());
        let mover = mover(&memory).await.expect("a mover");
        let shelves = kept(&memory, &mover).expect("a pair");
        shelves.create_if_missing().await.expect("tables");
        for id in [1, 2] {
            shelves.insert(&product(id)).await.expect("a product");
        }
        shelves.insert_target(&shelf(1, 1)).await.expect("a shelf");
        world
    }

    /// Lets a writer die right after its transaction, so that its message is left for the workers.
    pub(super) async fn left_half_done(&self, stage: &Stage, steps: Steps) -> Log {
        let log = Log::default();
        drop(steps.run(stage.taking_turns(Arc::new(DiesAfterTransaction::default())).store, log.clone()).await);
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

    pub(super) async fn judge(self, logs: Vec<Log>) -> Judgement {
        let mut judgement = Judgement::default();
        let looked: Result<()> = async {
            self.settle(&mut judgement).await?;
            let products: Vec<Product> = self.stored("Products", &mut judgement).await?;
            let shelves: Vec<Shelf> = self.stored("Shelves", &mut judgement).await?;
            for shelf in &shelves {
                let product = products.iter().find(|product| product.id == shelf.product);
                let right = shelf.label.as_ref() == product.map(|product| &product.name);
                judgement.expect(right, Wrong::Stale, || format!("{shelf:?} of {product:?}"));
            }
            judge_answers(&mut judgement, &logs, &State::of(&products, &shelves));
            Ok(())
        }
        .await;
        if let Err(error) = looked {
            judgement.find(Wrong::Broken, error.to_string());
        }
        judgement
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
    shelves: BTreeMap<u32, (u32, i32)>,
}

impl State {
    fn of(products: &[Product], shelves: &[Shelf]) -> Self {
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
fn judge_answers(judgement: &mut Judgement, logs: &[Log], ended: &State) {
    let histories: Vec<_> = logs.iter().map(Log::history).collect();
    let first = State::of(&[product(1), product(2)], &[shelf(1, 1)]);
    let applied = |step, state: Option<&State>| state.and_then(|state| state.after(step)).map(Some).ok_or(Impossible);
    let possible = history::outcomes(Some(first), &histories, &applied);
    judgement.expect(possible.iter().flatten().any(|state| state == ended), Wrong::Lost, || {
        format!("{ended:?} is none of {possible:?} after {histories:?}")
    });
}
