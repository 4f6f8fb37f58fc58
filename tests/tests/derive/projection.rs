//! Smaller structs that are read from an entity's rows.

use table_core::store::Selection;
use table_core::{Entity, ErrorKind, FromRow, Projection, PropertyName};

use crate::stored;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    #[entity(rename = "GivenName")]
    first_name: String,
    age: Option<i32>,
    #[entity(column = "KIND")]
    r#type: String,
    #[entity(json)]
    skills: Vec<String>,
}

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Employee)]
struct Card {
    id: u32,
    first_name: String,
    age: Option<i32>,
    skills: Vec<String>,
    #[projection(column = "KIND", default)]
    r#type: String,
}

fn employee() -> Employee {
    Employee {
        department: "Sales".into(),
        id: 223,
        first_name: "Jo".into(),
        age: None,
        r#type: "full".into(),
        skills: vec!["rust".into()],
    }
}

#[test]
fn fields_come_from_the_key_and_from_selected_properties() {
    let Selection::Only(names) = Card::selection() else { panic!("a projection selects") };
    let names: Vec<_> = names.iter().map(PropertyName::as_str).collect();
    assert_eq!(names, ["GivenName", "Age", "Skills", "Type", "EntityType", "EntityVersion", "RowKind"]);
    assert_eq!(Card::row_prefix(), "empid_");

    let row = stored(employee().to_row().unwrap());
    assert!(Card::recognizes(&row));
    let read = Card::from_row(row.clone()).unwrap();
    let expected =
        Card { id: 223, first_name: "Jo".into(), age: None, skills: vec!["rust".into()], r#type: "full".into() };
    assert_eq!(*read, expected);
    assert_eq!(read.key(), &row.key);
}

#[test]
fn what_a_row_lacks_is_its_default_or_an_error_that_names_it() {
    let mut row = stored(employee().to_row().unwrap());
    row.properties.remove("Type");
    assert_eq!(Card::from_row(row.clone()).unwrap().r#type, "");
    row.properties.remove("GivenName");
    let error = Card::from_row(row).unwrap_err();
    assert_eq!((error.kind(), error.property()), (ErrorKind::Corrupted, Some("first_name")));
}
