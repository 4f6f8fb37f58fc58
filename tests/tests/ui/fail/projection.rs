use table_core::{Entity, Projection};

#[derive(Entity)]
#[entity(partition = "p", row = "{id}")]
struct Employee {
    id: u32,
    first_name: String,
    age: Option<i32>,
}

#[derive(Projection)]
#[projection(of = Employee)]
struct Wrong {
    id: u64,
    frst_name: String,
    age: i64,
}

#[derive(Projection)]
struct Nothing {
    id: u32,
}

#[derive(Projection)]
#[projection(off = Employee, of = "Employee")]
struct Misspelt {
    #[projection(rename = "x")]
    id: u32,
}

fn main() {}
