//! Lists of keys by value.

use std::sync::Arc;
use std::time::Duration;

use object_store::memory::InMemory;
use table_core::layer::{FaultPlan, Meter};
use table_core::{Action, DynamicEntity, Entity, EntityKey, ErrorKind, Operation, PartitionKey, Query, Result, Table};
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::index_entities::{ListBlobs, ListPlace};
use table_patterns::{IndexEntities, UpdateOptions};
use table_tests::blobs::FaultyBlobs;
use table_tests::pattern::{Altered, Costs, Faults, TASKS, behind, contend, our_stores, rows, stores, three_attempts};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(email, row = "email_{email}", include())]
struct Employee {
    department: String,
    id: u32,
    email: String,
    last_name: String,
    team: Option<String>,
}

fn employee(id: u32, last_name: &str) -> Employee {
    Employee {
        department: "Sales".into(),
        id,
        email: format!("e{id}@contoso.com"),
        last_name: last_name.into(),
        team: None,
    }
}

fn lists(table: &Table) -> IndexEntities<Employee> {
    IndexEntities::new(table.clone())
        .list("last_name", |employee: &Employee| Some(employee.last_name.clone()))
        .list("team", |employee| employee.team.clone())
}

fn sales() -> PartitionKey {
    PartitionKey::new("Sales").unwrap()
}

/// The row of the list of all Jones, without keys.
fn empty_list(name: &str) -> DynamicEntity {
    let key = EntityKey::parse("Sales", &format!("list_Employee:{name}:Jones")).unwrap();
    DynamicEntity::new(key).with("RowKind", format!("list:{name}")).unwrap()
}

async fn listed(table: &Table, list: &str, value: &str) -> Vec<u32> {
    let ids = lists(table).find(&sales(), list, value).await.unwrap();
    ids.iter().map(|employee| employee.id).collect()
}

/// Checks that the lists say exactly what the entities do, and that there is no other row.
async fn assert_in_step(table: &Table) {
    let all = table.all(Query::<Employee>::all().allow_scan()).await.unwrap();
    let mut values: Vec<(&str, String, String)> = Vec::new();
    for employee in &all {
        let row = employee.key().row.to_string();
        values.push(("last_name", employee.last_name.clone(), row.clone()));
        values.extend(employee.team.clone().map(|team| ("team", team, row)));
    }
    let mut found = Vec::new();
    let mut names: Vec<(&str, String)> = values.iter().map(|(list, value, _)| (*list, value.clone())).collect();
    names.sort_unstable();
    names.dedup();
    for (list, value) in &names {
        for key in lists(table).keys(&sales(), list, value).await.unwrap() {
            found.push((*list, value.clone(), key.to_string()));
        }
    }
    values.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, values);
    assert_eq!(rows(table).await.len(), 2 * all.len() + names.len(), "a list too many: {:#?}", rows(table).await);
}

async fn three(table: Table) {
    for (id, name) in [(1, "Jones"), (2, "Jones"), (3, "Smith")] {
        lists(&table).insert(&employee(id, name)).await.unwrap();
    }
}

#[tokio::test]
async fn lists_follow_their_entities() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        three(table.clone()).await;
        assert_eq!(listed(&table, "last_name", "Jones").await, [1, 2]);
        assert_in_step(&table).await;

        let read = lists(&table)
            .update(Employee::key("Sales", 1), |jones| {
                jones.last_name = "Smith".into();
                jones.team = Some("a/b:c".into());
            })
            .await?;
        assert_eq!(*table.require(Employee::key("Sales", 1)).await?, *read);
        assert_eq!(listed(&table, "last_name", "Smith").await, [1, 3]);
        assert_eq!(listed(&table, "team", "a/b:c").await, [1]);
        assert_in_step(&table).await;

        assert!(lists(&table).delete(Employee::key("Sales", 2)).await?);
        assert!(!lists(&table).delete(Employee::key("Sales", 2)).await?);
        assert_eq!(listed(&table, "last_name", "Jones").await, [0_u32; 0]);
        assert_in_step(&table).await;
        lists(&table).update(Employee::key("Sales", 1), |jones| jones.team = None).await?;
        assert_in_step(&table).await;
    }
    Ok(())
}

#[tokio::test]
async fn a_long_list_spreads_over_properties() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        // A list as many inserts would have left it, to be gone on with.
        lists(&table).insert(&employee(1, "Jones")).await?;
        let lines: Vec<String> = (1..=2520).map(|id| format!("empid_{id:06}")).collect();
        let mut row = empty_list("last_name");
        row.set("Keys00", lines.join("\n"))?;
        table.store().write(table.name(), Operation::new(Action::InsertOrReplace(row))?).await?;

        lists(&table).insert(&employee(900_000, "Jones")).await?;
        assert_eq!(lists(&table).keys(&sales(), "last_name", "Jones").await?.len(), 2521);
        let (_, properties) =
            rows(&table).await.into_iter().find(|(key, _)| key.row.as_str().starts_with("list_")).unwrap();
        assert!(properties.get("Keys01").is_some());
        // Entities that the list names and that are gone are left out.
        assert_eq!(listed(&table, "last_name", "Jones").await, [1, 900_000]);
    }
    Ok(())
}

#[tokio::test]
async fn refusals_leave_the_lists_as_they_are() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        three(table.clone()).await;
        let before = rows(&table).await;
        let error = lists(&table).insert(&employee(1, "Baker")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        let taken = Employee { email: "e1@contoso.com".into(), ..employee(4, "Jones") };
        assert!(lists(&table).insert(&taken).await.unwrap_err().message().contains("unique index email"));
        let error = lists(&table).update(Employee::key("Sales", 9), |_| ()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(lists(&table).keys(&sales(), "age", "9").await.unwrap_err().kind(), ErrorKind::InvalidQuery);
        assert_eq!(rows(&table).await, before);
    }
    Ok(())
}

#[tokio::test]
async fn each_operation_takes_the_storage_transactions_that_the_page_says() -> Result<()> {
    for store in &our_stores() {
        let (table, meter) = store.metered().await;
        let (queues, blobs) = (Meter::new(store.queues.clone()), FaultPlan::quiet());
        let mut costs = Costs::of("index_entities", &meter).with_queues(&queues).with_blobs(&blobs);
        let employees = lists(&table);
        let key = || Employee::key("Sales", 1);
        costs.count("insert into 1 list", employees.insert(&employee(1, "Jones"))).await;
        costs.count("keys", employees.keys(&sales(), "last_name", "Jones")).await;
        costs.count("find of 1", employees.find(&sales(), "last_name", "Jones")).await;
        costs.count("update of other fields", employees.update(key(), |jones| jones.email = "x".into())).await;
        costs
            .count("update of a listed value", employees.update(key(), |jones| jones.last_name = "Smith".into()))
            .await;
        costs.count("delete from 1 list", employees.delete(key())).await;

        // The list, the change with its intent, the list again, and the intent goes.
        let by_name = |place| {
            IndexEntities::new(table.clone()).list_at(place, "name", |each: &Employee| Some(each.last_name.clone()))
        };
        let elsewhere = by_name(ListPlace::partition());
        let mover = Mover::builder(Arc::new(queues.clone()), "elsewhere")?.keep_lists(&elsewhere).build().await?;
        let employees = elsewhere.kept_by(&mover)?;
        costs.count("insert into 1 list elsewhere", employees.insert(&employee(1, "Jones"))).await;
        costs.count("keys_across", employees.keys_across("name", "Jones")).await;
        costs.count("find_across of 1", employees.find_across("name", "Jones")).await;
        costs
            .count(
                "update of a value listed elsewhere",
                employees.update(key(), |jones| jones.last_name = "Smith".into()),
            )
            .await;
        costs.count("delete from 1 list elsewhere", employees.delete(key())).await;

        let faulty = FaultyBlobs::new(Arc::new(InMemory::new()), blobs.clone());
        let in_blob = by_name(ListPlace::beside().in_blob()).with_blobs(ListBlobs::new(Arc::new(faulty)));
        let mover = Mover::builder(Arc::new(queues.clone()), "in-blob")?.keep_lists(&in_blob).build().await?;
        let employees = in_blob.kept_by(&mover)?;
        employees.insert(&employee(1, "Jones")).await?;
        costs.count("insert into 1 list in a blob", employees.insert(&employee(2, "Jones"))).await;
        costs.count("keys of a list in a blob", employees.keys(&sales(), "name", "Jones")).await;
        store.clock.advance(Duration::from_secs(24 * 60 * 60));
        assert_eq!(costs.count("run_due of 1 replaced blob", mover.run_due()).await, 1);
        costs.are_documented();
    }
    Ok(())
}

#[tokio::test]
async fn the_loop_gives_up_after_its_bound() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        three(table.clone()).await;
        let before = rows(&table).await;
        let rival = Altered::with_rival(Arc::clone(table.store()));
        let outpaced = lists(&behind(&table, rival));
        let outpaced = outpaced.with_options(three_attempts());
        for error in [
            outpaced.insert(&employee(4, "Jones")).await.unwrap_err(),
            outpaced.update(Employee::key("Sales", 1), |jones| jones.last_name = "Smith".into()).await.unwrap_err(),
            outpaced.delete(Employee::key("Sales", 1)).await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Contention);
        }
        assert_eq!(rows(&table).await, before);
    }
    Ok(())
}

#[tokio::test]
async fn a_fault_at_any_call_leaves_the_old_or_the_new_state() {
    let state = async |table: Table| rows(&table).await;
    let insert = async |table: Table| lists(&table).insert(&employee(4, "Jones")).await.map(|_| ());
    assert_eq!(Faults { prepare: three, act: insert, state }.everywhere().await.undecided, 0);
    let update = async |table: Table| {
        lists(&table).update(Employee::key("Sales", 1), |jones| jones.last_name = "Smith".into()).await.map(|_| ())
    };
    assert_eq!(Faults { prepare: three, act: update, state }.everywhere().await.undecided, 0);
    // The list that stays tells of the deletion, and where none stays the doubt does.
    for (id, undecided) in [(1, 0), (3, 1)] {
        let delete = async |table: Table| lists(&table).delete(Employee::key("Sales", id)).await.map(|_| ());
        assert_eq!(Faults { prepare: three, act: delete, state }.everywhere().await.undecided, undecided);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn lists_stay_in_step_under_contention() -> Result<()> {
    for store in &stores() {
        let table = contend(
            store,
            async |_| (),
            |task, table| async move {
                let employees = lists(&table).with_options(UpdateOptions::default().with_attempts(500));
                employees.insert(&employee(task, "Jones")).await?;
                for round in 0..3 {
                    let name = ["Smith", "Jones", "Baker"][usize::try_from(task + round).unwrap() % 3];
                    employees.update(Employee::key("Sales", task), |jones| jones.last_name = name.into()).await?;
                }
                if task % 4 == 0 {
                    employees.delete(Employee::key("Sales", task)).await?;
                }
                Ok(())
            },
        )
        .await;
        assert_eq!(table.count(Query::<Employee>::all().allow_scan()).await?, 12);
        assert_in_step(&table).await;
    }
    Ok(())
}

/// All tasks change one entity, so that it walks from list to list.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_update_of_a_listed_entity_is_lost() -> Result<()> {
    for store in &stores() {
        let prepare = async |table: Table| lists(&table).insert(&employee(1, "J")).await.map(drop).unwrap();
        let table = contend(store, prepare, |_, table| async move {
            let employees = lists(&table).with_options(UpdateOptions::default().with_attempts(500));
            for _ in 0..3 {
                employees.update(Employee::key("Sales", 1), |jones| jones.last_name.push('j')).await?;
            }
            Ok(())
        })
        .await;
        let left = table.require(Employee::key("Sales", 1)).await?;
        assert_eq!(left.last_name.len(), usize::try_from(1 + TASKS * 3).unwrap());
        assert_in_step(&table).await;
    }
    Ok(())
}

/// Lists by last name, under several names.
fn lists_named(table: &Table, names: impl IntoIterator<Item = &'static str>) -> IndexEntities<Employee> {
    let none = IndexEntities::new(table.clone());
    names.into_iter().fold(none, |lists, name| lists.list(name, |employee: &Employee| Some(employee.last_name.clone())))
}

#[tokio::test]
async fn more_lists_than_a_transaction_writes_are_refused_with_their_count() -> Result<()> {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        let with = |count: u32| {
            let names = (0..count).map(|number| &*format!("list{number}").leak());
            lists_named(&table, names)
        };
        // The entity, its copy by email, and the lists.
        let error = with(99).insert(&employee(1, "Jones")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.message().contains("101 operations"), "{error}");
        assert_eq!(meter.report().total().entities_written, 0);
        with(98).insert(&employee(1, "Jones")).await?;
        assert_eq!(rows(&table).await.len(), 100);
    }
    Ok(())
}

#[tokio::test]
async fn lists_that_are_too_large_together_are_refused_with_their_count() -> Result<()> {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        let names = ["a", "b", "c", "d", "e"];
        for name in names {
            // Fourteen properties of some 63 KiB, with keys as long as a service allows.
            let mut row = empty_list(name);
            for piece in 0..14 {
                let lines: Vec<String> =
                    (0..63).map(|line| format!("{piece:02}{line:02}{}", "x".repeat(500))).collect();
                row.set(&format!("Keys{piece:02}"), lines.join("\n"))?;
            }
            table.store().write(table.name(), Operation::new(Action::Insert(row))?).await?;
        }
        let before = meter.report();
        let error = lists_named(&table, names).insert(&employee(1, "Jones")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.message().contains("this one takes 44"), "{error}");
        assert_eq!((meter.report() - before).total().entities_written, 0);
    }
    Ok(())
}
