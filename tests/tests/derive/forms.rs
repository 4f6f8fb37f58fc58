//! Structs of unusual form: generic, with raw identifiers, with names that clash.

use table_core::keys::KeyPart;
use table_core::{Entity, FromRow, Property, Query};

use crate::{names, range, stored};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{sensor}", row = "{at}")]
#[index(value, row = "v_{value}_{at}", include(unit), derive(PartialEq))]
struct Reading<T: Property + KeyPart + Clone + Send + Sync + 'static = i32> {
    sensor: String,
    at: u64,
    value: T,
    unit: Option<String>,
    comment: Option<String>,
}

#[test]
fn a_generic_entity_works_for_every_parameter() {
    let reading =
        Reading { sensor: "s".into(), at: 1, value: 2.5_f64, unit: Some("C".into()), comment: Some("hot".into()) };
    let row = stored(reading.to_row().unwrap());
    assert_eq!(*Reading::<f64>::from_row(row).unwrap(), reading);
    let copy = stored(reading.index_row(0).unwrap().unwrap());
    assert!(ReadingByValue::<f64>::recognizes(&copy));
    assert!(!ReadingByValue::<String>::recognizes(&stored(reading.to_row().unwrap())));
    let copy = ReadingByValue::<f64>::from_row(copy).unwrap();
    assert_eq!(copy.value.to_bits(), 2.5_f64.to_bits());
    assert_eq!(copy.source_key().resolve().unwrap(), reading.entity_key().unwrap());
    assert_eq!(Reading::<i32>::key("s", 1).resolve().unwrap(), reading.entity_key().unwrap());
    assert!(range(Reading::<i32>::range("s").at_range(1..3)).row.contains("00000000000000000002"));
    assert!(range(Reading::<String>::by_value("s", &"x".to_owned())).row.contains("v_x_00000000000000000001"));
    let patch = Reading::<i32>::patch(Reading::<i32>::key("s", 1)).comment("cold");
    let operation = table_core::Patch::from(patch).into_operation().unwrap();
    assert_eq!(names(operation.action().entity().unwrap()), ["Comment"]);
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{type}", row = "{query}_{match}", names(key = "at", range = "rows", patch = "change"))]
struct Search {
    r#type: String,
    query: String,
    r#match: u8,
    name: String,
    version: u32,
    key: String,
}

impl Search {
    fn key(&self) -> &str {
        &self.key
    }

    fn range() -> &'static str {
        "mine"
    }

    fn patch() -> &'static str {
        "mine"
    }
}

#[test]
fn raw_identifiers_and_common_names_do_not_clash() {
    let search = Search {
        r#type: "web".into(),
        query: "rust".into(),
        r#match: 3,
        name: "n".into(),
        version: 9,
        key: "k".into(),
    };
    let row = stored(search.to_row().unwrap());
    assert_eq!(row.key.to_string(), "(web, rust_003)");
    assert_eq!(names(&row), ["EntityType", "Key", "Name", "Version"]);
    assert_eq!(*Search::from_row(row).unwrap(), search);
    assert_eq!((search.key(), Search::range(), Search::patch()), ("k", "mine", "mine"));
    assert_eq!(Search::at("web", "rust", 3).resolve().unwrap(), search.entity_key().unwrap());
    assert_eq!(Search::TYPE.field(), "type");
    assert_eq!(Search::NAME.name().as_str(), "Name");

    let matches = range(Search::rows("web").query("rust").match_range(1..=3));
    assert!(matches.row.contains("rust_003") && !matches.row.contains("rust_004"));
    let all = range(Query::from(Search::rows("web").query("rust")));
    assert!(all.row.contains("rust_255"));
    let patch = Search::change(Search::at("web", "rust", 3)).name("m").version(10);
    assert!(table_core::Patch::from(patch).into_operation().is_ok());
}

#[derive(Entity, Debug, PartialEq)]
#[entity(partition = "{schema}_{index}", row = "r_{partition}-{row}-{key}")]
#[index(prefix, row = "p_{prefix}_{partition}_{row}_{key}", include())]
struct Locals {
    schema: String,
    index: u8,
    partition: String,
    row: u8,
    key: String,
    prefix: String,
    #[entity(default = "properties")]
    properties: i32,
    #[entity(default = "key")]
    value: i32,
}

fn properties() -> i32 {
    5
}

fn key() -> i32 {
    6
}

#[test]
fn fields_and_defaults_may_be_named_as_anything() {
    let locals = Locals {
        schema: "s".into(),
        index: 1,
        partition: "p".into(),
        row: 2,
        key: "k".into(),
        prefix: "x".into(),
        properties: 5,
        value: 6,
    };
    let mut row = stored(locals.to_row().unwrap());
    row.properties.remove("Properties");
    row.properties.remove("Value");
    assert_eq!(*Locals::from_row(row).unwrap(), locals);
    assert_eq!(Locals::key("s", 1, "p", 2, "k").resolve().unwrap(), locals.entity_key().unwrap());
    assert!(range(Locals::by_prefix("s", 1, "x")).row.contains("p_x_p_002_k"));
    assert!(range(Locals::range("s", 1).partition("p").row(2).key_prefix("k")).row.contains("r_p-002-k"));
}

mod reexport {
    pub(crate) use ::table_core as storage;
}

mod elsewhere {
    // Nothing here is named as the macros name it.
    #[derive(super::reexport::storage::Entity)]
    #[entity(crate = "super::reexport::storage", partition = "p", row = "{id}")]
    pub(crate) struct Renamed {
        pub(crate) id: u32,
        #[entity(flatten)]
        pub(crate) part: Part,
        pub(crate) kind: Kind,
    }

    #[derive(super::reexport::storage::Flatten)]
    #[entity(crate = "super::reexport::storage")]
    pub(crate) struct Part {
        pub(crate) size: u8,
    }

    #[derive(super::reexport::storage::Property, Clone)]
    #[property(crate = "super::reexport::storage")]
    pub(crate) enum Kind {
        Small,
    }

    #[derive(super::reexport::storage::Projection)]
    #[projection(of = Renamed, crate = "super::reexport::storage")]
    pub(crate) struct Id {
        pub(crate) id: u32,
    }

    #[derive(super::reexport::storage::EntitySet)]
    #[entity(crate = "super::reexport::storage")]
    pub(crate) enum Set {
        Renamed(Renamed),
    }
}

#[test]
fn the_crate_can_have_another_name() {
    use elsewhere::{Id, Kind, Part, Renamed, Set};
    let row = stored(Renamed { id: 5, part: Part { size: 1 }, kind: Kind::Small }.to_row().unwrap());
    assert_eq!(names(&row), ["EntityType", "Kind", "Size"]);
    assert_eq!(Id::from_row(row.clone()).unwrap().id, 5);
    let Set::Renamed(renamed) = Set::from_row(row).unwrap().into_value();
    assert_eq!(renamed.part.size, 1);
    assert!(matches!(renamed.kind, Kind::Small));
}

#[derive(Entity)]
#[entity(partition = "{item}", row = "price_{id}", names(range = "rows", patch = "change"))]
struct Price {
    item: String,
    id: u32,
    cents: i64,
}

/// Named as the range builder of `Price` would be.
#[derive(Entity)]
#[entity(partition = "{item}", row = "range", names(patch = "set"))]
struct PriceRange {
    item: String,
    lowest: i64,
}

#[test]
fn types_are_named_after_the_functions_that_give_them() {
    let rows: PriceRows<1> = Price::rows("tea").id(7);
    assert!(range(rows.query()).row.contains("price_0000000007"));
    let _: PriceChange = Price::change(Price::key("tea", 7)).cents(250);
    let _: PriceRangeSet = PriceRange::set(PriceRange::key("tea")).lowest(200);
}
