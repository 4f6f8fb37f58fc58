use bytes::Bytes;
use table_core::{Entity, Flatten};

#[derive(Entity)]
#[entity(partition = "{department}", row = "{notes}", blob_above = 65537)]
#[index(notes, row = "notes_{notes}")]
#[index(age, row = "age_{age}_{department}", include(photo))]
struct Misused {
    department: String,
    #[entity(blob)]
    notes: String,
    #[entity(blob)]
    age: i32,
    #[entity(blob)]
    photo: Option<Bytes>,
    #[entity(blob, skip)]
    cache: Vec<u8>,
    #[entity(blob, flatten)]
    address: Address,
    #[entity(blob = "photos")]
    valued: Bytes,
    #[entity(blop)]
    misspelt: Bytes,
}

#[derive(Flatten)]
struct Address {
    #[entity(blob)]
    map: Bytes,
}

fn main() {}
