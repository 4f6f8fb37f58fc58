//! Denormalization: a department keeps its manager's name, and how many employees it has.
//!
//! `cargo run --example denormalization`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use table_core::{Entity, Key, MemoryStore, Query, Result, Table};
use table_patterns::{Denormalized, KeepsCopies};

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

    fn targets(employee: &Employee) -> Query<Self> {
        Self::range(&employee.department).query()
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

#[tokio::main]
async fn main() -> Result<()> {
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

/// One read shows the department with its manager.
async fn show(table: &Table, when: &str) -> Result<()> {
    let sales = table.require(Department::key("Sales")).await?;
    let manager = sales.manager_name.as_deref().unwrap_or("nobody");
    println!("{when}: {} employees, managed by {manager}", sales.employee_count);
    Ok(())
}
