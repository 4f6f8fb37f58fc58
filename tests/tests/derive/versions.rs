//! Versions: old rows are read through the old struct, newer ones are refused.

use table_core::{Entity, ErrorKind, FromRow, Value};

use crate::stored;

#[derive(Entity, Debug, PartialEq)]
#[entity(name = "Person", partition = "people", row = "p_{id}")]
struct PersonV1 {
    id: u32,
    name: String,
}

#[derive(Entity, Debug, PartialEq)]
#[entity(name = "Person", version = 2, upgrade_from(PersonV1), partition = "people", row = "person_{id}")]
struct PersonV2 {
    id: u32,
    first: String,
    last: String,
}

#[derive(Entity, Debug, PartialEq)]
#[entity(name = "Person", version = 3, upgrade_from(PersonV2), partition = "people", row = "person_{id}")]
struct Person {
    id: u32,
    first: String,
    last: String,
    age: Option<u8>,
}

impl From<PersonV1> for PersonV2 {
    fn from(old: PersonV1) -> Self {
        let (first, last) = old.name.split_once(' ').unwrap_or((&old.name, ""));
        Self { id: old.id, first: first.to_owned(), last: last.to_owned() }
    }
}

impl From<PersonV2> for Person {
    fn from(old: PersonV2) -> Self {
        Self { id: old.id, first: old.first, last: old.last, age: None }
    }
}

#[test]
fn an_old_row_goes_through_every_version() {
    let row = stored(PersonV1 { id: 1, name: "Jo Jones".into() }.to_row().unwrap());
    assert_eq!(row.get("EntityVersion"), None);
    assert!(Person::recognizes(&row));
    let read = Person::from_row(row.clone()).unwrap();
    assert_eq!(*read, Person { id: 1, first: "Jo".into(), last: "Jones".into(), age: None });
    assert_eq!(read.key(), &row.key);

    let row = stored(PersonV2 { id: 1, first: "Jo".into(), last: "Jones".into() }.to_row().unwrap());
    assert!(Person::recognizes(&row) && !PersonV1::recognizes(&row));
    assert_eq!(Person::from_row(row).unwrap().first, "Jo");
}

#[test]
fn queries_cover_the_rows_of_all_versions() {
    assert_eq!(PersonV2::row_prefix(), "p");
    assert_eq!(Person::row_prefix(), "p");
}

#[test]
fn a_newer_row_says_to_upgrade_the_program() {
    let person = Person { id: 1, first: "Jo".into(), last: "Jones".into(), age: Some(4) };
    let mut row = stored(person.to_row().unwrap());
    assert_eq!(*Person::from_row(row.clone()).unwrap(), person);
    row.set("EntityVersion", Value::Int32(4)).unwrap();
    assert!(Person::recognizes(&row));
    let error = Person::from_row(row.clone()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(error.key(), Some(&row.key));
    assert!(error.message().contains("upgrade the program"), "{error}");
}

#[test]
fn without_an_old_struct_old_rows_are_read_as_they_are() {
    #[derive(Entity, Debug, PartialEq)]
    #[entity(version = 2, partition = "n", row = "{id}")]
    struct Note {
        id: u32,
        text: String,
        #[entity(default)]
        likes: u32,
    }
    let note = Note { id: 1, text: "hello".into(), likes: 0 };
    let mut row = stored(note.to_row().unwrap());
    row.properties.remove("EntityVersion");
    row.properties.remove("Likes");
    assert_eq!(*Note::from_row(row).unwrap(), note);
}

#[test]
fn a_version_that_another_program_wrote_wide_counts_all_the_same() {
    let person = Person { id: 1, first: "Jo".into(), last: "Jones".into(), age: Some(4) };
    let mut row = stored(person.to_row().unwrap());
    row.set("EntityVersion", Value::Int64(3)).unwrap();
    assert_eq!(*Person::from_row(row.clone()).unwrap(), person);
    row.set("EntityVersion", Value::Int64(i64::MAX)).unwrap();
    assert!(Person::from_row(row).unwrap_err().message().contains("upgrade the program"));
}

mod patches {
    use std::sync::Arc;

    use table_core::{MemoryStore, Table};

    use super::*;

    #[derive(Entity, Debug, PartialEq)]
    #[entity(name = "Account", partition = "accounts", row = "{id}")]
    struct AccountV1 {
        id: u32,
        dollars: i64,
    }

    #[derive(Entity, Debug, PartialEq)]
    #[entity(name = "Account", version = 2, upgrade_from(AccountV1), partition = "accounts", row = "{id}")]
    struct Account {
        id: u32,
        cents: i64,
    }

    impl From<AccountV1> for Account {
        fn from(old: AccountV1) -> Self {
            Self { id: old.id, cents: old.dollars * 100 }
        }
    }

    async fn table() -> Table {
        let table = Table::new(Arc::new(MemoryStore::new()), "Accounts").unwrap();
        table.create().await.unwrap();
        table.insert(&AccountV1 { id: 1, dollars: 5 }).await.unwrap();
        table
    }

    #[tokio::test]
    async fn a_row_of_an_older_version_is_upgraded_before_it_is_patched() {
        let table = table().await;
        // By key and from what was read, alone and in a transaction: nothing is lost in silence.
        let mut read = table.require(Account::key(1)).await.unwrap();
        assert!(read.is_upgraded());
        let by_key = table.patch(Account::patch(Account::key(1)).cents(7)).await.unwrap_err();
        let by_version = table.patch(Account::patch(&read).cents(7)).await.unwrap_err();
        let together = table.transaction().patch(Account::patch(Account::key(1)).cents(7)).commit().await.unwrap_err();
        for error in [by_key, by_version, together] {
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        }
        assert_eq!(table.require(Account::key(1)).await.unwrap().cents, 500);

        table.replace(&mut read).await.unwrap();
        assert!(!read.is_upgraded());
        table.patch(Account::patch(Account::key(1)).cents(7)).await.unwrap();
        assert_eq!(table.require(Account::key(1)).await.unwrap().cents, 7);
        let missing = table.patch(Account::patch(Account::key(2)).cents(7)).await.unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
    }
}
