//! Opening a pair whose copies a mover keeps.

use table_core::{Entity, Error, Result, Table};

use super::across::Across;
use super::message::{About, Behind, scope};
use super::point::counts;
use super::{Denormalized, KeepsCopies};
use crate::attempts::UpdateOptions;
use crate::eventually_consistent_transactions::Mover;
use crate::intent::{Intent, IntentOptions};
use crate::intra_partition_secondary_index::Indexed;

impl<T: KeepsCopies> Denormalized<T> {
    /// Sources and targets in any partitions of two tables, or of one, whose copies this mover keeps: it was built with
    /// [`keep_copies`](crate::eventually_consistent_transactions::MoverBuilder::keep_copies), and somebody starts its
    /// workers. Where one of the types has indexes elsewhere the mover keeps those too.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use table_core::{Entity, Key, MemoryStore, Table};
    /// use table_patterns::denormalization::{Denormalized, KeepsCopies, Targets};
    /// use table_patterns::eventually_consistent_transactions::Mover;
    ///
    /// #[derive(Entity, Clone)]
    /// #[entity(partition = "{id}", row = "product")]
    /// struct Product {
    ///     id: String,
    ///     name: String,
    /// }
    ///
    /// #[derive(Entity, Clone)]
    /// #[entity(partition = "{order}", row = "line_{number:04}")]
    /// #[index(product, table = "LinesByProduct", partition = "{product}", row = "line_{order}_{number:04}", include())]
    /// struct OrderLine {
    ///     order: String,
    ///     number: u32,
    ///     product: String,
    ///     product_name: String,
    /// }
    ///
    /// impl KeepsCopies for OrderLine {
    ///     type Source = Product;
    ///
    ///     fn targets(product: &Product) -> Targets<Self> {
    ///         Targets::by_index(Self::by_product(&product.id))
    ///     }
    ///
    ///     fn source(&self) -> Option<Key<Product>> {
    ///         Some(Product::key(&self.product))
    ///     }
    ///
    ///     fn take(&mut self, product: Option<&Product>) {
    ///         self.product_name = product.map(|product| product.name.clone()).unwrap_or_default();
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> table_core::Result<()> {
    /// let store = Arc::new(MemoryStore::new());
    /// let (products, orders) = (Table::new(store.clone(), "Products")?, Table::new(store.clone(), "Orders")?);
    /// let mover = Mover::builder(store, "moves")?
    ///     .keep_copies::<OrderLine>(&products, &orders)
    ///     .keep_indexes::<OrderLine>(&orders)
    ///     .build()
    ///     .await?;
    /// let lines = Denormalized::<OrderLine>::kept_by(products, orders.clone(), &mover)?;
    /// lines.create_if_missing().await?;
    /// let workers = mover.start();
    ///
    /// lines.insert(&Product { id: "tea".into(), name: "Tea".into() }).await?;
    /// for order in ["A7", "B2"] {
    ///     let line = OrderLine { order: order.into(), number: 1, product: "tea".into(), product_name: String::new() };
    ///     lines.insert_target(&line).await?;
    /// }
    /// lines.update(Product::key("tea"), |tea| tea.name = "Green tea".into()).await?;
    /// assert_eq!(orders.require(OrderLine::key("B2", 1)).await?.product_name, "Green tea");
    /// workers.shutdown().await;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Unsupported`](table_core::ErrorKind::Unsupported) where the mover has no worker for them, for targets that count or
    /// that sources need, for fields in blobs, and for an index that is read in its order on a store without order.
    pub fn kept_by(sources: Table, targets: Table, mover: &Mover) -> Result<Self> {
        if !mover.handles::<Intent<Behind>>(&scope::<T>(About::Sources, &sources, &targets)) {
            return Err(Error::unsupported(format!(
                "the mover keeps no copies in {name} from the table {sources} in the table {targets}; build it with `keep_copies::<{name}>(&sources, &targets)`, or open the pair with `Denormalized::kept_elsewhere` where another process does",
                name = T::SCHEMA.name,
                sources = sources.name(),
                targets = targets.name()
            )));
        }
        check_indexes::<T::Source>(&sources, mover)?;
        check_indexes::<T>(&targets, mover)?;
        Self::kept_elsewhere(sources, targets, mover)
    }

    /// As [`kept_by`](Denormalized::kept_by), where the worker is in another process: this mover only sends to its
    /// queue. While no such process runs, the copies of writers that die stay as they were, and so do those beyond the
    /// first thousand of a source.
    ///
    /// # Errors
    /// As [`kept_by`](Denormalized::kept_by).
    pub fn kept_elsewhere(sources: Table, targets: Table, mover: &Mover) -> Result<Self> {
        if T::NEEDS_TARGET {
            return Err(counts::<T>());
        }
        let across = Across::new(&sources, &targets, mover, IntentOptions::default())?;
        Ok(Self { sources, targets, options: UpdateOptions::default(), across: Some(across) })
    }

    /// Sets how long intents are hidden, and how long fences stay. In one partition there are none.
    ///
    /// # Errors
    /// [`LimitExceeded`](table_core::ErrorKind::LimitExceeded) for a grace period over seven days, or for
    /// intents that are hidden for more than a quarter of it.
    pub fn with_intents(mut self, intents: IntentOptions) -> Result<Self> {
        intents.check()?;
        if let Some(across) = &self.across {
            let across = Across::new(&self.sources, &self.targets, &across.keeper.mover, intents)?;
            self.across = Some(across.with_options(&self.options));
        }
        Ok(self)
    }

    /// Creates the tables of the pair and of its indexes, unless they exist.
    ///
    /// # Errors
    /// Those of reaching the store.
    pub async fn create_if_missing(&self) -> Result<()> {
        match &self.across {
            None => self.targets.create_if_missing().await.map(|_| ()),
            Some(across) => {
                across.sources.create_if_missing().await?;
                across.targets.create_if_missing().await
            }
        }
    }
}

/// Refuses a mover that does not keep the indexes that a type has elsewhere.
fn check_indexes<E: Entity>(table: &Table, mover: &Mover) -> Result<()> {
    if E::SCHEMA.indexes.iter().all(table_core::IndexSchema::is_local) {
        return Ok(());
    }
    Indexed::<E>::kept_by(table.clone(), mover).map(|_| ())
}
