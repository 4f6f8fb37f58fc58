use bytes::Bytes;
use table_core::{Entity, Flatten, Timestamp};

#[derive(Flatten)]
struct Nested {
    a: i32,
}

#[derive(Entity)]
#[entity(partition = "{json}_{nested}", row = "{skipped}_{bytes}")]
struct Impossible {
    #[entity(json)]
    json: Vec<u8>,
    #[entity(flatten)]
    nested: Nested,
    #[entity(skip)]
    skipped: u32,
    bytes: Bytes,
}

#[derive(Entity)]
#[entity(partition = "{text:06}-{text:desc}", row = "{id:desc}_{flag:%Y%m}")]
struct Specs {
    text: String,
    id: u32,
    flag: bool,
    at: Timestamp,
}

#[derive(Entity)]
#[entity(partition = "{maybe}", row = "{id}_{other}")]
#[index(maybe, row = "m_{maybe}")]
struct Optional {
    maybe: Option<String>,
    other: Option<u32>,
    id: u32,
}

#[derive(Entity)]
#[entity(partition = "{a}", row = "{b}_{b}")]
struct Twice {
    a: String,
    b: u32,
}

fn main() {}
