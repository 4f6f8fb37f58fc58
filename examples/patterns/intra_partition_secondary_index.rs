//! Intra-partition secondary index: employees by email address and by last name.
//!
//! `cargo run --example intra_partition_secondary_index`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use table_core::{Entity, MemoryStore, Result, Table};
use table_patterns::Indexed;

/// Each index is another row of the same partition, with the properties that it includes.
#[derive(Entity, Clone)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(email, row = "email_{email}", include(first_name, last_name))]
#[index(last_name, row = "lname_{last_name}_{id:06}", include(first_name))]
struct Employee {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    age: i32,
    email: Option<String>,
}

fn employee(id: u32, first_name: &str, last_name: &str, email: &str) -> Employee {
    let (first_name, last_name, email) = (first_name.to_owned(), last_name.to_owned(), Some(email.to_owned()));
    Employee { department: "Sales".into(), id, first_name, last_name, age: 41, email }
}

#[tokio::main]
async fn main() -> Result<()> {
    let table = Table::new(Arc::new(MemoryStore::new()), "Employees")?;
    table.create().await?;
    let employees = Indexed::<Employee>::new(table)?;
    employees.insert(&employee(223, "Jo", "Jones", "jo@contoso.com")).await?;
    employees.insert(&employee(224, "Ana", "Jones", "ana@contoso.com")).await?;

    // The copy answers by itself; the whole employee takes one more read.
    let copy = employees.require(Employee::by_email("Sales", "jo@contoso.com")).await?;
    println!("by email: {} {}", copy.first_name, copy.last_name);
    let whole = employees.full(Employee::by_email("Sales", "jo@contoso.com")).await?;
    println!("in full, aged {}", whole.map_or(0, |jo| jo.age));
    for copy in employees.all(Employee::range_by_last_name("Sales").last_name("Jones")).await? {
        println!("by last name: {} {}", copy.id, copy.first_name);
    }

    // A change moves the copy, in the same transaction as the employee.
    employees.update(Employee::key("Sales", 223), |jo| jo.email = Some("jones@contoso.com".into())).await?;
    let old = employees.get(Employee::by_email("Sales", "jo@contoso.com")).await?;
    println!("the old address finds somebody: {}", old.is_some());

    // An address belongs to one employee of the department.
    match employees.insert(&employee(225, "Ken", "Kwok", "jones@contoso.com")).await {
        Ok(_) => println!("the address was taken twice"),
        Err(error) => println!("{}: {}", error.kind(), error.message()),
    }
    Ok(())
}
