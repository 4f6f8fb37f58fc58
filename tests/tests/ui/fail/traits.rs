use table_core::{Entity, Unindexed};

struct Plain;

#[derive(Entity)]
#[entity(partition = "p", row = "{id}")]
struct NoFlatten {
    id: u32,
    #[entity(flatten)]
    plain: Plain,
}

#[derive(Entity)]
#[entity(partition = "{department}", row = "r_{id}")]
#[index(email, row = "e_{email}_{id}", include())]
struct Indexed {
    department: String,
    id: u32,
    email: String,
    age: i32,
}

fn write_alone<E: Unindexed>() {}

fn main() {
    write_alone::<Indexed>();
    let _ = Indexed::patch(Indexed::key("d", 1)).age(2).email("x");
    let _ = Indexed::range("d").id(1).id(2);
    let _ = Indexed::range_by_email("d").email_range("a".."b");
}
