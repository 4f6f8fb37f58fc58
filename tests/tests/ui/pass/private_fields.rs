//! A public entity with private fields of private types keeps them private in its copies too.
#![deny(warnings, missing_docs)]

/// What others may name.
pub mod events {
    use table_core::{Entity, Property};

    #[derive(Property, Debug, Clone)]
    enum Kind {
        Started,
    }

    #[derive(Property, Debug, Clone)]
    struct Note(String);

    /// What happened.
    #[derive(Entity, Debug, Clone)]
    #[entity(partition = "{region}", row = "kind_{kind}_{id}")]
    #[index(recent, row = "recent_{id}_{kind}", include(note))]
    pub struct Event {
        /// Where.
        pub region: String,
        id: u32,
        kind: Kind,
        note: Option<Note>,
    }

    /// The note of a copy, which only this module can see.
    pub fn note(copy: EventByRecent) -> Option<String> {
        copy.note.map(|note| note.0)
    }

    /// Something that happened.
    pub fn event() -> Event {
        Event { region: String::new(), id: 1, kind: Kind::Started, note: None }
    }
}

fn main() {
    let _ = (events::event().region, |copy: events::EventByRecent| (copy.region.clone(), events::note(copy)));
}
