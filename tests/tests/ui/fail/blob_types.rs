use table_core::{Entity, Property};

#[derive(Property)]
struct Age(i32);

#[derive(Entity)]
#[entity(partition = "{department}", row = "{id}")]
struct Hidden {
    department: String,
    id: u32,
    #[entity(blob)]
    age: Age,
}

fn main() {}
