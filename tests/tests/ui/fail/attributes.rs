use table_core::Entity;

#[derive(Entity)]
#[entity(patition = "{id}", partition = "p", rows = "{id}", row = "r", row = "{id}", name = 5, version = "2")]
#[entity(rename_all = "PascalCas", discriminator = "rowkey", names(keys = "at", key = "not one"), crate = "1x")]
struct Words {
    id: u32,
    #[entity(renam = "A", rename)]
    a: i32,
    #[entity(json = true, flatten(prefx = "B"))]
    b: i32,
}

#[derive(Entity)]
#[entity(name = "", version = 0, partition = "p", row = "{id}", discriminator = "row_key")]
struct Values {
    id: u32,
}

#[derive(Entity)]
#[entity(upgrade_from(Values), partition = "p", row = "{id}", names = "x")]
struct Upgrade {
    id: u32,
}

#[derive(Entity)]
#[entity]
struct Bare {
    id: u32,
}

fn main() {}
