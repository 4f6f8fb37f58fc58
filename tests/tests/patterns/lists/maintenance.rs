use std::sync::Arc;

use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan, Meter};
use table_core::store::Selection;
use table_core::{Action, DynamicEntity, Entity, EntityKey, IfMatch, Operation, Result, Table, TableStore};
use table_patterns::maintenance::{Finding, Maintained, MaintenanceOptions, Wrong};
use table_tests::pattern::{Altered, memory, our_stores};

use super::{Employee, FEW, GRACE, NO_BLOBS, World, declared, employee, kept, key};

async fn write(table: &Table, action: Action) {
    table.store().write(table.name(), Operation::new(action).unwrap()).await.unwrap();
}

async fn store_without_lists(world: &World<'_>, count: u32) {
    for id in 1..=count {
        write(&world.table, Action::Insert(employee(id).to_row().unwrap())).await;
    }
}

fn told(findings: &[Finding]) -> Vec<String> {
    let mut told: Vec<String> = findings.iter().map(ToString::to_string).collect();
    told.sort();
    told
}

#[tokio::test]
async fn lists_are_built_for_existing_rows() -> Result<()> {
    for (store, above) in our_stores().iter().zip([NO_BLOBS, FEW]) {
        let world = World::new(store, above).await;
        store_without_lists(&world, 7).await;
        let report = world.employees.verify(world.now()).await?;
        assert_eq!((report.count(Wrong::Missing), report.findings.len()), (21, 21));
        let built = world.employees.build(world.now()).await?;
        assert_eq!((built.written, built.sources), (21, 7));
        world.settle().await;
        world.assert_consistent().await;
        assert_eq!(world.employees.build(world.now()).await?.written, 0);
    }
    Ok(())
}

/// Exactly the keys that are missing, stale and orphaned are found, in lists of each sort.
#[tokio::test]
async fn what_is_wrong_is_found_key_by_key_and_repaired() -> Result<()> {
    for (store, above) in our_stores().iter().zip([NO_BLOBS, FEW]) {
        let world = World::new(store, above).await;
        for id in 1..=7 {
            world.employees.insert(&employee(id)).await?;
        }
        world.settle().await;
        // Somebody knows nothing of the lists: one entity is gone, one is new, and one has moved on.
        write(&world.table, Action::Delete(employee(1).entity_key()?, IfMatch::Any)).await;
        write(&world.table, Action::Insert(employee(9).to_row()?)).await;
        let moved = Employee { city: "Bonn".into(), last_name: "Smith".into(), team: None, ..employee(3) };
        write(&world.table, Action::InsertOrReplace(moved.to_row()?)).await;
        let report = world.employees.verify(world.now()).await?;
        let employees = world.table.name();
        let expected = [
            ("orphaned", "last_name", format!("{employees} (Sales, list_Employee:last_name:Jones)"), 1),
            ("orphaned", "team", format!("{employees} (list_Employee:team:Blue, )"), 1),
            ("orphaned", "city", "EmployeesByCity (list:employees:Employee:city:Berlin, )".into(), 1),
            ("stale", "last_name", format!("{employees} (Sales, list_Employee:last_name:Jones)"), 3),
            ("stale", "team", format!("{employees} (list_Employee:team:Blue, )"), 3),
            ("stale", "city", "EmployeesByCity (list:employees:Employee:city:Berlin, )".into(), 3),
            ("missing", "last_name", format!("{employees} (Sales, list_Employee:last_name:Smith)"), 3),
            ("missing", "city", "EmployeesByCity (list:employees:Employee:city:Bonn, )".into(), 3),
            ("missing", "last_name", format!("{employees} (Sales, list_Employee:last_name:Jones)"), 9),
            ("missing", "team", format!("{employees} (list_Employee:team:Blue, )"), 9),
            ("missing", "city", "EmployeesByCity (list:employees:Employee:city:Berlin, )".into(), 9),
        ];
        let mut expected: Vec<String> = expected
            .iter()
            .map(|(wrong, list, at, id)| format!("{wrong} {list} in {at} of (Sales, empid_{id:06})"))
            .collect();
        expected.sort();
        assert_eq!(told(&report.findings), expected);

        let repaired = world.employees.repair(&report).await?;
        assert_eq!((repaired.mended, repaired.left.len()), (11, 0));
        world.settle().await;
        world.assert_consistent().await;
        assert_eq!(world.employees.repair(&report).await?.mended, 11, "what is mended stays so");
        world.settle().await;
        world.assert_consistent().await;
    }
    Ok(())
}

#[tokio::test]
async fn what_is_no_list_is_reported_and_what_is_anothers_left_alone() -> Result<()> {
    let store = memory();
    let world = World::new(&store, NO_BLOBS).await;
    world.employees.insert(&employee(1)).await?;
    world.settle().await;
    let others = [
        DynamicEntity::new(EntityKey::parse("Sales", "note")?).with("Text", "hello")?,
        DynamicEntity::new(EntityKey::parse("list_Employee:badge:1", "")?)
            .with("RowKind", "list:badge")?
            .with("Keys00", "x")?,
    ];
    for row in others {
        write(&world.table, Action::Insert(row)).await;
    }
    let report = world.employees.verify(world.now()).await?;
    assert!(report.is_clean(), "{:?}", report.findings);
    let broken = DynamicEntity::new(EntityKey::parse("list_Employee:team:Red", "")?);
    write(&world.table, Action::Insert(broken.with("RowKind", "list:team")?.with("Keys00", "no key")?)).await;
    let bad = employee(3).to_row()?.with("Age", "forty")?;
    write(&world.table, Action::Insert(bad)).await;
    let report = world.employees.verify(world.now()).await?;
    assert_eq!((report.count(Wrong::Unreadable), report.findings.len()), (2, 2));
    assert_eq!(world.employees.repair(&report).await?.left.len(), 2);
    Ok(())
}

/// An entity that cannot be read is told of once, whatever lists name it; all else is looked at.
#[tokio::test]
async fn an_unreadable_entity_does_not_end_the_pass() -> Result<()> {
    let store = memory();
    let world = World::new(&store, NO_BLOBS).await;
    for id in 1..=3 {
        world.employees.insert(&employee(id)).await?;
    }
    world.settle().await;
    write(&world.table, Action::InsertOrReplace(employee(2).to_row()?.with("Age", "forty")?)).await;
    write(&world.table, Action::Delete(employee(1).entity_key()?, IfMatch::Any)).await;
    let report = world.employees.verify(world.now()).await?;
    assert_eq!((report.count(Wrong::Unreadable), report.count(Wrong::Orphaned), report.findings.len()), (1, 3, 4));
    assert_eq!(world.employees.repair(&report).await?.left.len(), 1);
    Ok(())
}

/// A list that cannot be read is told of once, and with each entity that is to be in it; all else is looked at.
#[tokio::test]
async fn an_unreadable_list_does_not_end_the_pass() -> Result<()> {
    let store = memory();
    let world = World::new(&store, NO_BLOBS).await;
    store_without_lists(&world, 3).await;
    let broken = DynamicEntity::new(EntityKey::parse("list_Employee:team:Blue", "")?).with("RowKind", "list:team")?;
    write(&world.table, Action::Insert(broken.with("Keys00", "no key")?)).await;
    let report = world.employees.verify(world.now()).await?;
    assert_eq!((report.count(Wrong::Unreadable), report.count(Wrong::Missing)), (4, 6));
    let built = world.employees.build(world.now()).await?;
    assert_eq!((built.written, built.count(Wrong::Unreadable)), (6, 3));
    Ok(())
}

/// A table with intents, fences and tombstones of others: they may be long overdue, and are theirs.
#[tokio::test]
async fn what_others_left_over_is_theirs_to_clear() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store, NO_BLOBS).await;
        world.employees.insert(&employee(1)).await?;
        world.settle().await;
        let left = |partition: &str, row: &str, kind: &str, owner: &str| {
            let row = DynamicEntity::new(EntityKey::parse(partition, row)?).with("RowKind", kind)?;
            let scope = if owner.starts_with("empid") { "employees/Employee" } else { "employees/Contractor" };
            row.with("RowOwner", format!("employees/Sales/{owner}"))?.with("RowScope", scope)
        };
        let ours = [
            left("Sales", "~intent_list_1", "intent", "empid_000001")?,
            left("Sales", "~intent_list_2", "fence", "empid_000002")?,
            left("list_Employee:team:Red", "", "tombstone", "empid_000001")?,
        ];
        let theirs = [
            left("Sales", "~intent_copy_1", "intent", "empid_000001")?,
            left("Sales", "~intent_copy_2", "fence", "empid_000001")?,
            left("Sales", "~intent_1", "intent", "empid_000001")?,
            left("Sales", "~intent_list_3", "intent", "contractor_1")?,
            left("list_Contractor:team:Red", "", "tombstone", "contractor_1")?,
            left("email_jo", "", "tombstone", "empid_000001")?,
        ];
        for row in ours.iter().chain(&theirs) {
            write(&world.table, Action::Insert(row.clone())).await;
        }
        store.clock.advance(GRACE * 3);
        let report = world.employees.verify(world.now()).await?;
        let mut found: Vec<&EntityKey> = report.findings.iter().map(|finding| &finding.key).collect();
        found.sort();
        let mut expected: Vec<&EntityKey> = ours.iter().map(|row| &row.key).collect();
        expected.sort();
        assert_eq!(found, expected);

        // Nor does a report that names them make them ours.
        let template = report.findings[0].clone();
        let mut wider = report.clone();
        wider.findings.extend(theirs.iter().map(|row| Finding { key: row.key.clone(), ..template.clone() }));
        let repaired = world.employees.repair_with(&wider, world.now()).await?;
        assert_eq!((repaired.mended, repaired.left.len()), (3, 6));
        for row in &theirs {
            assert!(store.tables.get(world.table.name(), &row.key, &Selection::All).await?.is_some(), "{}", row.key);
        }
        assert!(world.employees.verify(world.now()).await?.is_clean());
    }
    Ok(())
}

/// Twenty entities are in four lists, each of which is read once for all, and once for itself.
#[tokio::test]
async fn a_pass_reads_a_list_once_and_not_for_each_entity() -> Result<()> {
    for (store, above) in our_stores().iter().zip([NO_BLOBS, FEW]) {
        let world = World::new(store, above).await;
        for id in 1..=20 {
            world.employees.insert(&employee(id)).await?;
        }
        world.settle().await;
        let meter = Meter::new(store.tables.clone());
        let table = Table::new(Arc::new(meter.clone()), "Employees")?;
        let metered = declared(table, world.blobs.clone(), above).kept_by(&world.mover)?;
        let (pages, lists, listed) = (2, 4, 60);
        assert!(metered.verify(world.now()).await?.is_clean());
        assert_eq!(meter.report().total().transactions, pages + 2 * lists + listed);
        let before = meter.report();
        assert_eq!(metered.build(world.now()).await?.written, 0);
        assert_eq!((meter.report() - before).total().transactions, 1 + lists);
    }
    Ok(())
}

/// A writer that dies at any call leaves what a worker will do; none of it is wrong before that. Where the queue is
/// lost too, it is found once it is overdue.
#[tokio::test(start_paused = true)]
async fn a_change_on_its_way_is_in_flight_and_a_lost_one_is_repaired() {
    let mut in_flight = 0;
    for (call, queue_is_lost) in (1..).flat_map(|call| [(call, false), (call, true)]) {
        let store = memory();
        let world = World::new(&store, NO_BLOBS).await;
        world.employees.insert(&employee(1)).await.unwrap();
        world.settle().await;
        let plan = FaultPlan::new(FaultOptions::default().with_death(call, FaultMoment::After));
        let tables: Arc<dyn TableStore> = Arc::new(Fault::new(store.tables.clone(), plan.clone()));
        let (dying, _) = kept((tables, store.queues.clone(), world.blobs.clone()), NO_BLOBS).await.unwrap();
        let change = |jones: &mut Employee| {
            jones.city = "Bonn".into();
            jones.team = None;
        };
        drop(dying.update(key(1), change).await);
        let report = world.employees.verify(world.now()).await.unwrap();
        assert!(report.is_clean(), "call {call}: {:#?}", report.findings);
        in_flight += u32::from(report.in_flight > 0);
        if queue_is_lost {
            let moves = table_core::QueueName::new("moves").unwrap();
            store.queues.delete_queue(&moves).await.unwrap();
            store.queues.create_queue(&moves).await.unwrap();
            store.clock.advance(GRACE * 3);
            for _ in 0..2 {
                let report = world.employees.verify(world.now()).await.unwrap();
                let repaired = world.employees.repair_with(&report, world.now()).await.unwrap();
                assert_eq!(repaired.left, [], "call {call}");
            }
        }
        world.settle().await;
        world.assert_consistent().await;
        if queue_is_lost && !plan.is_dead() {
            break;
        }
    }
    assert!(in_flight > 2, "only {in_flight} changes were on their way");
}

/// The entity moves on between what a repair has read and what it writes.
#[tokio::test]
async fn a_repair_beside_a_writer_leaves_no_orphan() -> Result<()> {
    for store in &our_stores() {
        for list in ["list_Employee:last_name:Jones", "list_Employee:team:Blue"] {
            let world = World::new(store, NO_BLOBS).await;
            world.employees.delete(key(1)).await?;
            world.employees.insert(&employee(1)).await?;
            world.settle().await;
            let beside = list.contains("last_name");
            let at = if beside { EntityKey::parse("Sales", list)? } else { EntityKey::parse(list, "")? };
            write(&world.table, Action::Delete(at, IfMatch::Any)).await;
            let report = world.employees.verify(world.now()).await?;
            assert_eq!(report.count(Wrong::Missing), 1);
            let employees = world.employees.clone();
            let change = |jones: &mut Employee| {
                jones.last_name = "Smith".into();
                jones.team = None;
            };
            let interrupted = Altered::interrupted(store.tables.clone(), async move {
                employees.update(key(1), change).await.unwrap();
            });
            let table = Table::new(Arc::new(interrupted), "Employees")?;
            let repairing = declared(table, world.blobs.clone(), NO_BLOBS).kept_by(&world.mover)?;
            assert_eq!(repairing.repair(&report).await?.mended, 1);
            world.settle().await;
            world.assert_consistent().await;
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn maintenance_runs_beside_writers() -> Result<()> {
    for (store, above) in our_stores().iter().zip([NO_BLOBS, FEW]) {
        let world = World::new(store, above).await;
        store_without_lists(&world, 8).await;
        let writers: Vec<_> = (1..=8)
            .map(|id| {
                let employees = world.employees.clone();
                tokio::spawn(async move {
                    for round in 0..6 {
                        let change = |jones: &mut Employee| {
                            jones.last_name = format!("Jones{round}");
                            jones.team = (round % 3 > 0).then(|| format!("Team{round}"));
                            jones.city = format!("City{}", round % 2);
                        };
                        employees.update(key(id), change).await.unwrap();
                    }
                })
            })
            .collect();
        for _ in 0..4 {
            let options = MaintenanceOptions::default().with_clock(store.clock.clone());
            world.employees.build(options.clone()).await?;
            let report = world.employees.verify(options.clone()).await?;
            world.employees.repair_with(&report, options).await?;
        }
        for writer in writers {
            writer.await.unwrap();
        }
        world.settle().await;
        world.assert_consistent().await;
    }
    Ok(())
}
