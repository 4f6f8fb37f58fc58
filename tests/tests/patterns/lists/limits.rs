//! Lists that near what a row holds, without blobs.

use table_core::{Action, DynamicEntity, EntityKey, ErrorKind, Operation, Result, Table, Value, limits};
use table_patterns::IndexEntities;
use table_patterns::eventually_consistent_transactions::{Mover, MoverOptions};
use table_patterns::index_entities::ListPlace;
use table_tests::pattern::{Altered, TestStore, our_stores};

use super::{Employee, HIDDEN, employee, key};

/// What who joins a list leaves to others.
const RESERVE: usize = 64 * 1024;
const TEXT_UNITS: usize = limits::STRING_UTF16_UNITS;

/// Two lists elsewhere, of which the first is to be full.
fn declared(table: Table) -> IndexEntities<Employee> {
    IndexEntities::new(table)
        .list_at(ListPlace::table("EmployeesByCity"), "city", |employee: &Employee| Some(employee.city.clone()))
        .list_at(ListPlace::partition(), "team", |employee| employee.team.clone())
}

async fn opened(store: &TestStore, table: Table) -> Result<(IndexEntities<Employee>, Mover)> {
    let lists = declared(table);
    let options = MoverOptions::default().with_most_failures(2);
    let builder = Mover::builder(store.queues.clone(), "moves")?.with_options(options);
    let mover = builder.keep_lists(&lists).build().await?;
    let lists = lists.kept_by(&mover)?;
    lists.create_if_missing().await?;
    Ok((lists, mover))
}

/// The list of all in Berlin, in as few properties as hold it.
fn row_of(lines: &[String]) -> DynamicEntity {
    let mut pieces: Vec<String> = Vec::new();
    for line in lines {
        match pieces.last_mut() {
            Some(piece) if piece.len() + 1 + line.len() <= TEXT_UNITS => *piece = format!("{piece}\n{line}"),
            _ => pieces.push(line.clone()),
        }
    }
    let key = EntityKey::parse("list:employees:Employee:city:Berlin", "").unwrap();
    let mut row = DynamicEntity::new(key).with("RowKind", "list:city").unwrap();
    row.set("RowToken", Value::Guid(uuid::Uuid::nil())).unwrap();
    for (number, piece) in pieces.into_iter().enumerate() {
        row.set(&format!("Keys{number:02}"), piece).unwrap();
    }
    row
}

/// A list that takes so many bytes once the first employee has joined it.
fn full_but_for_one(bytes: usize) -> DynamicEntity {
    let with_all = |lines: &[String]| row_of(&[lines, &["Sales/empid_000001".to_owned()]].concat()).counted_bytes();
    let lines = |count: usize, more: usize| -> Vec<String> {
        let longer = |number| more / 20 + usize::from(number % 20 < more % 20);
        (0..count)
            .map(|n| format!("A/{n:05}{}", "x".repeat(400 + if n + 20 >= count { longer(n) } else { 0 })))
            .collect()
    };
    // A line takes some 816 bytes, and a property a few more.
    let count = (bytes / 830..bytes / 800).find(|count| with_all(&lines(count + 1, 0)) > bytes).unwrap();
    let lacking = (bytes - with_all(&lines(count, 0))) / 2;
    let more = (lacking.saturating_sub(30)..=lacking).find(|more| with_all(&lines(count, *more)) == bytes).unwrap();
    row_of(&lines(count, more))
}

async fn put(table: &Table, row: DynamicEntity) -> Result<()> {
    let by_city = table.sibling("EmployeesByCity")?;
    by_city.store().write(by_city.name(), Operation::new(Action::InsertOrReplace(row))?).await.map(|_| ())
}

async fn bytes(table: &Table) -> Result<usize> {
    let key = EntityKey::parse("list:employees:Employee:city:Berlin", "")?;
    Ok(table.sibling("EmployeesByCity")?.require::<DynamicEntity>(key).await?.counted_bytes())
}

#[tokio::test]
async fn an_insert_leaves_room_in_a_list_elsewhere_or_is_refused() -> Result<()> {
    for store in &our_stores() {
        let (lists, mover) = opened(store, Table::new(store.tables.clone(), "Employees")?).await?;
        let most = limits::ENTITY_BYTES - RESERVE;
        put(lists.table(), full_but_for_one(most + 2)).await?;
        let error = lists.insert(&employee(1)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.message().contains(&format!("at most {most} are allowed")), "{error}");
        assert!(lists.table().get(key(1)).await?.is_none());

        put(lists.table(), full_but_for_one(most)).await?;
        lists.insert(&employee(1)).await?;
        assert_eq!(bytes(lists.table()).await?, most);
        assert_eq!(lists.find_across("city", "Berlin").await?.len(), 1);
        assert_eq!(mover.progress().await?.queued, 0);
    }
    Ok(())
}

/// Others take the room between the look of an insert and its write.
async fn raced(store: &TestStore, bytes: usize) -> Result<(IndexEntities<Employee>, Mover)> {
    let (lists, mover) = opened(store, Table::new(store.tables.clone(), "Employees")?).await?;
    let table = lists.table().clone();
    let others = async move { put(&table, full_but_for_one(bytes)).await.unwrap() };
    let behind = Table::new(std::sync::Arc::new(Altered::interrupted(store.tables.clone(), others)), "Employees")?;
    declared(behind).kept_by(&mover)?.insert(&employee(1)).await?;
    Ok((lists, mover))
}

#[tokio::test]
async fn who_was_let_in_is_listed_up_to_what_the_service_takes() -> Result<()> {
    for store in &our_stores() {
        let (lists, mover) = raced(store, limits::ENTITY_BYTES).await?;
        assert_eq!(bytes(lists.table()).await?, limits::ENTITY_BYTES);
        assert_eq!(lists.find_across("city", "Berlin").await?.len(), 1);
        assert_eq!(mover.progress().await?.queued, 0);
    }
    Ok(())
}

#[tokio::test]
async fn a_list_that_is_full_keeps_no_other_from_being_written() -> Result<()> {
    for store in &our_stores() {
        let (lists, mover) = raced(store, limits::ENTITY_BYTES + 2).await?;
        assert_eq!(lists.find_across("city", "Berlin").await?.len(), 0);
        assert_eq!(lists.find_across("team", "Blue").await?.len(), 1, "by the writer");
        // Somebody deletes the other list, so that a worker has it to write.
        let team = EntityKey::parse("list_Employee:team:Blue", "")?;
        let table = lists.table();
        let delete = Action::Delete(team, table_core::IfMatch::Any);
        table.store().write(table.name(), Operation::new(delete)?).await?;
        for _ in 0..5 {
            store.clock.advance(HIDDEN * 20);
            mover.run_due().await?;
        }
        assert_eq!(lists.find_across("team", "Blue").await?.len(), 1, "by the worker");
        let poisoned = mover.poisoned().await?;
        assert_eq!(poisoned.len(), 1, "the full list is told of");
    }
    Ok(())
}
