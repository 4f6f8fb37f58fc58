use table_core::{Entity, EntitySet};

#[derive(Entity)]
#[entity(partition = "p", row = "{id}")]
struct One {
    id: u32,
}

#[derive(Entity)]
#[entity(name = "One", partition = "p", row = "{id}")]
struct Two {
    id: u32,
}

#[derive(EntitySet)]
enum Same {
    One(One),
    Two(Two),
}

fn main() {}
