use table_core::Entity;

#[derive(Entity)]
#[entity(partition = "{bucket(id)}", row = "{bucket(id, 16)}")]
struct Malformed {
    id: u32,
}

#[derive(Entity)]
#[entity(partition = "{bucket(id, 1):02}", row = "{id}")]
struct TooFew {
    id: u32,
}

#[derive(Entity)]
#[entity(partition = "{bucket(id, 100):01}", row = "{id}")]
struct TooNarrow {
    id: u32,
}

#[derive(Entity)]
#[entity(partition = "{bucket(weight, 16):02}", row = "{id}")]
struct Float {
    id: u32,
    weight: f64,
}

#[derive(Entity)]
#[entity(partition = "{bucket(idd, 16):02}", row = "{id}")]
struct Unknown {
    id: u32,
}

fn main() {}
