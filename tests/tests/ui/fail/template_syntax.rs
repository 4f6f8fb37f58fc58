use table_core::Entity;

#[derive(Entity)]
#[entity(partition = "{departmnt}", row = "empid_{id")]
struct Unknown {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(partition = "{zzz}", row = "a}b_{}_{:06}")]
struct Far {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(partition = "{id:6}", row = "{id:00}_{id:099}_{id:up}_{id:}")]
struct Widths {
    id: u32,
}

fn main() {
    // The fallback keeps the rest quiet.
    fn is_entity<E: Entity>() {}
    is_entity::<Unknown>();
    is_entity::<Far>();
    is_entity::<Widths>();
}
