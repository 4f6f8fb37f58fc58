use std::sync::Arc;
use std::time::Duration;

use table_core::{Action, DynamicEntity, Entity, EntityKey, ErrorKind, Operation, Result, Table, Value, reserved};
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::inter_partition_secondary_index::IntentOptions;
use table_patterns::{Indexed, IndexedTransaction, UpdateOptions};
use table_tests::pattern::{memory, our_stores, rows};

use super::{Employee, World, employee, key};

#[tokio::test]
async fn a_unique_value_is_unique_across_partitions() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        let employees = world.employees();
        employees.insert(&employee(1)).await?;
        let second = Employee { department: "Marketing".into(), email: employee(1).email, ..employee(2) };
        let error = employees.insert(&second).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert!(error.message().contains("unique index directory"), "{error}");
        assert_eq!(error.table(), Some("EmployeesByEmail"));
        let error = employees.upsert(&second).await.unwrap_err();
        assert!(error.message().contains("unique index directory"), "{error}");

        employees.insert(&employee(3)).await?;
        let error = employees.update(key(3), |third| third.email = employee(1).email).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(world.mover.progress().await?.queued, 0, "a refusal leaves nothing to do");
        world.assert_holds(&[employee(1), employee(3)]).await;
    }
    Ok(())
}

#[tokio::test]
async fn an_entity_that_is_there_is_refused_and_its_claims_are_freed() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        let employees = world.employees();
        employees.insert(&employee(1)).await?;
        let again = Employee { email: Some("other@contoso.com".into()), ..employee(1) };
        assert_eq!(employees.insert(&again).await.unwrap_err().kind(), ErrorKind::AlreadyExists);
        employees.insert(&Employee { email: again.email.clone(), ..employee(2) }).await?;
        world.settle().await;
        world.assert_consistent().await;
    }
    Ok(())
}

/// A claim whose writer is dead is nobody's once a worker has seen it, and until then is waited for.
#[tokio::test(start_paused = true)]
async fn a_claim_in_the_way_is_waited_for_and_not_for_ever() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        let claim = DynamicEntity::new(EntityKey::parse("e1@contoso.com", "")?)
            .with(reserved::ROW_KIND.as_str(), Value::from("claim:ID"))?
            .with(reserved::ROW_OWNER.as_str(), Value::from("employees/Sales/empid_000009"))?;
        let directory = world.table.sibling("EmployeesByEmail")?;
        directory.store().write(directory.name(), Operation::new(Action::Insert(claim.clone()))?).await?;
        let employees = world.employees().with_options(UpdateOptions::default().with_attempts(3));
        let error = employees.insert(&employee(1)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Contention);
        let free = Operation::new(Action::Delete(claim.key, table_core::IfMatch::Any))?;
        directory.store().write(directory.name(), free).await?;
        employees.insert(&employee(1)).await?;
        world.settle().await;
        world.assert_holds(&[employee(1)]).await;
    }
    Ok(())
}

#[tokio::test]
async fn a_row_that_is_no_index_row_is_never_overwritten() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        let strange = DynamicEntity::new(EntityKey::parse("e1@contoso.com", "")?).with("Note", "mine")?;
        let directory = world.table.sibling("EmployeesByEmail")?;
        directory.store().write(directory.name(), Operation::new(Action::Insert(strange.clone()))?).await?;
        let error = world.employees().insert(&employee(1)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        world.settle().await;
        let [own, directory] = world.rows().await;
        assert_eq!((own, directory), (Vec::new(), vec![(strange.key, strange.properties)]));
    }
    Ok(())
}

#[tokio::test]
async fn it_takes_a_mover_that_keeps_these_indexes() -> Result<()> {
    let store = memory();
    let table = World::new(&store).await.table;
    let error = Indexed::<Employee>::new(table.clone()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("Indexed::kept_by"), "{error}");
    let idle = Mover::builder(Arc::clone(&store.queues), "idle")?.build().await?;
    let error = Indexed::<Employee>::kept_by(table.clone(), &idle).unwrap_err();
    assert!(error.message().contains("keep_indexes::<Employee>"), "{error}");
    Indexed::<Employee>::kept_elsewhere(table.clone(), &idle)?;
    let error = IndexedTransaction::new(&table).insert(&employee(1)).commit().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    Ok(())
}

#[tokio::test]
async fn times_that_do_not_fit_are_refused() -> Result<()> {
    let store = memory();
    let world = World::new(&store).await;
    let day = Duration::from_secs(24 * 60 * 60);
    for options in [IntentOptions::default().with_grace(day * 8), IntentOptions::default().with_hidden(day / 3)] {
        let error = world.employees().with_intents(options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    }
    Ok(())
}

#[tokio::test]
async fn what_fits_no_key_is_refused_before_anything_is_sent() -> Result<()> {
    let store = memory();
    let world = World::new(&store).await;
    let bad = Employee { email: Some("line\nbreak".into()), ..employee(1) };
    assert_eq!(world.employees().insert(&bad).await.unwrap_err().kind(), ErrorKind::InvalidKey);
    world.employees().insert(&employee(1)).await?;
    let error = world.employees().update(key(1), |jones| jones.id = 2).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidKey);
    assert_eq!(world.mover.progress().await?.queued, 0);
    world.assert_holds(&[employee(1)]).await;
    Ok(())
}

/// Every change of the text concerns sixteen index rows elsewhere, each with a long key.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{id:06}", row = "")]
#[index(a, partition = "a_{text}", row = "{text}_{id:06}", include())]
#[index(b, partition = "b_{text}", row = "{text}_{id:06}", include())]
#[index(c, partition = "c_{text}", row = "{text}_{id:06}", include())]
#[index(d, partition = "d_{text}", row = "{text}_{id:06}", include())]
#[index(e, partition = "e_{text}", row = "{text}_{id:06}", include())]
#[index(f, partition = "f_{text}", row = "{text}_{id:06}", include())]
#[index(g, partition = "g_{text}", row = "{text}_{id:06}", include())]
#[index(h, partition = "h_{text}", row = "{text}_{id:06}", include())]
struct Wordy {
    id: u32,
    text: String,
}

#[tokio::test]
async fn a_change_whose_message_would_be_too_large_is_refused_before_anything_is_sent() -> Result<()> {
    for store in &our_stores() {
        let table = Table::new(Arc::clone(&store.tables), "Wordy")?;
        let mover = Mover::builder(Arc::clone(&store.queues), "words")?.keep_indexes::<Wordy>(&table).build().await?;
        let words = Indexed::<Wordy>::kept_by(table.clone(), &mover)?;
        words.create_if_missing().await?;
        let text = |of: &str| of.repeat(500);
        words.insert(&Wordy { id: 1, text: text("€") }).await?;
        let before = rows(&table).await;
        let error = words.update(Wordy::key(1), |wordy| wordy.text = text("£")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.message().contains("with shorter keys"), "{error}");
        assert_eq!((rows(&table).await, mover.progress().await?.queued), (before, 0));
        words.delete_by_key(Wordy::key(1)).await?;
    }
    Ok(())
}
