//! Several writes that happen together.

use table_core::{ErrorKind, Query, Result};

use super::{Employee, employee, tables};

#[tokio::test]
async fn all_writes_of_a_transaction_happen() -> Result<()> {
    for (table, _folder) in tables().await? {
        for id in 1..=4 {
            table.insert(&employee("Sales", id)).await?;
        }
        let mut replaced = table.require(Employee::key("Sales", 1)).await?;
        replaced.age = 41;
        let deleted = table.require(Employee::key("Sales", 2)).await?;
        let written = table
            .transaction()
            .replace(&replaced)
            .delete(&deleted)
            .patch(Employee::patch(Employee::key("Sales", 3)).age(43))
            .delete_unconditionally(&Employee::key("Sales", 4))
            .insert(&employee("Sales", 5))
            .insert_or_merge(&employee("Sales", 6))
            .commit()
            .await?;
        let versions: Vec<bool> = written.iter().map(|each| each.etag.is_some()).collect();
        assert_eq!(versions, [true, false, true, false, true, true]);
        let now = table.all(Employee::range("Sales")).await?;
        let ages: Vec<(u32, i32)> = now.iter().map(|each| (each.id, each.age)).collect();
        assert_eq!(ages, [(1, 41), (3, 43), (5, 40), (6, 40)]);
        assert_eq!(now.first().map(|each| each.etag().clone()), written.first().and_then(|each| each.etag.clone()));
    }
    Ok(())
}

#[tokio::test]
async fn a_transaction_that_fails_changes_nothing_and_says_where() -> Result<()> {
    for (table, _folder) in tables().await? {
        table.insert(&employee("Sales", 2)).await?;
        let insert = |id| employee("Sales", id);
        let taken = table.transaction().insert(&insert(1)).insert(&insert(2)).commit().await.unwrap_err();
        assert_eq!((taken.kind(), taken.operation_index()), (ErrorKind::AlreadyExists, Some(1)));

        let mut stale = table.require(Employee::key("Sales", 2)).await?;
        table.replace(&mut stale.clone()).await?;
        stale.age = 99;
        let late = table.transaction().insert(&insert(1)).merge(&stale).commit().await.unwrap_err();
        assert_eq!((late.kind(), late.operation_index()), (ErrorKind::PreconditionFailed, Some(1)));

        let wide = table.transaction().insert(&insert(1)).insert(&insert(1_000_000)).commit().await.unwrap_err();
        assert_eq!((wide.kind(), wide.operation_index()), (ErrorKind::InvalidKey, Some(1)));
        let elsewhere =
            table.transaction().insert(&insert(1)).insert(&employee("Legal", 1)).commit().await.unwrap_err();
        assert_eq!((elsewhere.kind(), elsewhere.operation_index()), (ErrorKind::InvalidKey, Some(1)));
        let twice = table.transaction().insert(&insert(1)).insert_or_replace(&insert(1)).commit().await.unwrap_err();
        assert_eq!((twice.kind(), twice.operation_index()), (ErrorKind::InvalidKey, Some(1)));
        assert_eq!(table.transaction().commit().await.unwrap_err().kind(), ErrorKind::LimitExceeded);

        assert_eq!(table.count(Query::<Employee>::all().allow_scan()).await?, 1);
        assert_eq!(table.require(Employee::key("Sales", 2)).await?.age, 40);
    }
    Ok(())
}

#[tokio::test]
async fn a_hundred_writes_are_a_transaction_and_one_more_is_not() -> Result<()> {
    for (table, _folder) in tables().await? {
        let writes = |count| (0..count).fold(table.transaction(), |all, id| all.insert(&employee("Sales", id)));
        let error = writes(101).commit().await.unwrap_err();
        assert_eq!((error.kind(), error.operation_index()), (ErrorKind::LimitExceeded, Some(100)));
        assert_eq!(writes(100).commit().await?.len(), 100);
    }
    Ok(())
}
