//! Index entities: one row for each last name, with the list of the employees who have it.
//!
//! `cargo run --example index_entities`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use table_core::{Entity, MemoryStore, PartitionKey, Result, Table};
use table_patterns::IndexEntities;

#[derive(Entity)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
}

#[tokio::main]
async fn main() -> Result<()> {
    let table = Table::new(Arc::new(MemoryStore::new()), "Employees")?;
    table.create().await?;
    let employees = IndexEntities::<Employee>::new(table).list("last_name", |each| Some(each.last_name.clone()));

    for (id, first_name, last_name) in [(152, "Jo", "Jones"), (7, "Ana", "Jones"), (23, "Ken", "Kwok")] {
        let (first_name, last_name) = (first_name.to_owned(), last_name.to_owned());
        employees.insert(&Employee { department: "Sales".into(), id, first_name, last_name }).await?;
    }
    show(&employees, "Jones").await?;

    // The employee, the old list and the new one change in one transaction.
    employees.update(Employee::key("Sales", 7), |ana| ana.last_name = "Kwok".into()).await?;
    show(&employees, "Jones").await?;
    show(&employees, "Kwok").await
}

async fn show(employees: &IndexEntities<Employee>, last_name: &str) -> Result<()> {
    let found = employees.find(&PartitionKey::new("Sales")?, "last_name", last_name).await?;
    let names: Vec<&str> = found.iter().map(|employee| employee.first_name.as_str()).collect();
    println!("{last_name}: {}", names.join(", "));
    Ok(())
}
