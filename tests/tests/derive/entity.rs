//! The struct of the design: rows, keys, lookups, ranges and patches.

use bytes::Bytes;
use table_core::{Action, Entity, EntityKey, ErrorKind, FromRow, IfMatch, Patch, Query, Value, Versioned};

use crate::{names, range, stored};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(name = "Employee", version = 2, partition = "{department}", row = "empid_{id:06}")]
#[index(email, row = "email_{email}", include(first_name, last_name))]
#[index(last_name, row = "lname_{last_name}_{id:06}", include(first_name), derive(PartialEq))]
#[index(directory, table = "EmployeesByEmail", partition = "{email}", row = "", include(first_name, last_name))]
struct Employee {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    age: i32,
    email: String,
    #[entity(json)]
    skills: Vec<String>,
    photo: Option<Bytes>,
}

fn jones() -> Employee {
    Employee {
        department: "Sales".into(),
        id: 223,
        first_name: "Jo".into(),
        last_name: "Jones".into(),
        age: 41,
        email: "jonesj@contoso.com".into(),
        skills: vec!["rust".into(), "chess".into()],
        photo: None,
    }
}

#[test]
fn the_row_holds_what_the_key_does_not() {
    let row = jones().to_row().unwrap();
    assert_eq!(row.key, EntityKey::parse("Sales", "empid_000223").unwrap());
    assert_eq!(names(&row), ["Age", "Email", "EntityType", "EntityVersion", "FirstName", "LastName", "Skills"]);
    assert_eq!(row.get("EntityType"), Some(&Value::from("Employee")));
    assert_eq!(row.get("EntityVersion"), Some(&Value::Int32(2)));
    assert_eq!(row.get("Skills"), Some(&Value::from(r#"["rust","chess"]"#)));
    assert_eq!(Employee::SCHEMA.properties, ["FirstName", "LastName", "Age", "Email", "Skills", "Photo"]);
}

#[test]
fn a_row_comes_back_with_the_keys_of_its_copies() {
    let row = stored(jones().to_row().unwrap());
    assert!(Employee::recognizes(&row));
    assert_eq!(Employee::row_prefix(), "empid_");
    let read = Employee::from_row(row).unwrap();
    assert_eq!(*read, jones());
    let keys: Vec<_> = read.index_keys().iter().map(|each| (each.index, each.table, each.key.to_string())).collect();
    assert_eq!(
        keys,
        [
            ("email", None, "(Sales, email_jonesj@contoso.com)".to_owned()),
            ("last_name", None, "(Sales, lname_Jones_000223)".to_owned()),
            ("directory", Some("EmployeesByEmail"), "(jonesj@contoso.com, )".to_owned()),
        ]
    );
}

#[test]
fn the_keys_of_the_copies_are_those_that_were_read_whatever_is_edited() {
    let read = || Employee::from_row(stored(jones().to_row().unwrap())).unwrap();
    let mut edited = read();
    edited.email = "jo@contoso.com".into();
    assert_eq!(edited.index_keys(), read().index_keys());
    assert_eq!(edited.clone().upgrade(|employee| employee.email).index_keys(), read().index_keys());
    assert_ne!(edited, Versioned::from_parts(edited.value().clone(), edited.etag().clone()).unwrap());
}

#[test]
fn a_copy_holds_its_fields_and_leads_back_to_its_source() {
    let row = stored(jones().index_row(0).unwrap().unwrap());
    assert_eq!(names(&row), ["EntityType", "EntityVersion", "FirstName", "Id", "LastName", "RowKind"]);
    assert!(EmployeeByEmail::recognizes(&row));
    assert!(!Employee::recognizes(&row));
    assert!(!EmployeeByLastName::recognizes(&row));
    let copy = EmployeeByEmail::from_row(row).unwrap().into_value();
    assert_eq!(copy.email, "jonesj@contoso.com");
    assert_eq!((copy.first_name.as_str(), copy.last_name.as_str()), ("Jo", "Jones"));
    assert_eq!(copy.source_key().resolve().unwrap(), jones().entity_key().unwrap());

    let row = stored(jones().index_row(1).unwrap().unwrap());
    assert_eq!(names(&row), ["EntityType", "EntityVersion", "FirstName", "RowKind"]);
    let copy = EmployeeByLastName::from_row(row).unwrap().into_value();
    assert_eq!(
        copy,
        EmployeeByLastName { department: "Sales".into(), id: 223, first_name: "Jo".into(), last_name: "Jones".into() }
    );
    assert_eq!(EmployeeByLastName::row_prefix(), "lname_");

    let row = stored(jones().index_row(2).unwrap().unwrap());
    assert_eq!(names(&row), ["Department", "EntityType", "EntityVersion", "FirstName", "Id", "LastName", "RowKind"]);
    let copy = EmployeeByDirectory::from_row(row).unwrap();
    assert_eq!(copy.source_key().resolve().unwrap(), jones().entity_key().unwrap());
    assert_eq!(jones().index_row(3).unwrap(), None);
}

#[test]
fn an_index_is_unique_when_its_key_lacks_a_part_of_the_primary_key() {
    let unique: Vec<_> = Employee::SCHEMA.indexes.iter().map(|index| (index.name, index.unique)).collect();
    assert_eq!(unique, [("email", true), ("last_name", false), ("directory", true)]);
    assert!(Employee::SCHEMA.indexes[0].is_local());
    assert!(!Employee::SCHEMA.indexes[2].is_local());
}

#[test]
fn keys_and_lookups() {
    assert_eq!(Employee::key("Sales", 223).resolve().unwrap(), jones().entity_key().unwrap());
    assert_eq!(Employee::key("Sales", 1_000_000).resolve().unwrap_err().kind(), ErrorKind::InvalidKey);

    let by_email = Employee::by_email("Sales", "jonesj@contoso.com");
    assert_eq!(by_email.resolve().unwrap(), jones().index_key(0).unwrap().unwrap());
    assert_eq!(by_email.table(), None);

    let directory = Employee::by_directory("jonesj@contoso.com");
    assert_eq!(directory.resolve().unwrap(), EntityKey::parse("jonesj@contoso.com", "").unwrap());
    assert_eq!(directory.table(), Some("EmployeesByEmail"));

    let by_name = range(Employee::by_last_name("Sales", "Jones"));
    assert!(by_name.row.contains("lname_Jones_000223"));
    assert!(!by_name.row.contains("lname_Jonesy_000223"));
}

#[test]
fn ranges_by_leading_parts() {
    let all = range(Employee::range("Sales").query());
    assert_eq!(all.partition.as_exact(), Some("Sales"));
    assert!(all.row.contains("empid_000000") && !all.row.contains("email_a"));

    let some = range(Employee::range("Sales").id_range(100..200));
    assert!(some.row.contains("empid_000100") && some.row.contains("empid_000199"));
    assert!(!some.row.contains("empid_000200") && !some.row.contains("empid_000099"));

    let one = range(Query::from(Employee::range("Sales").id(223)));
    assert_eq!(one.as_entity(), Some(("Sales", "empid_000223")));

    let emails = range(Employee::range_by_email("Sales").email_prefix("jones"));
    assert!(emails.row.contains("email_jonesj@contoso.com") && !emails.row.contains("email_jona"));
    let emails = range(Employee::range_by_email("Sales").email_range("a".."c"));
    assert!(emails.row.contains("email_bob") && !emails.row.contains("email_c"));

    let names = range(Employee::range_by_last_name("Sales").last_name("Jones").id_range(..=223));
    assert!(names.row.contains("lname_Jones_000223") && !names.row.contains("lname_Jones_000224"));
}

#[test]
fn a_patch_names_only_what_it_changes() {
    let patch: Patch<Employee> =
        Employee::patch(Employee::key("Sales", 223)).age(42).photo(Bytes::from_static(b"x")).into();
    let operation = patch.into_operation().unwrap();
    let Action::Merge(row, if_match) = operation.action() else { panic!("a patch is a merge") };
    assert_eq!(names(row), ["Age", "Photo"]);
    assert_eq!(*if_match, IfMatch::Any);

    let read: Versioned<Employee> = Employee::from_row(stored(jones().to_row().unwrap())).unwrap();
    let patch: Patch<Employee> = Employee::patch(&read).skills(&vec!["go".to_owned()]).into();
    let operation = patch.into_operation().unwrap();
    let Action::Merge(row, if_match) = operation.action() else { panic!("a patch is a merge") };
    assert_eq!(row.get("Skills"), Some(&Value::from(r#"["go"]"#)));
    assert_eq!(*if_match, IfMatch::Version(read.etag().clone()));
}
