//! Fields that are kept in blobs: what their rows, copies and readers know of them.

use bytes::Bytes;
use table_core::{BlobSchema, DynamicEntity, Entity, ErrorKind, FromRow, Projection, Value, reserved};

use crate::{names, stored};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(name, row = "name_{name}_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
    #[entity(blob)]
    photo: Option<Bytes>,
    #[entity(blob, json, rename = "Past")]
    history: Vec<String>,
}

#[derive(Projection, Debug)]
#[expect(dead_code, reason = "it is never read with success")]
#[projection(of = Employee)]
struct Badge {
    name: String,
    photo: Option<Bytes>,
}

fn employee() -> Employee {
    Employee {
        department: "Sales".into(),
        id: 7,
        name: "Jo".into(),
        photo: Some(Bytes::from_static(b"png")),
        history: vec!["joined".into()],
    }
}

/// A row whose photo is in a blob.
fn referring() -> DynamicEntity {
    let mut row = stored(employee().to_row().unwrap());
    row.set("Photo", "blob:somewhere").unwrap();
    row.properties.insert(reserved::ROW_BLOBS, Value::from("Photo"));
    row
}

#[test]
fn the_schema_names_the_properties_in_blobs() {
    assert_eq!(Employee::SCHEMA.blobs, BlobSchema { properties: &["Photo", "Past"], above: None });
    assert_eq!(Employee::PHOTO.name().as_str(), "Photo");
}

#[test]
fn copies_leave_out_what_is_in_blobs() {
    let copy = employee().index_row(0).unwrap().unwrap();
    assert_eq!(names(&copy), ["EntityType", "RowKind"]);
}

#[test]
fn a_row_with_its_payloads_in_place_reads_as_it_was_written() {
    let row = stored(employee().to_row().unwrap());
    assert_eq!(*Employee::from_row(row).unwrap(), employee());
}

#[test]
fn whoever_meets_a_reference_is_told_so_and_reads_no_wrong_value() {
    for error in [Employee::from_row(referring()).unwrap_err(), Badge::from_row(referring()).unwrap_err()] {
        assert_eq!((error.kind(), error.property()), (ErrorKind::Corrupted, Some("Photo")));
        assert!(error.message().contains("read the entity through `Large`"), "{error}");
    }
}

#[test]
fn any_large_property_can_be_asked_into_a_blob() {
    #[derive(Entity)]
    #[entity(partition = "notes", row = "{id}", blob_above = 1024)]
    struct Note {
        id: u32,
        text: String,
    }

    assert_eq!(Note::SCHEMA.blobs, BlobSchema { properties: &[], above: Some(1024) });
    assert!(!Note::SCHEMA.blobs.is_none());
    assert_eq!(names(&Note { id: 1, text: "short".into() }.to_row().unwrap()), ["EntityType", "Text"]);
}
