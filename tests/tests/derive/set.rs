//! Several types in one table, told apart by an enum.

use table_core::{DynamicEntity, Entity, EntityKey, EntitySet, ErrorKind, FromRow, Value};

use crate::stored;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(email, row = "email_{email}", include())]
struct Employee {
    department: String,
    id: u32,
    email: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{name}", row = "department", discriminator = "row_key")]
struct Department {
    name: String,
    head_count: i32,
}

#[derive(EntitySet, Debug, PartialEq)]
enum Staff {
    Employee(Box<Employee>),
    Department(Department),
    #[entity(other)]
    Other(DynamicEntity),
}

#[derive(EntitySet, Debug, PartialEq)]
enum Closed {
    Employee(Employee),
    Department(Department),
}

fn employee() -> Employee {
    Employee { department: "Sales".into(), id: 1, email: "a@b.c".into() }
}

fn department() -> Department {
    Department { name: "Sales".into(), head_count: 4 }
}

fn unknown() -> DynamicEntity {
    let row = DynamicEntity::new(EntityKey::parse("Sales", "empid_000001").unwrap());
    stored(row.with("EntityType", "Robot").unwrap())
}

#[test]
fn a_row_is_told_by_its_type_or_by_its_key() {
    let row = stored(employee().to_row().unwrap());
    assert_eq!(*Staff::from_row(row.clone()).unwrap(), Staff::from(employee()));
    let mut bare = row;
    bare.properties.remove("EntityType");
    assert_eq!(*Closed::from_row(bare).unwrap(), Closed::Employee(employee()));

    let row = stored(department().to_row().unwrap());
    assert_eq!(row.get("EntityType"), None);
    assert_eq!(*Staff::from_row(row).unwrap(), Staff::Department(department()));
    let names: Vec<_> = Staff::MEMBERS.iter().map(|schema| schema.name).collect();
    assert_eq!(names, ["Employee", "Department"]);
}

#[test]
fn the_keys_of_the_copies_come_along() {
    let read = Staff::from_row(stored(employee().to_row().unwrap())).unwrap();
    assert_eq!(read.index_keys().len(), 1);
}

#[test]
fn an_unknown_type_goes_to_other_or_is_an_error_that_names_it() {
    assert!(Staff::recognizes(&unknown()) && Closed::recognizes(&unknown()));
    assert_eq!(*Staff::from_row(unknown()).unwrap(), Staff::Other(unknown()));
    let error = Closed::from_row(unknown()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupted);
    assert!(error.message().contains("Robot"), "{error}");

    let mut foreign = unknown();
    foreign.properties.remove("EntityType");
    foreign.key = EntityKey::parse("Sales", "zzz").unwrap();
    assert!(Closed::from_row(foreign.clone()).unwrap_err().message().contains("names no type"));
    foreign.set("EntityType", "Employee").unwrap();
    assert!(Closed::from_row(foreign).unwrap_err().message().contains("its key does not follow"));
}

#[test]
fn marked_rows_are_skipped() {
    let copy = stored(employee().index_row(0).unwrap().unwrap());
    assert_eq!(copy.get("RowKind"), Some(&Value::from("index:email")));
    assert!(!Staff::recognizes(&copy));
    assert!(!Closed::recognizes(&copy));
}
