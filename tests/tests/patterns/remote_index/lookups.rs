use table_core::{Action, Entity, IfMatch, Operation, Result};
use table_patterns::inter_partition_secondary_index::Reads;
use table_tests::pattern::our_stores;

use super::{Employee, World, employee, key};

/// Writes the primary row alone, as a change does that has not reached its indexes.
async fn write_primary(world: &World<'_>, entity: &Employee) -> Result<()> {
    let row = entity.to_row()?;
    world.table.store().write(world.table.name(), Operation::new(Action::InsertOrReplace(row))?).await?;
    Ok(())
}

#[tokio::test]
async fn a_verified_lookup_never_answers_a_stale_key_and_mends_it() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        let employees = world.employees();
        employees.insert(&employee(1)).await?;
        write_primary(&world, &Employee { email: None, ..employee(1) }).await?;
        let old = || Employee::by_directory("e1@contoso.com");
        assert!(employees.find(old(), Reads::Fast).await?.is_some(), "the index is stale");
        assert!(employees.find(old(), Reads::Verified).await?.is_none());
        assert!(employees.find(old(), Reads::Fast).await?.is_none(), "it was mended");
        world.settle().await;
        world.assert_consistent().await;
    }
    Ok(())
}

#[tokio::test]
async fn a_verified_lookup_answers_fresh_fields_and_mends_the_copy() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        let employees = world.employees();
        employees.insert(&employee(1)).await?;
        write_primary(&world, &Employee { first_name: "Jo".into(), ..employee(1) }).await?;
        let key = || Employee::by_directory("e1@contoso.com");
        let found = employees.find(key(), Reads::Verified).await?.unwrap();
        assert_eq!(found.first_name, "Jo");
        assert_eq!(employees.require(key()).await?.etag(), found.etag());
        let [_, directory] = world.rows().await;
        assert_eq!(directory, super::expected(&world.stored().await)[1]);
    }
    Ok(())
}

#[tokio::test]
async fn a_query_can_be_verified_row_by_row() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        let employees = world.employees();
        for id in 1..=4 {
            employees.insert(&employee(id)).await?;
        }
        write_primary(&world, &Employee { office: Some("South".into()), ..employee(2) }).await?;
        write_primary(&world, &Employee { last_name: "Smith".into(), ..employee(3) }).await?;
        let all = async |reads| -> Result<Vec<(u32, String)>> {
            let found = employees.find_all(Employee::by_office("North"), reads).await?;
            Ok(found.into_iter().map(|copy| (copy.id, copy.last_name.clone())).collect())
        };
        let named = |rows: [(u32, &str); 3]| rows.map(|(id, name)| (id, name.to_owned())).to_vec();
        assert_eq!(all(Reads::Fast).await?.len(), 4);
        assert_eq!(all(Reads::Verified).await?, named([(1, "Jones"), (3, "Smith"), (4, "Jones")]));
        assert_eq!(all(Reads::Fast).await?, named([(1, "Jones"), (3, "Smith"), (4, "Jones")]));
        let whole = employees.all_full(Employee::by_office("North")).await?;
        assert_eq!(whole.iter().map(|each| each.id).collect::<Vec<_>>(), [1, 3, 4]);
    }
    Ok(())
}

#[tokio::test]
async fn the_whole_entity_is_found_or_the_stale_row_is_mended() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        let employees = world.employees();
        employees.insert(&employee(1)).await?;
        let key_of = || Employee::by_directory("e1@contoso.com");
        assert_eq!(employees.full(key_of()).await?.map(|jones| jones.age), Some(40));
        let gone = Operation::new(Action::Delete(key(1).resolve()?, IfMatch::Any))?;
        world.table.store().write(world.table.name(), gone).await?;
        assert!(employees.full(key_of()).await?.is_none());
        assert!(employees.get(key_of()).await?.is_none());
    }
    Ok(())
}

/// A unique value is claimed before its entity is written, so its index row is there as soon as the entity.
#[tokio::test]
async fn a_verified_lookup_by_a_unique_index_sees_a_change_that_the_index_does_not_show_yet() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        let employees = world.employees();
        let claim = employee(1).index_row(1)?.unwrap();
        let claim = table_core::DynamicEntity::new(claim.key)
            .with("RowKind", "claim:ID")?
            .with("RowOwner", "employees/Sales/empid_000001")?;
        let directory = world.table.sibling("EmployeesByEmail")?;
        directory.store().write(directory.name(), Operation::new(Action::Insert(claim))?).await?;
        let key = || Employee::by_directory("e1@contoso.com");
        assert!(employees.find(key(), Reads::Verified).await?.is_none(), "nobody has it yet");
        assert!(employees.find(key(), Reads::Fast).await?.is_none());
        write_primary(&world, &employee(1)).await?;
        assert!(employees.find(key(), Reads::Fast).await?.is_none(), "the index does not show it");
        assert_eq!(employees.find(key(), Reads::Verified).await?.map(|copy| copy.id), Some(1));
        assert!(employees.find(key(), Reads::Fast).await?.is_some(), "it was mended");
    }
    Ok(())
}

#[tokio::test]
async fn an_index_in_the_partition_is_looked_up_in_both_ways() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        let employees = world.employees();
        employees.insert(&employee(1)).await?;
        for reads in [Reads::Fast, Reads::Verified] {
            let found = employees.find_all(Employee::by_last_name("Sales", "Jones"), reads).await?;
            assert_eq!(found.len(), 1);
        }
    }
    Ok(())
}
