use std::collections::HashMap;
use table_core::{Entity, Flatten};

#[derive(Entity)]
#[entity(partition = "p", row = "{id}")]
struct Names {
    id: u32,
    entity_type: String,
    #[entity(rename = "RowKind")]
    kind: String,
    timestamp: i64,
    #[entity(rename = "a-b")]
    odd: i32,
    #[entity(rename = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")]
    long: i32,
    first_name: String,
    #[entity(column = "GIVEN")]
    firstName: String,
    #[entity(rename = "Other", column = "FIRST_NAME")]
    other: String,
}

#[derive(Entity)]
#[entity(partition = "p", row = "{id}")]
struct Types {
    id: u32,
    size: usize,
    wide: Option<u128>,
    letter: char,
    list: Vec<String>,
    map: HashMap<String, String>,
    pair: (i32, i32),
    text: &'static str,
    twice: Option<Option<i32>>,
    function: fn() -> i32,
    #[entity(flatten)]
    flat: String,
    #[entity(flatten(prefix = "1"))]
    prefix: Part,
    #[entity(json, skip)]
    both: Vec<String>,
    #[entity(skip, default)]
    quiet: i32,
}

#[derive(Flatten)]
struct Part {
    a: i32,
}

#[derive(Flatten)]
struct Generic<T: Flatten> {
    #[entity(flatten)]
    part: T,
}

fn main() {}
