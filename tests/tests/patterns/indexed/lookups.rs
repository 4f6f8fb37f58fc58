use std::sync::Arc;

use table_core::{Action, Entity, ErrorKind, Operation, Result};
use table_tests::pattern::{Altered, behind, stores, three_attempts};

use table_patterns::Indexed;

use super::{Employee, employee, indexed};

#[tokio::test]
async fn a_copy_yields_its_projection_or_the_whole_entity() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let employees = indexed(&table);
        employees.insert(&employee(7, "Jones")).await?;
        let copy = employees.require(Employee::by_email("Sales", "e7@contoso.com")).await?;
        assert_eq!((copy.id, copy.first_name.as_str()), (7, "E7"));
        let whole = employees.full(Employee::by_email("Sales", "e7@contoso.com")).await?;
        assert_eq!(whole.map(table_core::Versioned::into_value), Some(employee(7, "Jones")));
        assert!(employees.full(Employee::by_email("Sales", "e8@contoso.com")).await?.is_none());
    }
    Ok(())
}

#[tokio::test]
async fn an_index_is_read_in_its_own_order() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let employees = indexed(&table);
        for (id, name) in [(1, "Smith"), (2, "Jones"), (3, "Abel"), (4, "Jones"), (5, "Jonesy")] {
            employees.insert(&employee(id, name)).await?;
        }
        let jones = employees.all(Employee::by_last_name("Sales", "Jones")).await?;
        assert_eq!(jones.iter().map(|copy| copy.id).collect::<Vec<_>>(), [2, 4]);
        let all = employees.all(Employee::range_by_last_name("Sales")).await?;
        assert_eq!(all.iter().map(|copy| copy.id).collect::<Vec<_>>(), [3, 2, 4, 5, 1]);
        let whole = employees.all_full(Employee::range_by_last_name("Sales").last_name_prefix("Jo")).await?;
        assert_eq!(whole.iter().map(|each| (each.id, each.age)).collect::<Vec<_>>(), [(2, 40), (4, 40), (5, 40)]);
        let emails = employees.all(Employee::range_by_email("Sales").email_range("e2".."e4")).await?;
        assert_eq!(emails.iter().map(|copy| copy.id).collect::<Vec<_>>(), [2, 3]);
    }
    Ok(())
}

#[tokio::test]
async fn a_copy_without_its_entity_is_reported_and_not_followed_for_ever() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let employees = indexed(&table);
        let orphan = employee(1, "Jones").index_row(0)?.unwrap();
        table.store().write(table.name(), Operation::new(Action::Insert(orphan))?).await?;
        let error = employees.full(Employee::by_email("Sales", "e1@contoso.com")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupted);
    }
    Ok(())
}

/// Between the read of a copy and that of its entity the address is given up, and before the next
/// attempt it is taken again.
#[tokio::test]
async fn an_entity_that_always_moves_is_not_followed_for_ever() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        indexed(&table).insert(&employee(1, "Jones")).await?;
        let moving = table.clone();
        let disturbed = Altered::disturbed(Arc::clone(table.store()), move |reads| {
            let employees = indexed(&moving);
            async move {
                let email = (reads % 2 == 0).then(|| "e1@contoso.com".to_owned());
                employees.update(Employee::key("Sales", 1), |jones| jones.email.clone_from(&email)).await.unwrap();
            }
        });
        let employees = indexed(&behind(&table, disturbed)).with_options(three_attempts());
        let error = employees.full(Employee::by_email("Sales", "e1@contoso.com")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Contention);
        assert!(error.message().contains("each of 3 attempts"), "{error}");
    }
    Ok(())
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(name = "Contact", partition = "{team}", row = "id_{id:06}")]
#[index(email, row = "email_{email}", include())]
struct ContactV1 {
    team: String,
    id: u32,
    email: String,
}

/// Addresses have no capitals any more.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(name = "Contact", version = 2, upgrade_from(ContactV1), partition = "{team}", row = "id_{id:06}")]
#[index(email, row = "email_{email}", include())]
struct Contact {
    team: String,
    id: u32,
    email: String,
}

impl From<ContactV1> for Contact {
    fn from(old: ContactV1) -> Self {
        Self { team: old.team, id: old.id, email: old.email.to_lowercase() }
    }
}

#[tokio::test]
async fn a_row_of_an_older_version_is_found_by_the_copies_of_that_version_until_it_is_written() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let old = ContactV1 { team: "Sales".into(), id: 1, email: "Jo@Contoso.com".into() };
        Indexed::new(table.clone())?.insert(&old).await?;
        let contacts = Indexed::<Contact>::new(table)?;
        let found = contacts.full(Contact::by_email("Sales", "Jo@Contoso.com")).await?;
        assert_eq!(found.map(table_core::Versioned::into_value), Some(old.clone().into()));
        assert_eq!(contacts.all_full(Contact::range_by_email("Sales")).await?.len(), 1);

        contacts.update(Contact::key("Sales", 1), |contact| contact.email.insert(0, 'j')).await?;
        assert!(contacts.full(Contact::by_email("Sales", "Jo@Contoso.com")).await?.is_none());
        assert!(contacts.full(Contact::by_email("Sales", "jjo@contoso.com")).await?.is_some());
    }
    Ok(())
}
