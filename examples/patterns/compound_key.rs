//! Compound key: an employee and its reviews under one key prefix, read by one query.
//!
//! `cargo run --example compound_key`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use table_core::{Entity, ErrorKind, MemoryStore, Result, Table};
use table_patterns::Compound;

#[derive(Entity)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
}

/// The row key begins with that of the employee.
#[derive(Entity)]
#[entity(partition = "{department}", row = "empid_{id:06}_{year:04}")]
struct Review {
    department: String,
    id: u32,
    year: u16,
    rating: i32,
}

fn review(id: u32, year: u16, rating: i32) -> Review {
    Review { department: "Sales".into(), id, year, rating }
}

#[tokio::main]
async fn main() -> Result<()> {
    let table = Table::new(Arc::new(MemoryStore::new()), "Employees")?;
    table.create().await?;
    let employees = Compound::<Employee, Review>::new(table.clone())?;

    let jo = Employee { department: "Sales".into(), id: 123, name: "Jo".into() };
    employees.insert(&jo, &[review(123, 2011, 3), review(123, 2012, 4)]).await?;
    employees.add(&review(123, 2013, 5)).await?;

    // One range query reads the employee and every review.
    if let Some(family) = employees.get(Employee::key("Sales", 123)).await? {
        println!("{} has {} reviews:", family.head.name, family.parts.len());
        for review in &family.parts {
            println!("  {}: {}", review.year, review.rating);
        }
    }

    // Some years of it are a range, too.
    let recent = Review::range("Sales").id(123).year_range(2012..);
    println!("{}", recent.clone().explain()?);
    println!("since 2012: {}", table.all(recent).await?.len());

    // A review is never without its employee.
    let refused = employees.add(&review(7, 2013, 5)).await.err().map(|error| error.kind());
    println!("a review of nobody is refused: {}", refused == Some(ErrorKind::NotFound));
    Ok(())
}
