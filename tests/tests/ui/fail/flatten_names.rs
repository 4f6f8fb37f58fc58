use table_core::{Entity, Flatten};

#[derive(Flatten)]
struct Part {
    name: String,
}

#[derive(Flatten)]
struct Kind {
    r#type: String,
}

#[derive(Entity)]
#[entity(partition = "p", row = "{id}")]
struct Twice {
    id: u32,
    name: String,
    #[entity(flatten)]
    part: Part,
}

#[derive(Entity)]
#[entity(partition = "p", row = "{id}")]
struct Reserved {
    id: u32,
    #[entity(flatten(prefix = "Entity"))]
    kind: Kind,
}

fn main() {}
