//! Field attributes: rename, default, skip, flatten, json.

use std::collections::BTreeMap;

use table_core::{Entity, ErrorKind, Flatten, FromRow, Value};

use crate::{names, stored};

#[derive(Flatten, Clone, Debug, PartialEq, Default)]
struct Street {
    name: String,
    number: Option<u16>,
}

#[derive(Flatten, Clone, Debug, PartialEq, Default)]
struct Address {
    city: String,
    #[entity(rename = "Zip")]
    postal_code: String,
    #[entity(flatten(prefix = "Street"))]
    street: Street,
    #[entity(json)]
    notes: Vec<String>,
    #[entity(skip)]
    visits: u32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "customers", row = "{id}", rename_all = "camelCase")]
struct Customer {
    id: u32,
    #[entity(rename = "FullName")]
    name: String,
    #[entity(default)]
    visit_count: i32,
    #[entity(default = "unknown")]
    status: String,
    #[entity(skip)]
    cached: Option<String>,
    #[entity(flatten)]
    home: Address,
    #[entity(flatten(prefix = "Work"))]
    work: Option<Address>,
    #[entity(json)]
    tags: BTreeMap<String, u8>,
    #[entity(json)]
    extra: Option<Vec<u8>>,
    #[entity(json, default)]
    history: Vec<i64>,
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn customer() -> Customer {
    Customer {
        id: 7,
        name: "Ann".into(),
        visit_count: 3,
        status: "gold".into(),
        cached: None,
        home: Address {
            city: "Bern".into(),
            postal_code: "3011".into(),
            street: Street { name: "Gasse".into(), number: Some(4) },
            notes: vec!["bell".into()],
            visits: 0,
        },
        work: None,
        tags: BTreeMap::from([("vip".to_owned(), 1)]),
        extra: None,
        history: vec![1, 2],
    }
}

#[test]
fn every_field_comes_back() {
    let row = customer().to_row().unwrap();
    assert_eq!(
        names(&row),
        [
            "City",
            "EntityType",
            "FullName",
            "Notes",
            "StreetName",
            "StreetNumber",
            "Zip",
            "history",
            "status",
            "tags",
            "visitCount"
        ]
    );
    assert_eq!(*Customer::from_row(stored(row)).unwrap(), customer());

    let both = Customer {
        work: Some(Address { city: "Basel".into(), ..Address::default() }),
        extra: Some(vec![1]),
        ..customer()
    };
    let row = both.to_row().unwrap();
    assert_eq!(row.get("WorkCity"), Some(&Value::from("Basel")));
    assert_eq!(row.get("WorkStreetName"), Some(&Value::from("")));
    assert_eq!(row.get("extra"), Some(&Value::from("[1]")));
    assert_eq!(*Customer::from_row(stored(row)).unwrap(), both);
}

#[test]
fn the_schema_names_flattened_properties() {
    assert_eq!(
        Customer::SCHEMA.properties,
        [
            "FullName",
            "visitCount",
            "status",
            "tags",
            "extra",
            "history",
            "City",
            "Zip",
            "Notes",
            "StreetName",
            "StreetNumber",
            "WorkCity",
            "WorkZip",
            "WorkNotes",
            "WorkStreetName",
            "WorkStreetNumber"
        ]
    );
    assert!(Customer::SCHEMA.partition.matches("customers"));
}

#[test]
fn what_a_row_lacks_is_its_default_or_an_error_that_names_it() {
    let mut row = stored(customer().to_row().unwrap());
    for name in ["visitCount", "status", "history"] {
        assert!(row.properties.remove(name).is_some());
    }
    row.set("Unrelated", 1).unwrap();
    let read = Customer::from_row(row.clone()).unwrap();
    assert_eq!((read.visit_count, read.status.as_str(), read.history.len()), (0, "unknown", 0));

    for name in ["FullName", "tags", "StreetName", "City"] {
        let mut row = row.clone();
        row.properties.remove(name);
        let error = Customer::from_row(row.clone()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupted);
        assert_eq!(error.property(), Some(name));
        assert_eq!(error.key(), Some(&row.key));
    }
}

#[test]
fn a_value_of_another_type_is_an_error_that_names_it_and_not_its_value() {
    let good = stored(customer().to_row().unwrap());
    for (name, value) in [
        ("visitCount", Value::from("secret")),
        ("tags", Value::from("{\"secret\": \"secret\"}")),
        ("tags", Value::Int32(5)),
        ("StreetNumber", Value::from("secret")),
    ] {
        let mut row = good.clone();
        row.set(name, value).unwrap();
        let error = Customer::from_row(row).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupted);
        assert_eq!(error.property(), Some(name));
        assert!(!format!("{error} {error:?}").contains("secret"));
    }
}

#[test]
fn a_patch_has_setters_for_plain_fields() {
    let patch = Customer::patch(Customer::key(7)).name("Bo").visit_count(4).extra(&vec![2]).history(&vec![]);
    let operation = table_core::Patch::from(patch).into_operation().unwrap();
    let row = operation.action().entity().unwrap();
    assert_eq!(names(row), ["FullName", "extra", "history", "visitCount"]);
}
