use table_core::{Entity, Flatten, Table};

struct Plain;

#[derive(Entity)]
#[entity(partition = "p", row = "{id}")]
struct NoProperty {
    id: u32,
    plain: Plain,
}

#[derive(Entity)]
#[entity(partition = "p", row = "{plain}")]
struct NoKey {
    plain: Plain,
}

#[derive(Entity)]
#[entity(partition = "p", row = "{id}")]
struct NoFlatten {
    id: u32,
    #[entity(flatten)]
    plain: Plain,
}

#[derive(Flatten)]
struct NoJson {
    #[entity(json)]
    plain: Plain,
}

#[derive(Entity)]
#[entity(partition = "p", row = "r_{id}")]
#[index(email, row = "e_{email}", include())]
struct Indexed {
    id: u32,
    email: String,
    age: i32,
}

async fn write(table: &Table, indexed: &Indexed) {
    let _ = table.insert(indexed).await;
    let _ = Indexed::patch(Indexed::key(1)).age(2).email("x");
    let _ = Indexed::range().id(1).id(2);
}

fn main() {}
