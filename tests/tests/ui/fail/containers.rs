use table_core::{Entity, EntitySet, Flatten, Projection, Property};

#[derive(Entity)]
#[entity(partition = "p", row = "r")]
struct Tuple(u32);

#[derive(Entity)]
#[entity(partition = "p", row = "r")]
enum Choice {
    One,
}

#[derive(Entity)]
struct Keyless {
    id: u32,
}

#[derive(Entity)]
#[entity(partition = "p", row = "{id}")]
struct Borrowed<'a> {
    id: u32,
    name: &'a str,
}

#[derive(EntitySet)]
enum BorrowedSet<'a> {
    One(Borrowed<'a>),
}

#[derive(Property)]
struct BorrowedText<'a>(&'a str);

#[derive(Flatten)]
enum FlatChoice {
    One,
}

#[derive(Projection)]
#[projection(of = Keyless)]
struct Unnamed(u32);

fn main() {}
