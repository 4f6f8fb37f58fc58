use std::sync::Arc;

use bytes::Bytes;
use table_core::{Entity, MemoryStore, Table};

#[derive(Entity, Clone)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    age: i32,
    #[entity(blob)]
    photo: Option<Bytes>,
}

#[derive(Entity)]
#[entity(partition = "{department}", row = "note_{id:06}", blob_above = 1024)]
struct Note {
    department: String,
    id: u32,
    text: String,
    pages: i32,
}

async fn writes(employee: &Employee, note: &Note) {
    let table = Table::new(Arc::new(MemoryStore::new()), "Employees").unwrap();
    table.insert(employee).await.unwrap();
    table.transaction().insert_or_replace(note).commit().await.unwrap();
}

fn patches() {
    Employee::patch(Employee::key("Sales", 1)).age(41).photo(Bytes::new());
    Note::patch(Note::key("Sales", 1)).pages(2).text("new");
}

fn main() {}
