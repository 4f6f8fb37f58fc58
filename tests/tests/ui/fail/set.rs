use table_core::{DynamicEntity, Entity, EntitySet};

#[derive(Entity)]
#[entity(partition = "p", row = "{id}")]
struct One {
    id: u32,
}

#[derive(EntitySet)]
#[entity(name = "x")]
enum Mistakes {
    Unit,
    Pair(One, One),
    Named { one: One },
    #[entity(others)]
    Odd(One),
    #[entity(other)]
    Other(DynamicEntity),
    #[entity(other)]
    Another(DynamicEntity),
}

#[derive(EntitySet)]
enum Empty {}

#[derive(EntitySet)]
struct NoEnum {
    one: One,
}

fn main() {}
