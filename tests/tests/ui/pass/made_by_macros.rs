//! Entities that `macro_rules` writes: types and texts come in invisible groups.
#![deny(warnings, missing_docs)]

use table_core::{Entity, Timestamp};

macro_rules! entity {
    ($name:ident { $($field:ident: $type:ty),* } version $version:literal, $partition:literal, $row:literal) => {
        #[derive(Entity)]
        #[entity(version = $version, partition = $partition, row = $row, name = "Made")]
        struct $name { $($field: $type),* }
    };
}

entity!(Made { id: u32, name: String, nick: Option<String>, at: Timestamp } version 3, "{name}", "r_{id:06}_{at:desc}");

fn main() {
    let made = Made { id: 7, name: "Jo".into(), nick: None, at: Timestamp::MAX };
    assert_eq!(made.entity_key().unwrap().row.as_str(), "r_000007_0000000000000000000");
    assert_eq!(Made::SCHEMA.version, 3);
    let _ = (Made::key("Jo", 7, made.at), Made::NICK.eq("J"), made.name, made.nick);
}
