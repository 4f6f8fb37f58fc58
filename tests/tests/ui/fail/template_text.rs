use table_core::Entity;

#[derive(Entity)]
#[entity(partition = "{first}{last}", row = "{first}.{last}")]
struct Ambiguous {
    first: String,
    last: String,
}

#[derive(Entity)]
#[entity(partition = "a/b#{first}", row = "{first}~{id}")]
struct Characters {
    first: String,
    id: u32,
}

#[derive(Entity)]
#[entity(partition = "~p", row = "~{id}")]
struct Reserved {
    id: u32,
}

fn main() {}
