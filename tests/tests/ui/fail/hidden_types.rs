//! Types that the macro cannot see through are checked where the schema is evaluated.

use table_core::{Entity, Property};

#[derive(Property)]
struct Name(String);

#[derive(Property)]
struct Age(u8);

#[derive(Entity)]
#[entity(partition = "{name:06}", row = "r")]
struct Width {
    name: Name,
}

#[derive(Entity)]
#[entity(partition = "{name}{age}", row = "r")]
struct RunsInto {
    name: Name,
    age: Age,
}

#[derive(Entity)]
#[entity(partition = "{name}.{age}", row = "{age:desc}")]
struct Ending {
    name: Name,
    age: Age,
}

fn main() {}
