//! Relationships: employees joined with their departments, and the badge that a link leads to.
//!
//! `cargo run --example relationships`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use table_core::layer::Meter;
use table_core::{Entity, MemoryStore, Result, Table};
use table_patterns::{Link, Lookup, LookupOptions};

#[derive(Entity)]
#[entity(partition = "departments", row = "department_{name}")]
struct Department {
    name: String,
    floor: i32,
}

/// The department is named by a field of the key, the badge by a link that is stored.
#[derive(Entity)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    badge: Option<Link<Badge>>,
}

#[derive(Entity)]
#[entity(partition = "{site}", row = "badge_{number:06}")]
struct Badge {
    site: String,
    number: u32,
}

#[tokio::main]
async fn main() -> Result<()> {
    let meter = Meter::new(MemoryStore::new());
    let table = Table::new(Arc::new(meter.clone()), "Staff")?;
    table.create().await?;
    for (name, floor) in [("Marketing", 2), ("Sales", 3)] {
        table.insert(&Department { name: name.into(), floor }).await?;
    }
    // The target comes before the link to it, so that no crash leaves a link that leads nowhere.
    table.insert(&Badge { site: "North".into(), number: 42 }).await?;
    for id in 1..=6 {
        let department = if id % 2 == 0 { "Sales" } else { "Marketing" }.to_owned();
        let badge = (id == 1).then(|| Link::to(&Badge::key("North", 42))).transpose()?;
        table.insert(&Employee { department, id, badge }).await?;
    }

    let mut employees = table.all(Employee::range("Marketing")).await?;
    employees.extend(table.all(Employee::range("Sales")).await?);
    let badges: Vec<&Link<Badge>> = employees.iter().filter_map(|employee| employee.badge.as_ref()).collect();
    for badge in table.get_many(badges, 8).await?.into_iter().flatten() {
        println!("a link leads to badge {} of site {}", badge.number, badge.site);
    }

    let departments = Lookup::<Department>::new(table, LookupOptions::default());
    let before = meter.report();
    for joined in departments.join(employees, |employee| Some(Department::key(&employee.department))).await? {
        let floor = joined.related.map_or(0, |department| department.floor);
        println!("employee {} of {} sits on floor {floor}", joined.entity.id, joined.entity.department);
    }
    println!("six employees, {} reads of departments", (meter.report() - before).total().transactions);
    Ok(())
}
