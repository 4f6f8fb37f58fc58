//! Inter-partition secondary index: an email address finds an employee of any department, and is unique in the company.
//!
//! `cargo run --example inter_partition_secondary_index`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use table_core::{Entity, MemoryStore, Result, Table};
use table_patterns::Indexed;
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::inter_partition_secondary_index::Reads;

/// The copies stand in a table of their own, where no transaction reaches.
#[derive(Entity, Clone)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(directory, table = "EmployeesByEmail", partition = "{email}", row = "", include(name))]
struct Employee {
    department: String,
    id: u32,
    name: String,
    email: String,
}

fn employee(department: &str, id: u32, name: &str, email: &str) -> Employee {
    Employee { department: department.into(), id, name: name.into(), email: email.into() }
}

#[tokio::main]
async fn main() -> Result<()> {
    let store = Arc::new(MemoryStore::new());
    let table = Table::new(store.clone(), "Employees")?;
    // Whatever a writer leaves undone when it dies, a worker of the mover does.
    let mover = Mover::builder(store, "moves")?.keep_indexes::<Employee>(&table).build().await?;
    let employees = Indexed::<Employee>::kept_by(table, &mover)?;
    employees.create_if_missing().await?;
    let workers = mover.start();

    employees.insert(&employee("Sales", 223, "Jo", "jo@contoso.com")).await?;
    employees.insert(&employee("Legal", 7, "Ana", "ana@contoso.com")).await?;
    show(&employees, "ana@contoso.com").await?;

    // The old address finds nobody from the moment that the change is answered.
    employees.update(Employee::key("Legal", 7), |ana| ana.email = "ana.ito@contoso.com".into()).await?;
    show(&employees, "ana@contoso.com").await?;
    show(&employees, "ana.ito@contoso.com").await?;

    match employees.insert(&employee("Legal", 8, "Jo", "jo@contoso.com")).await {
        Ok(_) => println!("the address was taken twice"),
        Err(error) => println!("{}: {}", error.kind(), error.message()),
    }
    workers.shutdown().await;
    Ok(())
}

async fn show(employees: &Indexed<Employee>, email: &str) -> Result<()> {
    match employees.find(Employee::by_directory(email), Reads::Verified).await? {
        Some(found) => println!("{email}: {} of {}", found.name, found.department),
        None => println!("{email}: nobody"),
    }
    Ok(())
}
