use table_core::{Entity, Timestamp};

#[derive(Entity)]
#[entity(partition = "{at:%d%m%Y}", row = "{at:%Y%d}")]
struct Order {
    at: Timestamp,
}

#[derive(Entity)]
#[entity(partition = "{at:%Y/%m}", row = "{at:%y}")]
struct Characters {
    at: Timestamp,
}

fn main() {}
