//! Building, checking and repairing indexes of both sorts.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan};
use table_core::{Action, DynamicEntity, Entity, EntityKey, ErrorKind, IfMatch, Operation, Result, Table, TableStore};
use table_patterns::Indexed;
use table_patterns::maintenance::{Cursor, Finding, Maintained, MaintenanceOptions, Wrong};
use table_tests::pattern::{Altered, memory, our_stores};

use super::{Employee, GRACE, World, employee, key};

async fn write(table: &Table, action: Action) {
    table.store().write(table.name(), Operation::new(action).unwrap()).await.unwrap();
}

/// Stores the entities alone, as a program does that knows nothing of their indexes.
async fn store_without_copies(world: &World<'_>, count: u32) {
    for id in 1..=count {
        write(&world.table, Action::Insert(employee(id).to_row().unwrap())).await;
    }
}

fn directory(world: &World<'_>) -> Table {
    world.table.sibling("EmployeesByEmail").unwrap()
}

#[tokio::test]
async fn a_build_gives_existing_rows_their_copies() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        store_without_copies(&world, 5).await;
        let built = world.employees().build(world.now()).await?;
        assert_eq!((built.sources, built.written), (5, 15));
        assert!(built.is_clean());
        world.assert_consistent().await;
        let again = world.employees().build(world.now()).await?;
        assert_eq!((again.sources, again.written), (5, 0), "what is right is not written");
    }
    Ok(())
}

#[tokio::test]
async fn a_build_goes_on_from_a_stored_cursor() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        store_without_copies(&world, 7).await;
        let cursors: Arc<Mutex<Vec<Option<Cursor>>>> = Arc::default();
        let noted = cursors.clone();
        // Pages of two rows, with twelve calls each; it breaks off in the second.
        let plan = FaultPlan::new(FaultOptions::default().with_death(30, FaultMoment::Before));
        let tables: Arc<dyn TableStore> = Arc::new(Fault::new(store.tables.clone(), plan));
        let broken = Indexed::<Employee>::kept_by(Table::new(tables, "Employees")?, &world.mover)?;
        let options = world.now().with_rows_per_second(2).with_concurrency(1);
        let options = options.with_progress(move |progress| noted.lock().unwrap().push(progress.cursor));
        tokio::time::pause();
        broken.build(options).await.unwrap_err();
        let cursor = cursors.lock().unwrap().last().cloned().flatten();
        let stored = serde_json::to_string(&cursor.expect("a page was done")).unwrap();
        let cursor: Cursor = serde_json::from_str(&stored).unwrap();
        let rest = world.employees().build(world.now().from(Some(cursor))).await?;
        tokio::time::resume();
        assert!(rest.sources == 5, "it began anew: {rest}");
        world.assert_consistent().await;
    }
    Ok(())
}

#[tokio::test]
async fn a_cursor_of_another_pass_is_refused() -> Result<()> {
    let store = memory();
    let world = World::new(&store).await;
    let cursor: Cursor = serde_json::from_str(r#"{"table":"Others","after":null}"#).unwrap();
    let error = world.employees().verify(world.now().from(Some(cursor))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidQuery);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_pass_keeps_to_its_rate() -> Result<()> {
    let store = memory();
    let world = World::new(&store).await;
    store_without_copies(&world, 25).await;
    let began = tokio::time::Instant::now();
    let built = world.employees().build(world.now().with_rows_per_second(10)).await?;
    let fastest = Duration::from_secs(built.rows / 10 - 1);
    let took = began.elapsed();
    assert!(built.rows > 25 && took >= fastest && took < fastest + Duration::from_secs(2), "{took:?}");
    Ok(())
}

/// What was found, without what differs between two runs.
fn told(findings: &[Finding]) -> Vec<(Wrong, String, String)> {
    let mut told: Vec<_> = findings.iter().map(|each| (each.wrong, each.copy.clone(), each.key.to_string())).collect();
    told.sort();
    told
}

fn told_so(findings: &[(Wrong, &str, &str)]) -> Vec<(Wrong, String, String)> {
    let mut told: Vec<_> = findings.iter().map(|(wrong, copy, key)| (*wrong, (*copy).into(), (*key).into())).collect();
    told.sort();
    told
}

/// One of each: a change of the rows that no pattern would make.
async fn damage(world: &World<'_>) {
    let (table, directory) = (&world.table, directory(world));
    for id in 1..=6 {
        world.employees().insert(&employee(id)).await.unwrap();
    }
    let copy = |id: u32, index: usize| employee(id).index_row(index).unwrap().unwrap();
    // 1: missing in the partition and elsewhere.
    write(table, Action::Delete(copy(1, 0).key, IfMatch::Any)).await;
    write(&directory, Action::Delete(copy(1, 1).key, IfMatch::Any)).await;
    // 2: old fields in the partition and elsewhere.
    for (place, index) in [(table, 0), (&directory, 1)] {
        let stale = DynamicEntity::new(copy(2, index).key).with("FirstName", "Old").unwrap();
        write(place, Action::Merge(stale, IfMatch::Any)).await;
    }
    // 3: the entity has moved on to other keys; the new copies are missing, the old ones stale.
    let moved = Employee { last_name: "Smith".into(), office: Some("South".into()), ..employee(3) };
    write(table, Action::Replace(moved.to_row().unwrap(), IfMatch::Any)).await;
    // 4: the entity is gone.
    write(table, Action::Delete(key(4).resolve().unwrap(), IfMatch::Any)).await;
    // 5 wants what 6 has.
    let greedy = Employee { email: employee(6).email, ..employee(5) };
    write(table, Action::Replace(greedy.to_row().unwrap(), IfMatch::Any)).await;
}

#[tokio::test]
async fn a_report_names_exactly_what_is_wrong() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        damage(&world).await;
        let report = world.employees().verify(world.now()).await?;
        let expected = told_so(&[
            (Wrong::Missing, "last_name", "(Sales, lname_Jones_000001)"),
            (Wrong::Missing, "directory", "(e1@contoso.com, )"),
            (Wrong::Stale, "last_name", "(Sales, lname_Jones_000002)"),
            (Wrong::Stale, "directory", "(e2@contoso.com, )"),
            (Wrong::Missing, "last_name", "(Sales, lname_Smith_000003)"),
            (Wrong::Stale, "last_name", "(Sales, lname_Jones_000003)"),
            // The directory does not hold the last name; the office does, and its key has changed too.
            (Wrong::Missing, "office", "(office_South, at_Sales_000003)"),
            (Wrong::Stale, "office", "(office_North, at_Sales_000003)"),
            (Wrong::Orphaned, "last_name", "(Sales, lname_Jones_000004)"),
            (Wrong::Orphaned, "directory", "(e4@contoso.com, )"),
            (Wrong::Orphaned, "office", "(office_North, at_Sales_000004)"),
            (Wrong::Doubled, "directory", "(e6@contoso.com, )"),
            (Wrong::Stale, "directory", "(e5@contoso.com, )"),
        ]);
        assert_eq!(told(&report.findings), expected, "{report}");
        assert_eq!((report.sources, report.in_flight), (5, 0));
        let few = world.employees().verify(world.now().with_most_findings(3)).await?;
        assert_eq!((few.findings.len(), few.omitted), (3, 10));
        assert!(!few.is_clean());
    }
    Ok(())
}

#[tokio::test]
async fn a_repair_mends_all_that_needs_no_decision() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        damage(&world).await;
        let report = world.employees().verify(world.now()).await?;
        let repaired = world.employees().repair(&report).await?;
        assert_eq!(repaired.mended, 12);
        assert_eq!(told(&repaired.left), told_so(&[(Wrong::Doubled, "directory", "(e6@contoso.com, )")]));
        world.employees().update(key(5), |greedy| greedy.email = None).await?;
        world.settle().await;
        world.assert_consistent().await;
        assert_eq!(world.employees().repair(&report).await?.mended, 13, "what is mended stays so");
        world.settle().await;
        world.assert_consistent().await;
    }
    Ok(())
}

#[tokio::test]
async fn what_another_type_or_table_keeps_is_left_alone() -> Result<()> {
    let store = memory();
    let world = World::new(&store).await;
    world.employees().insert(&employee(1)).await?;
    let others = [
        DynamicEntity::new(EntityKey::parse("Sales", "note")?).with("Text", "hello")?,
        DynamicEntity::new(EntityKey::parse("Sales", "copy")?)
            .with("EntityType", "Contractor")?
            .with("RowKind", "index:last_name")?,
        DynamicEntity::new(EntityKey::parse("c1@contoso.com", "")?)
            .with("EntityType", "Employee")?
            .with("RowKind", "index:directory")?
            .with("RowOwner", "contractors/Sales/empid_000001")?,
    ];
    for (place, row) in [world.table.clone(), world.table.clone(), directory(&world)].iter().zip(others) {
        write(place, Action::Insert(row)).await;
    }
    let report = world.employees().verify(world.now()).await?;
    assert!(report.is_clean(), "{:?}", report.findings);
    assert!(world.employees().build(world.now()).await?.is_clean());
    Ok(())
}

#[tokio::test]
async fn a_row_that_is_not_what_its_type_says_is_reported_and_left() -> Result<()> {
    let store = memory();
    let world = World::new(&store).await;
    let bad = employee(1).to_row()?.with("Age", "forty")?;
    write(&world.table, Action::Insert(bad)).await;
    let report = world.employees().verify(world.now()).await?;
    assert_eq!(told(&report.findings), told_so(&[(Wrong::Unreadable, "", "(Sales, empid_000001)")]));
    let built = world.employees().build(world.now()).await?;
    assert_eq!((built.findings.len(), built.written), (1, 0));
    assert_eq!(world.employees().repair(&report).await?.mended, 0);
    Ok(())
}

#[tokio::test]
async fn an_entity_with_copies_that_cannot_be_read_does_not_end_the_pass() -> Result<()> {
    let store = memory();
    let world = World::new(&store).await;
    for id in 1..=3 {
        world.employees().insert(&employee(id)).await?;
    }
    world.settle().await;
    let newer = employee(2).to_row()?.with("EntityVersion", 9)?;
    for bad in [employee(1).to_row()?.with("Age", "forty")?, newer] {
        write(&world.table, Action::InsertOrReplace(bad)).await;
    }
    write(&world.table, Action::Delete(employee(3).entity_key()?, IfMatch::Any)).await;
    let report = world.employees().verify(world.now()).await?;
    assert_eq!((report.count(Wrong::Unreadable), report.count(Wrong::Orphaned), report.findings.len()), (2, 3, 5));
    assert_eq!(world.employees().repair(&report).await?.mended, 3);
    Ok(())
}

#[tokio::test]
async fn a_value_that_fits_no_key_of_an_index_does_not_end_the_pass() -> Result<()> {
    let store = memory();
    let world = World::new(&store).await;
    store_without_copies(&world, 2).await;
    let long = Employee { last_name: "x".repeat(600), ..employee(3) };
    write(&world.table, Action::Insert(long.to_row()?)).await;
    assert_eq!(world.employees().verify(world.now()).await?.count(Wrong::Missing), 8);
    assert_eq!(world.employees().build(world.now()).await?.written, 8);
    assert!(world.employees().verify(world.now()).await?.is_clean());
    Ok(())
}

/// A writer that dies at any call leaves what a worker will do; none of it is wrong before that.
#[tokio::test(start_paused = true)]
async fn a_change_on_its_way_is_in_flight_and_not_wrong() {
    let mut in_flight = 0;
    for call in 1.. {
        let store = memory();
        let world = World::new(&store).await;
        world.employees().insert(&employee(1)).await.unwrap();
        let plan = FaultPlan::new(FaultOptions::default().with_death(call, FaultMoment::After));
        let tables: Arc<dyn TableStore> = Arc::new(Fault::new(store.tables.clone(), plan.clone()));
        let dying = Indexed::<Employee>::kept_by(Table::new(tables, "Employees").unwrap(), &world.mover).unwrap();
        let change = |jones: &mut Employee| {
            jones.email = Some("new@contoso.com".into());
            jones.office = None;
        };
        drop(dying.update(key(1), change).await);
        let report = world.employees().verify(world.now()).await.unwrap();
        assert!(report.is_clean(), "call {call}: {:#?}", report.findings);
        in_flight += u32::from(report.in_flight > 0);
        world.settle().await;
        world.assert_consistent().await;
        if !plan.is_dead() {
            break;
        }
    }
    assert!(in_flight > 2, "only {in_flight} changes were on their way");
}

/// The queue was lost, and with it all messages: what they would have mended is found once it is overdue.
#[tokio::test(start_paused = true)]
async fn what_lost_messages_left_is_found_and_repaired() {
    for call in 1.. {
        let store = memory();
        let world = World::new(&store).await;
        world.employees().insert(&employee(1)).await.unwrap();
        let plan = FaultPlan::new(FaultOptions::default().with_death(call, FaultMoment::After));
        let tables: Arc<dyn TableStore> = Arc::new(Fault::new(store.tables.clone(), plan.clone()));
        let dying = Indexed::<Employee>::kept_by(Table::new(tables, "Employees").unwrap(), &world.mover).unwrap();
        let change = |jones: &mut Employee| {
            jones.email = Some("new@contoso.com".into());
            jones.office = None;
        };
        drop(dying.update(key(1), change).await);
        let moves = table_core::QueueName::new("moves").unwrap();
        store.queues.delete_queue(&moves).await.unwrap();
        store.queues.create_queue(&moves).await.unwrap();
        store.clock.advance(GRACE * 3);
        for _ in 0..2 {
            let report = world.employees().verify(world.now()).await.unwrap();
            let repaired = world.employees().repair_with(&report, world.now()).await.unwrap();
            assert_eq!(repaired.left, [], "call {call}");
        }
        world.settle().await;
        world.assert_consistent().await;
        if !plan.is_dead() {
            break;
        }
    }
}

/// The entity moves on between what a repair has read and what it writes.
#[tokio::test]
async fn a_repair_beside_a_writer_leaves_no_orphan() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        world.employees().insert(&employee(1)).await?;
        let missing = employee(1).index_row(0)?.unwrap().key;
        write(&world.table, Action::Delete(missing, IfMatch::Any)).await;
        let report = world.employees().verify(world.now()).await?;
        assert_eq!(report.count(Wrong::Missing), 1);
        let employees = world.employees();
        let interrupted = Altered::interrupted(store.tables.clone(), async move {
            employees.update(key(1), |jones| jones.last_name = "Smith".into()).await.unwrap();
        });
        let table = Table::new(Arc::new(interrupted), "Employees")?;
        let repairing = Indexed::<Employee>::kept_by(table, &world.mover)?;
        assert_eq!(repairing.repair(&report).await?.mended, 1);
        world.settle().await;
        world.assert_consistent().await;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn maintenance_runs_beside_writers() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store).await;
        store_without_copies(&world, 8).await;
        let writers: Vec<_> = (1..=8)
            .map(|id| {
                let employees = world.employees();
                tokio::spawn(async move {
                    for round in 0..6 {
                        let change = |jones: &mut Employee| {
                            jones.last_name = format!("Jones{round}");
                            jones.office = (round % 3 > 0).then(|| format!("Office{round}"));
                            jones.email = Some(format!("e{id}x{}@contoso.com", round % 2));
                        };
                        employees.update(key(id), change).await.unwrap();
                    }
                })
            })
            .collect();
        for _ in 0..5 {
            let options = MaintenanceOptions::default().with_clock(store.clock.clone());
            world.employees().build(options.clone()).await?;
            let report = world.employees().verify(options.clone()).await?;
            world.employees().repair_with(&report, options).await?;
        }
        for writer in writers {
            writer.await.unwrap();
        }
        world.settle().await;
        world.assert_consistent().await;
    }
    Ok(())
}
