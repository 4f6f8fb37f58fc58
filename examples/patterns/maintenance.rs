//! Maintenance: an index for rows that were there before it, and a check of all copies.
//!
//! `cargo run --example maintenance`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use table_core::{Entity, IfMatch, MemoryStore, Operation, Result, Table};
use table_patterns::Indexed;
use table_patterns::maintenance::{Maintained, MaintenanceOptions};

/// Last year's program: no index.
#[derive(Entity)]
#[entity(name = "Employee", partition = "{department}", row = "empid_{id:06}")]
struct Before {
    department: String,
    id: u32,
    email: String,
}

/// This year's: found by address.
#[derive(Entity, Clone)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(email, row = "email_{email}", include())]
struct Employee {
    department: String,
    id: u32,
    email: String,
}

#[tokio::main]
async fn main() -> Result<()> {
    let table = Table::new(Arc::new(MemoryStore::new()), "Employees")?;
    table.create().await?;
    for id in 1..=250 {
        table.insert(&Before { department: "Sales".into(), id, email: format!("e{id}@contoso.com") }).await?;
    }

    // It runs beside the program's own writes, no faster than told, and goes on from a cursor after a crash.
    let employees = Indexed::<Employee>::new(table.clone())?;
    let gently = || MaintenanceOptions::default().with_rows_per_second(10_000);
    println!("build:  {}", employees.build(gently()).await?);
    let found = employees.full(Employee::by_email("Sales", "e223@contoso.com")).await?;
    println!("e223@contoso.com is employee {}", found.map_or(0, |employee| employee.id));

    // Somebody deletes a row by hand, and leaves its copy.
    let key = Employee::key("Sales", 7).resolve()?;
    table.store().write(table.name(), Operation::new(table_core::Action::Delete(key, IfMatch::Any))?).await?;
    let report = employees.verify(gently()).await?;
    println!("verify: {report}");
    for finding in &report.findings {
        println!("        {finding}");
    }
    println!("repair: {} mended", employees.repair(&report).await?.mended);
    println!("verify: clean is {}", employees.verify(gently()).await?.is_clean());
    Ok(())
}
