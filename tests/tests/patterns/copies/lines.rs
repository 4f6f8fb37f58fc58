//! Targets that are found by an index elsewhere, and whose copies another index elsewhere shows.

use std::sync::Arc;
use std::time::Duration;

use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan};
use table_core::{Entity, Key, QueueStore, Result, Table, TableStore};
use table_patterns::denormalization::{Denormalized, KeepsCopies, Targets};
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::inter_partition_secondary_index::Reads;
use table_patterns::maintenance::{Maintained, MaintenanceOptions};
use table_patterns::{Indexed, UpdateOptions};
use table_tests::pattern::{TASKS, TestStore, memory, our_stores};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{id}", row = "product")]
struct Product {
    id: String,
    name: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{order}", row = "line_{number:04}")]
#[index(product, table = "LinesByProduct", partition = "{product}", row = "line_{order}_{number:04}", include())]
#[index(
    named,
    table = "LinesByName",
    partition = "{product_name}",
    row = "line_{order}_{number:04}",
    include(quantity)
)]
struct Line {
    order: String,
    number: u32,
    product: String,
    product_name: Option<String>,
    quantity: i32,
}

impl KeepsCopies for Line {
    type Source = Product;

    fn targets(product: &Product) -> Targets<Self> {
        Targets::by_index(Self::by_product(&product.id))
    }

    fn source(&self) -> Option<Key<Product>> {
        Some(Product::key(&self.product))
    }

    fn take(&mut self, product: Option<&Product>) {
        self.product_name = product.map(|product| product.name.clone());
    }
}

fn line(order: u32, product: &str) -> Line {
    Line { order: format!("o{order}"), number: 1, product: product.into(), product_name: None, quantity: 3 }
}

async fn kept(tables: &Arc<dyn TableStore>, queues: &Arc<dyn QueueStore>) -> Result<(Denormalized<Line>, Mover)> {
    let (products, orders) = (Table::new(Arc::clone(tables), "Products")?, Table::new(Arc::clone(tables), "Orders")?);
    let builder = Mover::builder(Arc::clone(queues), "moves")?.keep_indexes::<Line>(&orders);
    let mover = builder.keep_copies::<Line>(&products, &orders).build().await?;
    Ok((Denormalized::kept_by(products, orders, &mover)?, mover))
}

async fn prepare(store: &TestStore) -> (Denormalized<Line>, Mover) {
    let (lines, mover) = kept(&store.tables, &store.queues).await.unwrap();
    lines.create_if_missing().await.unwrap();
    for (id, name) in [("tea", "Tea"), ("cup", "Cup")] {
        lines.insert(&Product { id: id.into(), name: name.into() }).await.unwrap();
    }
    for order in 1..=3 {
        lines.insert_target(&line(order, "tea")).await.unwrap();
    }
    (lines, mover)
}

async fn assert_consistent(store: &TestStore) {
    let (lines, mover) = kept(&store.tables, &store.queues).await.unwrap();
    super::settle(store, &mover).await;
    let products: Vec<Product> = super::all(&store.tables, "Products").await;
    for line in super::all::<Line>(&store.tables, "Orders").await {
        let product = products.iter().find(|product| product.id == line.product);
        assert_eq!(line.product_name, product.map(|product| product.name.clone()), "{line:?}");
    }
    let now = || MaintenanceOptions::default().with_clock(store.clock.clone());
    let report = lines.verify(now()).await.unwrap();
    assert!(report.is_clean() && report.in_flight == 0, "{report}: {:#?}", report.findings);
    let report = Indexed::<Line>::kept_by(lines.table().clone(), &mover).unwrap().verify(now()).await.unwrap();
    assert!(report.is_clean() && report.in_flight == 0, "{report}: {:#?}", report.findings);
}

#[tokio::test]
async fn a_changed_source_reaches_its_targets_and_their_indexes() -> Result<()> {
    for store in &our_stores() {
        let (lines, mover) = prepare(store).await;
        lines.update(Product::key("tea"), |tea| tea.name = "Green tea".into()).await?;
        let orders = Indexed::<Line>::kept_by(lines.table().clone(), &mover)?;
        let found = orders.find_all(Line::by_named("Green tea"), Reads::Fast).await?;
        assert_eq!(found.len(), 3);
        assert!(orders.find_all(Line::by_named("Tea"), Reads::Fast).await?.is_empty());
        lines.update_target(Line::key("o2", 1), |line| line.product = "cup".into()).await?;
        lines.update(Product::key("cup"), |cup| cup.name = "Mug".into()).await?;
        assert_eq!(lines.table().require(Line::key("o2", 1)).await?.product_name.as_deref(), Some("Mug"));
        lines.delete(Product::key("tea")).await?;
        assert_consistent(store).await;
    }
    Ok(())
}

/// The change that looks for its targets in an index finds one whose index rows are late: its writer died before them.
#[tokio::test(start_paused = true)]
async fn a_target_whose_index_rows_are_late_is_not_missed() -> Result<()> {
    let mut deaths = 0;
    for (call, is_new) in (1..40).flat_map(|call| [(call, true), (call, false)]) {
        let store = memory();
        let (lines, mover) = prepare(&store).await;
        let plan = FaultPlan::new(FaultOptions::default().with_death(call, FaultMoment::After));
        let tables: Arc<dyn TableStore> = Arc::new(Fault::new(store.tables.clone(), plan.clone()));
        let queues: Arc<dyn QueueStore> = Arc::new(Fault::new(store.queues.clone(), plan.clone()));
        if let Ok((dying, _)) = kept(&tables, &queues).await {
            if is_new {
                drop(dying.insert_target(&line(4, "cup")).await);
            } else {
                drop(dying.update_target(Line::key("o2", 1), |line| line.product = "cup".into()).await);
            }
        }
        deaths += u32::from(plan.is_dead());
        // Its own message is taken before that of its indexes, and the source changes before and after.
        lines.update(Product::key("cup"), |cup| cup.name = "Mug".into()).await?;
        store.clock.advance(super::HIDDEN);
        mover.run_due().await?;
        lines.update(Product::key("cup"), |cup| cup.name = "Beaker".into()).await?;
        assert_consistent(&store).await;
    }
    assert!(deaths > 30, "only {deaths} deaths");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn they_stay_in_step_under_contention() -> Result<()> {
    for store in &our_stores() {
        prepare(store).await;
        let delays = FaultOptions::default().with_latency(Duration::ZERO..=Duration::from_millis(1)).with_seed(7);
        let plan = FaultPlan::new(delays);
        let tables: Arc<dyn TableStore> = Arc::new(Fault::new(store.tables.clone(), plan.clone()));
        let queues: Arc<dyn QueueStore> = Arc::new(Fault::new(store.queues.clone(), plan));
        let (lines, mover) = kept(&tables, &queues).await?;
        let lines = lines.with_options(UpdateOptions::default().with_attempts(500));
        let workers = mover.start();
        let tasks: Vec<_> = (0..TASKS)
            .map(|task| {
                let lines = lines.clone();
                tokio::spawn(async move {
                    for round in 0..2 {
                        let product = if (task / 4 + round) % 2 == 0 { "tea" } else { "cup" };
                        match task % 4 {
                            0 => drop(lines.update(Product::key(product), |each| each.name.push('!')).await?),
                            1 => drop(lines.insert_target(&line(100 + 10 * task + round, product)).await?),
                            2 => {
                                let change = |line: &mut Line| line.product = product.into();
                                lines.update_target(Line::key("o1", 1), change).await?;
                            }
                            _ => drop(lines.update_target(Line::key("o1", 1), |line| line.quantity += 1).await?),
                        }
                    }
                    Ok::<(), table_core::Error>(())
                })
            })
            .collect();
        for (number, task) in tasks.into_iter().enumerate() {
            store.clock.advance(super::HIDDEN);
            task.await.unwrap().unwrap_or_else(|error| panic!("task {number} on {}: {error}", store.name));
        }
        workers.shutdown().await;
        assert_consistent(store).await;
        assert_eq!(lines.table().require(Line::key("o1", 1)).await?.quantity, 3 + 4 * 2, "no change is lost");
    }
    Ok(())
}
