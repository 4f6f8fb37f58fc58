//! Entities with copies in their partition.

mod contention;
mod faults;
mod load;
mod lookups;
mod refusals;
mod writes;

use table_core::{Entity, Table};
use table_patterns::Indexed;
use table_tests::pattern::rows;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(email, row = "email_{email}", include(first_name))]
#[index(last_name, row = "lname_{last_name}_{id:06}", include(first_name))]
struct Employee {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    email: Option<String>,
    age: i32,
}

fn employee(id: u32, last_name: &str) -> Employee {
    Employee {
        department: "Sales".into(),
        id,
        first_name: format!("E{id}"),
        last_name: last_name.into(),
        email: Some(format!("e{id}@contoso.com")),
        age: 40,
    }
}

fn indexed(table: &Table) -> Indexed<Employee> {
    Indexed::new(table.clone()).unwrap()
}

/// Checks that the table holds exactly these entities and their copies.
async fn assert_holds(table: &Table, entities: &[Employee]) {
    let mut expected = Vec::new();
    for entity in entities {
        expected.push(entity.to_row().unwrap());
        expected.extend((0..2).filter_map(|index| entity.index_row(index).unwrap()));
    }
    let mut expected: Vec<_> = expected.into_iter().map(|row| (row.key, row.properties)).collect();
    expected.sort_by(|(a, _), (b, _)| a.cmp(b));
    assert_eq!(rows(table).await, expected);
}
