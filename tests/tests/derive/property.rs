//! Enums as text, and newtypes as what they hold.

use bytes::Bytes;
use table_core::keys::{KeyPart, KeyValue, PartKind};
use table_core::{EdmType, Entity, ErrorKind, FromRow, Property, Value};

use crate::stored;

#[derive(Property, Clone, Copy, Debug, PartialEq)]
#[property(rename_all = "snake_case")]
enum Status {
    Active,
    OnLeave,
    #[property(rename = "gone/for good")]
    Gone,
}

#[derive(Property, Clone, Copy, Debug, PartialEq)]
struct Id(u32);

#[derive(Property, Clone, Debug, PartialEq)]
struct Photo {
    bytes: Bytes,
}

#[derive(Property, Clone, Debug, PartialEq)]
struct Nickname(Option<String>);

#[derive(Property, Clone, Debug, PartialEq)]
struct Tagged<T: Clone>(T);

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{status}", row = "{id:06}-{tag}")]
#[index(tag, partition = "tags", row = "tag_{tag}", include(status))]
struct Member {
    status: Status,
    id: Id,
    tag: Tagged<i16>,
    photo: Photo,
    nickname: Nickname,
    former: Option<Status>,
}

fn member() -> Member {
    Member {
        status: Status::Gone,
        id: Id(7),
        tag: Tagged(-1),
        photo: Photo { bytes: Bytes::from_static(b"x") },
        nickname: Nickname(None),
        former: Some(Status::OnLeave),
    }
}

#[test]
fn an_enum_is_stored_as_text() {
    assert_eq!(Status::EDM, EdmType::String);
    assert_eq!(Status::OnLeave.to_value().unwrap(), Some(Value::from("on_leave")));
    for status in [Status::Active, Status::OnLeave, Status::Gone] {
        assert_eq!(Status::from_value(status.to_value().unwrap().unwrap()).unwrap(), status);
        assert_eq!(Status::from_key(status.to_key().unwrap()).unwrap(), status);
    }
}

#[test]
fn an_unknown_text_is_an_error_that_does_not_repeat_it() {
    for error in [
        Status::from_value(Value::from("secret")).unwrap_err(),
        Status::from_key(KeyValue::Text("secret".into())).unwrap_err(),
        Status::from_value(Value::Int32(1)).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Corrupted);
        assert!(!error.to_string().contains("secret"));
    }
}

#[test]
fn a_newtype_is_what_it_holds() {
    assert_eq!(Id::KIND, PartKind::Unsigned { digits: 10 });
    assert_eq!(Id(7).to_value().unwrap(), Some(Value::Int64(7)));
    assert_eq!(Photo::EDM, EdmType::Binary);
    assert_eq!(Nickname(None).to_value().unwrap(), None);
    assert_eq!(Nickname::absent(), Some(Nickname(None)));
    assert_eq!(Id::absent(), None);
}

#[test]
fn both_stand_in_keys_and_in_rows() {
    let row = stored(member().to_row().unwrap());
    assert_eq!(row.key.to_string(), "(gone.~for good, 000007-n99998)");
    assert_eq!(row.get("Former"), Some(&Value::from("on_leave")));
    assert_eq!(*Member::from_row(row).unwrap(), member());
    assert_eq!(Member::key(&Status::Gone, &Id(7), &Tagged(-1)).resolve().unwrap(), member().entity_key().unwrap());
}
