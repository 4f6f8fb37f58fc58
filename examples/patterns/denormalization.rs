//! Denormalization: a department keeps its manager's name, and how many employees it has; the lines of orders in many
//! partitions keep the name of their product, which is in another table.
//!
//! `cargo run --example denormalization`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use table_core::{Entity, Key, MemoryStore, Result, Table};
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::maintenance::{Maintained, MaintenanceOptions};
use table_patterns::{Denormalized, KeepsCopies, Targets};

#[derive(Entity, Clone)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
}

#[derive(Entity, Clone)]
#[entity(partition = "{name}", row = "department")]
struct Department {
    name: String,
    manager: Option<u32>,
    manager_name: Option<String>,
    employee_count: i64,
}

/// What the department copies, and from whom.
impl KeepsCopies for Department {
    type Source = Employee;
    const NEEDS_TARGET: bool = true;

    fn targets(employee: &Employee) -> Targets<Self> {
        Self::range(&employee.department).query().into()
    }

    fn source(&self) -> Option<Key<Employee>> {
        self.manager.map(|id| Employee::key(&self.name, id))
    }

    fn take(&mut self, manager: Option<&Employee>) {
        self.manager_name = manager.map(|manager| manager.name.clone());
    }

    fn count(&mut self, change: i64) {
        self.employee_count += change;
    }
}

#[derive(Entity, Clone)]
#[entity(partition = "{id}", row = "product")]
struct Product {
    id: String,
    name: String,
}

/// An index leads from a product to the lines of all orders.
#[derive(Entity, Clone)]
#[entity(partition = "{order}", row = "line_{number:04}")]
#[index(product, table = "LinesByProduct", partition = "{product}", row = "line_{order}_{number:04}", include())]
struct OrderLine {
    order: String,
    number: u32,
    product: String,
    product_name: Option<String>,
}

impl KeepsCopies for OrderLine {
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

#[tokio::main]
async fn main() -> Result<()> {
    in_one_partition().await?;
    across_partitions().await
}

async fn in_one_partition() -> Result<()> {
    let table = Table::new(Arc::new(MemoryStore::new()), "Staff")?;
    table.create().await?;
    let staff = Denormalized::<Department>::new(table.clone());
    let sales = Department { name: "Sales".into(), manager: None, manager_name: None, employee_count: 0 };
    staff.insert_target(&sales).await?;
    for (id, name) in [(7, "Jo"), (8, "Ana")] {
        staff.insert(&Employee { department: "Sales".into(), id, name: name.into() }).await?;
    }

    staff.update_target(Department::key("Sales"), |sales| sales.manager = Some(7)).await?;
    show(&table, "appointed").await?;
    // The employee and the department change in one transaction.
    staff.update(Employee::key("Sales", 7), |jo| jo.name = "Joanna".into()).await?;
    show(&table, "renamed").await?;
    Ok(())
}

async fn across_partitions() -> Result<()> {
    let store = Arc::new(MemoryStore::new());
    let (products, orders) = (Table::new(store.clone(), "Products")?, Table::new(store.clone(), "Orders")?);
    let mover = Mover::builder(store, "moves")?
        .keep_copies::<OrderLine>(&products, &orders)
        .keep_indexes::<OrderLine>(&orders)
        .build()
        .await?;
    let lines = Denormalized::<OrderLine>::kept_by(products, orders.clone(), &mover)?;
    lines.create_if_missing().await?;
    // A worker ends what a writer leaves that dies half-way, and has the targets beyond the first thousand.
    let workers = mover.start();

    lines.insert(&Product { id: "tea".into(), name: "Tea".into() }).await?;
    for order in ["A7", "B2", "C9"] {
        let line = OrderLine { order: order.into(), number: 1, product: "tea".into(), product_name: None };
        lines.insert_target(&line).await?;
    }
    lines.update(Product::key("tea"), |tea| tea.name = "Green tea".into()).await?;
    for order in ["A7", "B2", "C9"] {
        let line = orders.require(OrderLine::key(order, 1)).await?;
        println!("order {order}: {}", line.product_name.as_deref().unwrap_or("nothing"));
    }
    let report = lines.verify(MaintenanceOptions::default()).await?;
    println!("checked: {report}");
    workers.shutdown().await;
    Ok(())
}

/// One read shows the department with its manager.
async fn show(table: &Table, when: &str) -> Result<()> {
    let sales = table.require(Department::key("Sales")).await?;
    let manager = sales.manager_name.as_deref().unwrap_or("nobody");
    println!("{when}: {} employees, managed by {manager}", sales.employee_count);
    Ok(())
}
