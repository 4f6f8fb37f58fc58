//! Products whose version is copied into items elsewhere: who changes them, and what must be there in the end.

use std::sync::Arc;

use table_core::{Clock, Entity, Key, Query, Result, Versioned};
use table_patterns::denormalization::{KeepsCopies, Targets};
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::maintenance::{Maintained, MaintenanceOptions};
use table_patterns::{Denormalized, Indexed};

use super::promises::{Found, NOTHING};
use super::world::World;
use super::writers::Writers;
use crate::explore::{Judgement, Wrong};

/// Products that all items share.
const PRODUCTS: u32 = 4;
/// Items that each of their writers has.
const ITEMS: u32 = 6;
/// Places in the index that an item moves between.
const STATES: u32 = 3;

/// A source, which comes and goes.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{id}", row = "product")]
pub(super) struct Product {
    id: String,
    version: i64,
}

/// A target, found by an index elsewhere in which it moves.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "order{order}", row = "item_{number:03}")]
#[index(
    product,
    table = "SoakItemsByProduct",
    partition = "{product}",
    row = "at_{state:02}_{order}_{number:03}",
    include()
)]
pub(super) struct Item {
    order: u32,
    number: u32,
    product: String,
    state: u32,
    version: i64,
    product_version: Option<i64>,
}

impl KeepsCopies for Item {
    type Source = Product;

    fn targets(product: &Product) -> Targets<Self> {
        Targets::by_index(Self::range_by_product(&product.id).query())
    }

    fn source(&self) -> Option<Key<Product>> {
        Some(Product::key(&self.product))
    }

    fn take(&mut self, product: Option<&Product>) {
        self.product_version = product.map(|product| product.version);
    }
}

impl Item {
    /// What its writer has said, which the copy is no part of.
    fn state(&self) -> String {
        format!("v{}:{}:{}", self.version, self.product, self.state)
    }
}

impl World {
    pub(super) fn items(&self, mover: &Mover) -> Result<Denormalized<Item>> {
        Denormalized::kept_by(self.table("Products")?, self.table("Items")?, mover)?.with_intents(self.intents())
    }

    /// One of the products, whose names are this soak's alone.
    fn product(&self) -> String {
        format!("{}-{}", self.name, fastrand::u32(0..PRODUCTS))
    }
}

impl Writers {
    /// Changes products, deletes them and inserts them again.
    pub(super) async fn write_products(self: Arc<Self>, mover: Mover, changes: u64) -> Result<()> {
        let items = self.world.items(&mover)?;
        for _ in 0..changes {
            let (id, version) = (self.world.product(), self.number());
            let (thing, state) = (format!("product:{id}"), format!("v{version}"));
            let key = Product::key(&id);
            if items.sources().get(key.clone()).await?.is_none() {
                let insert = async { items.insert(&Product { id, version }).await.map(|_| ()) };
                self.watcher.change(&thing, &state, insert).await;
            } else if fastrand::u8(0..10) == 0 {
                let delete = async { items.delete(key).await.map(|_| ()) };
                self.watcher.change(&thing, NOTHING, delete).await;
            } else {
                let update = async { items.update(key, |product| product.version = version).await.map(|_| ()) };
                self.watcher.change(&thing, &state, update).await;
            }
        }
        Ok(())
    }

    /// Inserts items, points them at other products, and moves them in the index by which they are found.
    pub(super) async fn write_items(self: Arc<Self>, mover: Mover, writer: u32, changes: u64) -> Result<()> {
        let items = self.world.items(&mover)?;
        for _ in 0..changes {
            let (number, version) = (fastrand::u32(0..ITEMS), self.number());
            let (thing, key) = (format!("item:{writer}:{number}"), Item::key(writer, number));
            let read = items.table().get(key.clone()).await?.map(Versioned::into_value);
            let is_new = read.is_none();
            let (product, state) = (self.world.product(), fastrand::u32(0..STATES));
            let mut item = read.unwrap_or_else(|| Item {
                order: writer,
                number,
                product: product.clone(),
                state,
                version,
                product_version: None,
            });
            item.version = version;
            match fastrand::u8(0..3) {
                0 => item.product = product,
                1 => item.state = state,
                _ => {}
            }
            let write = async {
                if is_new {
                    return items.insert_target(&item).await.map(|_| ());
                }
                items.update_target(key, |stored| stored.clone_from(&item)).await.map(|_| ())
            };
            self.watcher.change(&thing, &item.state(), write).await;
        }
        Ok(())
    }
}

/// Every item shows what its product says, by its own row and by what maintenance says of both patterns.
pub(super) async fn look_at_copies(
    world: &World,
    mover: &Mover,
    clock: Arc<dyn Clock>,
    found: &mut Found,
    judgement: &mut Judgement,
) -> Result<()> {
    let copies = world.items(mover)?;
    let now = || MaintenanceOptions::default().with_clock(Arc::clone(&clock));
    judgement.add_report(&copies.verify(now()).await?);
    judgement.add_report(&Indexed::<Item>::kept_by(copies.table().clone(), mover)?.verify(now()).await?);
    let products = copies.sources().all(Query::<Product>::all().allow_scan()).await?;
    for product in &products {
        found.states.insert(format!("product:{}", product.id), format!("v{}", product.version));
    }
    for item in copies.table().all(Query::<Item>::all().allow_scan()).await? {
        let product = products.iter().find(|product| product.id == item.product);
        let is_right = item.product_version == product.map(|product| product.version);
        judgement.expect(is_right, Wrong::Stale, || format!("{:?} of {product:?}", item.value()));
        found.states.insert(format!("item:{}:{}", item.order, item.number), item.state());
    }
    Ok(())
}
