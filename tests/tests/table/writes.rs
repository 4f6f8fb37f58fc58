//! Writes of one entity.

use table_core::{ErrorKind, Result, Versioned};

use super::{Employee, add_unknown, employee, tables, unknown};

#[tokio::test]
async fn an_entity_is_inserted_once_and_comes_back() -> Result<()> {
    for (table, _folder) in tables().await? {
        let etag = table.insert(&employee("Sales", 1)).await?;
        let read = table.require(Employee::key("Sales", 1)).await?;
        assert_eq!((read.value(), read.etag()), (&employee("Sales", 1), &etag));
        let twice = table.insert(&employee("Sales", 1)).await.unwrap_err();
        assert_eq!(twice.kind(), ErrorKind::AlreadyExists);
        assert_eq!(table.get(Employee::key("Sales", 2)).await?, None);
        assert!(!table.create_if_missing().await?);
    }
    Ok(())
}

#[tokio::test]
async fn only_the_version_that_was_read_is_replaced() -> Result<()> {
    for (table, _folder) in tables().await? {
        table.insert(&employee("Sales", 1)).await?;
        add_unknown(&table, 1).await?;
        let mut first = table.require(Employee::key("Sales", 1)).await?;
        let mut second = first.clone();
        first.age = 41;
        first.email = None;
        table.replace(&mut first).await?;
        // It carries its new version, so it can be written again, and nothing of the old row is left.
        assert_eq!(table.require(Employee::key("Sales", 1)).await?, first);
        assert_eq!(unknown(&table, 1).await?, None);
        first.age = 42;
        table.replace(&mut first).await?;

        second.age = 99;
        assert_eq!(table.replace(&mut second).await.unwrap_err().kind(), ErrorKind::PreconditionFailed);
        assert_eq!(table.delete(&second).await.unwrap_err().kind(), ErrorKind::PreconditionFailed);
        assert_eq!(table.require(Employee::key("Sales", 1)).await?.age, 42);

        table.delete(&first).await?;
        assert_eq!(table.replace(&mut first).await.unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(table.delete(&first).await.unwrap_err().kind(), ErrorKind::NotFound);
    }
    Ok(())
}

#[tokio::test]
async fn a_merge_leaves_what_it_does_not_name() -> Result<()> {
    for (table, _folder) in tables().await? {
        table.insert(&employee("Sales", 1)).await?;
        add_unknown(&table, 1).await?;
        let mut read = table.require(Employee::key("Sales", 1)).await?;
        let mut stale = read.clone();
        read.age = 41;
        read.email = None;
        table.merge(&mut read).await?;
        let now = table.require(Employee::key("Sales", 1)).await?;
        assert_eq!((now.age, now.email.as_deref()), (41, Some("jo@contoso.com")));
        assert_eq!(now.etag(), read.etag());
        assert!(unknown(&table, 1).await?.is_some());
        assert_eq!(table.merge(&mut stale).await.unwrap_err().kind(), ErrorKind::PreconditionFailed);
    }
    Ok(())
}

#[tokio::test]
async fn a_patch_changes_only_its_fields() -> Result<()> {
    for (table, _folder) in tables().await? {
        table.insert(&employee("Sales", 1)).await?;
        add_unknown(&table, 1).await?;
        let read = table.require(Employee::key("Sales", 1)).await?;
        table.patch(Employee::patch(Employee::key("Sales", 1)).age(41)).await?;
        let now = table.require(Employee::key("Sales", 1)).await?;
        assert_eq!(*now, Employee { age: 41, ..employee("Sales", 1) });
        assert!(unknown(&table, 1).await?.is_some());

        // Made from what was read, it is for that version only.
        let stale = table.patch(Employee::patch(&read).age(42)).await.unwrap_err();
        assert_eq!(stale.kind(), ErrorKind::PreconditionFailed);
        let etag = table.patch(Employee::patch(&now).name("Al").email("al@contoso.com")).await?;
        let now = table.require(Employee::key("Sales", 1)).await?;
        assert_eq!((now.name.as_str(), now.age, now.etag()), ("Al", 41, &etag));
        let missing = table.patch(Employee::patch(Employee::key("Sales", 2)).age(1)).await.unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
    }
    Ok(())
}

#[tokio::test]
async fn a_write_for_any_version_says_so() -> Result<()> {
    for (table, _folder) in tables().await? {
        let (jo, older) = (employee("Sales", 1), Employee { age: 41, email: None, ..employee("Sales", 1) });
        assert_eq!(table.replace_unconditionally(&jo).await.unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(table.merge_unconditionally(&jo).await.unwrap_err().kind(), ErrorKind::NotFound);
        table.insert_or_merge(&jo).await?;
        table.insert_or_merge(&older).await?;
        assert_eq!(table.require(Employee::key("Sales", 1)).await?.email, jo.email);
        table.insert_or_replace(&older).await?;
        assert_eq!(*table.require(Employee::key("Sales", 1)).await?, older);
        table.merge_unconditionally(&jo).await?;
        assert_eq!(*table.require(Employee::key("Sales", 1)).await?, jo);
        table.replace_unconditionally(&older).await?;
        assert_eq!(*table.require(Employee::key("Sales", 1)).await?, older);

        assert!(table.delete_if_exists(Employee::key("Sales", 1)).await?);
        assert!(!table.delete_if_exists(Employee::key("Sales", 1)).await?);
        let gone = table.delete_unconditionally(Employee::key("Sales", 1)).await.unwrap_err();
        assert_eq!(gone.kind(), ErrorKind::NotFound);
    }
    Ok(())
}

#[tokio::test]
async fn a_version_can_be_carried_by_the_caller() -> Result<()> {
    for (table, _folder) in tables().await? {
        let etag = table.insert(&employee("Sales", 1)).await?;
        let sent = Employee { age: 41, ..employee("Sales", 1) };
        let mut carried = Versioned::from_parts(sent.clone(), etag.to_string().into())?;
        table.replace(&mut carried).await?;
        let mut again = Versioned::from_parts(sent, etag)?;
        assert_eq!(table.replace(&mut again).await.unwrap_err().kind(), ErrorKind::PreconditionFailed);
    }
    Ok(())
}

#[tokio::test]
async fn a_primary_key_does_not_change_in_place() -> Result<()> {
    for (table, _folder) in tables().await? {
        table.insert(&employee("Sales", 1)).await?;
        let mut read = table.require(Employee::key("Sales", 1)).await?;
        read.id = 2;
        let error = table.replace(&mut read).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidKey);
        assert!(error.to_string().contains("insert the entity under its new key"), "{error}");
        assert_eq!(table.merge(&mut read).await.unwrap_err().kind(), ErrorKind::InvalidKey);
        // What is deleted is what was read.
        table.delete(&read).await?;
        assert_eq!(table.get(Employee::key("Sales", 1)).await?, None);
    }
    Ok(())
}
