//! The lines of `docs/from-the-guide-to-code.md`, each run.

mod basics;
mod page;
mod patterns;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use table_core::{DynamicEntity, Entity, EntitySet, MemoryStore, Projection, Result, Table, Timestamp};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
    age: i32,
    #[entity(json)]
    skills: Vec<Skill>,
    /// Encrypted.
    salary: Vec<u8>,
}

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
struct Skill {
    name: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{name}", row = "department")]
struct Department {
    name: String,
    employee_count: u32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{employee:06}", row = "{at:desc}_{number:04}")]
struct Claim {
    employee: u32,
    at: Timestamp,
    number: u32,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Staff {
    Employee(Employee),
    Department(Department),
    #[entity(other)]
    Other(DynamicEntity),
}

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Employee)]
struct Badge {
    id: u32,
    name: String,
}

fn employee(department: &str, id: u32, age: i32) -> Employee {
    let skills = vec![Skill { name: "Rust".into() }];
    Employee { department: department.into(), id, name: format!("e{id}"), age, skills, salary: vec![0x5a; 16] }
}

/// A table with ten employees in each of two departments.
async fn staffed() -> Result<Table> {
    let table = Table::new(Arc::new(MemoryStore::new()), "Staff")?;
    table.create().await?;
    for department in ["Sales", "Marketing"] {
        table.insert(&Department { name: department.into(), employee_count: 10 }).await?;
        for id in 0..10 {
            table.insert(&employee(department, 220 + id, 30 + id.cast_signed() * 2)).await?;
        }
    }
    Ok(table)
}
