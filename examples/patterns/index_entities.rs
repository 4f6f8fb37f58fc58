//! Index entities: one row for each last name, with the list of the employees who have it; and one for each city, in
//! another table, with employees of all departments.
//!
//! `cargo run --example index_entities`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use table_core::{Entity, MemoryStore, PartitionKey, Result, Table, Versioned};
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::{IndexEntities, ListPlace};

#[derive(Entity)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    city: String,
}

#[tokio::main]
async fn main() -> Result<()> {
    let store = Arc::new(MemoryStore::new());
    let lists = IndexEntities::<Employee>::new(Table::new(store.clone(), "Employees")?)
        .list("last_name", |each| Some(each.last_name.clone()))
        .list_at(ListPlace::table("EmployeesByCity"), "city", |each| Some(each.city.clone()));
    let mover = Mover::builder(store, "moves")?.keep_lists(&lists).build().await?;
    let employees = lists.kept_by(&mover)?;
    employees.create_if_missing().await?;
    let workers = mover.start();

    for (department, id, first_name, last_name, city) in [
        ("Sales", 152, "Jo", "Jones", "Berlin"),
        ("Sales", 7, "Ana", "Jones", "Bonn"),
        ("Sales", 23, "Ken", "Kwok", "Berlin"),
        ("Marketing", 61, "Mia", "Jones", "Berlin"),
    ] {
        let (first_name, last_name, city) = (first_name.to_owned(), last_name.to_owned(), city.to_owned());
        employees.insert(&Employee { department: department.into(), id, first_name, last_name, city }).await?;
    }
    show("Jones in Sales", &in_sales(&employees, "Jones").await?);
    show("Berlin", &employees.find_across("city", "Berlin").await?);

    // The employee, the old list and the new one change in one transaction; the lists of the cities follow.
    let changes = |ana: &mut Employee| {
        ana.last_name = "Kwok".into();
        ana.city = "Berlin".into();
    };
    employees.update(Employee::key("Sales", 7), changes).await?;
    show("Jones in Sales", &in_sales(&employees, "Jones").await?);
    show("Kwok in Sales", &in_sales(&employees, "Kwok").await?);
    show("Berlin", &employees.find_across("city", "Berlin").await?);
    workers.shutdown().await;
    Ok(())
}

async fn in_sales(employees: &IndexEntities<Employee>, last_name: &str) -> Result<Vec<Versioned<Employee>>> {
    employees.find(&PartitionKey::new("Sales")?, "last_name", last_name).await
}

fn show(who: &str, found: &[Versioned<Employee>]) {
    let names: Vec<&str> = found.iter().map(|employee| employee.first_name.as_str()).collect();
    println!("{who}: {}", names.join(", "));
}
