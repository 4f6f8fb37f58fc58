use std::sync::Arc;

use table_core::{Entity, Key, QueueStore, Result, Table, TableStore};
use table_patterns::denormalization::{Denormalized, KeepsCopies, Targets};
use table_patterns::eventually_consistent_transactions::Mover;
use table_tests::pattern::Costs;

use super::moved::{self, Seat, Show};

#[derive(Entity, Clone, Debug)]
#[entity(partition = "{id}", row = "product")]
struct Product {
    id: String,
    name: String,
    price: i32,
}

#[derive(Entity, Clone, Debug)]
#[entity(partition = "shelves", row = "shelf_{number:04}")]
struct Shelf {
    number: u32,
    product: Option<String>,
    label: Option<String>,
}

impl KeepsCopies for Shelf {
    type Source = Product;

    fn targets(_: &Product) -> Targets<Self> {
        Self::range().query().into()
    }

    fn source(&self) -> Option<Key<Product>> {
        self.product.as_deref().map(Product::key)
    }

    fn take(&mut self, product: Option<&Product>) {
        self.label = product.map(|product| product.name.clone());
    }

    fn shows(before: &Product, after: &Product) -> bool {
        before.name != after.name
    }
}

/// Counts what a pair across partitions takes, by stores that are metered.
pub(crate) async fn count(
    costs: &mut Costs<'_>,
    tables: Arc<dyn TableStore>,
    queues: Arc<dyn QueueStore>,
) -> Result<()> {
    let (seats, _) = moved::kept(&tables, &queues).await?;
    seats.create_if_missing().await?;
    seats.insert(&Show { id: "ham".into(), title: "Hamlet".into() }).await?;
    let (rank, show) = ("m".into(), "ham".into());
    seats.insert_target(&Seat { number: 1, rank, show, title: String::new() }).await?;

    let (products, shelves) = (Table::new(Arc::clone(&tables), "Products")?, Table::new(tables, "Shelves")?);
    let mover = Mover::builder(queues, "moves")?.keep_copies::<Shelf>(&products, &shelves).build().await?;
    let pair = Denormalized::<Shelf>::kept_by(products, shelves, &mover)?;
    pair.create_if_missing().await?;
    let product = |id: &str| Product { id: id.into(), name: id.into(), price: 1 };
    let shelf = |number, product: Option<&str>| Shelf { number, product: product.map(Into::into), label: None };
    let (tea, key) = (|| Product::key("tea"), || Shelf::key(1));
    // The product with its intent, its targets, the intent.
    costs.count("insert across", pair.insert(&product("tea"))).await;
    pair.insert(&product("cup")).await?;
    // The product, the shelf with its intent, the product, the intent.
    costs.count("insert_target across", pair.insert_target(&shelf(1, Some("tea")))).await;
    for number in 2..=50 {
        pair.insert_target(&shelf(number, Some("tea"))).await?;
    }
    // The product, it with its intent, its targets, the product, all of them at once, the intent.
    costs.count("update across with 50 copies", pair.update(tea(), |tea| tea.name.push('s'))).await;
    costs.count("update across of another field", pair.update(tea(), |tea| tea.price += 1)).await;
    let to_cup = |shelf: &mut Shelf| shelf.product = Some("cup".into());
    costs.count("update_target across to a new source", pair.update_target(key(), to_cup)).await;
    costs.count("update_target across with the same source", pair.update_target(key(), |_| ())).await;
    // The seat, its show, both of its rows with its intent, the show, the intent.
    let to_front = |seat: &mut Seat| seat.rank = "a".into();
    costs.count("update_target across that moves in its index", seats.update_target(Seat::key(1), to_front)).await;
    costs.count("update_target across to none", pair.update_target(key(), |shelf| shelf.product = None)).await;
    costs.count("delete across with 49 copies", pair.delete(tea())).await;
    Ok(())
}
