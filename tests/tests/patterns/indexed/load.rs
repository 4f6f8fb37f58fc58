use futures_util::stream;
use table_core::{ErrorKind, LoadMode, LoadOptions, Result};
use table_tests::pattern::{cost, stores};

use super::{Employee, assert_holds, employee, indexed};

fn staff(ids: std::ops::Range<u32>, last_name: &str) -> Vec<Employee> {
    ids.map(|id| employee(id, last_name)).collect()
}

#[tokio::test]
async fn a_load_stores_entities_and_copies_in_full_transactions() -> Result<()> {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        let staff = staff(0..100, "Jones");
        let loaded = cost(&meter, async {
            let done = indexed(&table).load(stream::iter(staff.clone()), LoadOptions::default()).await?;
            assert_eq!((done.entities, done.transactions), (100, 4));
            Ok(())
        });
        // Three rows each, a hundred to a transaction, and no read.
        assert_eq!(loaded.await, 4);
        assert_holds(&table, &staff).await;
    }
    Ok(())
}

#[tokio::test]
async fn a_load_over_stored_entities_moves_their_copies() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let employees = indexed(&table);
        employees.load(stream::iter(staff(0..50, "Jones")), LoadOptions::default()).await?;
        let mut renamed = staff(20..70, "Smith");
        renamed[0].email = None;
        employees.load(stream::iter(renamed.clone()), LoadOptions::default()).await?;
        let expected: Vec<Employee> = staff(0..20, "Jones").into_iter().chain(renamed).collect();
        assert_holds(&table, &expected).await;
    }
    Ok(())
}

#[tokio::test]
async fn a_load_that_only_inserts_stops_at_what_is_there() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let employees = indexed(&table);
        employees.insert(&employee(5, "Smith")).await?;
        let options = LoadOptions::default().with_mode(LoadMode::Insert);
        let error = employees.load(stream::iter(staff(0..10, "Jones")), options).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_holds(&table, &[employee(5, "Smith")]).await;
    }
    Ok(())
}

#[tokio::test]
async fn a_load_of_what_is_missing_writes_over_nothing() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let employees = indexed(&table);
        let missing = || LoadOptions::default().with_mode(LoadMode::InsertMissing);
        employees.load(stream::iter(staff(0..10, "Jones")), missing()).await?;
        employees.load(stream::iter(staff(5..15, "Jones")), missing()).await?;
        assert_holds(&table, &staff(0..15, "Jones")).await;
        let error = employees.load(stream::iter(staff(0..1, "Smith")), missing()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_holds(&table, &staff(0..15, "Jones")).await;
    }
    Ok(())
}

#[tokio::test]
async fn of_two_entities_with_one_key_the_later_wins() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let twice = staff(0..40, "Jones").into_iter().chain(staff(0..40, "Smith"));
        indexed(&table).load(stream::iter(twice), LoadOptions::default()).await?;
        assert_holds(&table, &staff(0..40, "Smith")).await;
    }
    Ok(())
}

#[tokio::test]
async fn a_second_owner_of_a_unique_key_is_refused_by_name() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let mut pair = staff(1..3, "Jones");
        pair[1].email = pair[0].email.clone();
        let error = indexed(&table).load(stream::iter(pair.clone()), LoadOptions::default()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert!(error.message().contains("unique index email"), "{error}");
        assert_holds(&table, &pair[..1]).await;
    }
    Ok(())
}

#[tokio::test]
async fn an_entity_that_cannot_be_written_stops_the_load_before_its_transaction() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let mut staff = staff(0..40, "Jones");
        staff[35].last_name = "\u{1}".into();
        let error = indexed(&table).load(stream::iter(staff.clone()), LoadOptions::default()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidKey);
        assert_holds(&table, &staff[..33]).await;
    }
    Ok(())
}
