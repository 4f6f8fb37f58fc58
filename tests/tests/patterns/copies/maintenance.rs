//! Building, checking and repairing copies across partitions; those in one partition are with their pattern.

use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan};
use table_core::{Action, DynamicEntity, Entity, IfMatch, Operation, Result, Table};
use table_patterns::Indexed;
use table_patterns::maintenance::{Finding, Maintained, Wrong};
use table_tests::pattern::{memory, our_stores};

use super::{Department, GRACE, World, department, department_key, employee, key};

/// Stores a target as a program does that knows nothing of its source.
async fn put(table: &Table, department: &Department) {
    Indexed::<Department>::new(table.clone()).unwrap().upsert(department).await.unwrap();
}

fn managed(region: &str, name: &str, manager: Option<u32>, manager_name: Option<&str>) -> Department {
    Department { manager_name: manager_name.map(Into::into), ..department(region, name, manager) }
}

fn told(findings: &[Finding]) -> Vec<(Wrong, String, String, Option<String>)> {
    let told = |each: &Finding| {
        let source = each.source.as_ref().map(ToString::to_string);
        (each.wrong, each.copy.clone(), each.key.to_string(), source)
    };
    let mut told: Vec<_> = findings.iter().map(told).collect();
    told.sort();
    told
}

/// One of each, beside three that are right.
async fn damaged(store: &table_tests::pattern::TestStore) -> World<'_> {
    let world = World::prepared(store).await;
    let table = world.staff().table().clone();
    put(&table, &managed("north", "Missing", Some(1), None)).await;
    put(&table, &managed("north", "Stale", Some(1), Some("Old"))).await;
    put(&table, &managed("north", "Orphaned", Some(9), Some("Gone"))).await;
    put(&table, &managed("north", "Unnamed", None, Some("Nobody"))).await;
    world
}

#[tokio::test]
async fn a_check_finds_exactly_what_is_wrong_and_a_repair_mends_it() -> Result<()> {
    for store in &our_stores() {
        let world = damaged(store).await;
        let staff = world.staff();
        let report = staff.verify(world.now()).await?;
        let found = told(&report.findings);
        let of = |wrong, name: &str, source: &Option<String>| {
            let key = department_key("north", name).resolve().unwrap().to_string();
            (wrong, "Department".to_owned(), key, source.clone())
        };
        let (jo, gone) = (Some(key(1).resolve()?.to_string()), Some(key(9).resolve()?.to_string()));
        let mut expected = vec![
            of(Wrong::Missing, "Missing", &jo),
            of(Wrong::Stale, "Stale", &jo),
            of(Wrong::Orphaned, "Orphaned", &gone),
            of(Wrong::Orphaned, "Unnamed", &None),
        ];
        expected.sort();
        assert_eq!(found, expected);
        assert_eq!((report.sources, report.copies), (2, 7));

        let repaired = staff.repair(&report).await?;
        assert_eq!((repaired.mended, repaired.left), (4, Vec::new()));
        world.assert_consistent().await;
    }
    Ok(())
}

#[tokio::test]
async fn a_build_gives_existing_targets_their_copies() -> Result<()> {
    for store in &our_stores() {
        let world = damaged(store).await;
        let built = world.staff().build(world.now()).await?;
        assert_eq!((built.copies, built.written), (7, 4));
        assert!(built.is_clean());
        world.assert_consistent().await;
        assert_eq!(world.staff().build(world.now()).await?.written, 0, "what is right is not written");
    }
    Ok(())
}

/// A writer that died after its transaction: its copies are not wrong, but on their way, until nobody comes for them.
#[tokio::test]
async fn what_is_on_its_way_is_not_reported_and_what_is_left_over_is() -> Result<()> {
    for is_of_source in [true, false] {
        let store = memory();
        let world = World::prepared(&store).await;
        let death = if is_of_source { 2 } else { 3 };
        let plan = FaultPlan::new(FaultOptions::default().with_death(death, FaultMoment::After));
        let tables = std::sync::Arc::new(Fault::new(store.tables.clone(), plan.clone())) as _;
        let dying = super::staff(&tables, &world.mover)?;
        let sales = || department_key("north", "Sales");
        if is_of_source {
            drop(dying.update(key(1), |jo| jo.name = "Joanna".into()).await);
        } else {
            drop(dying.update_target(sales(), |sales| sales.manager = Some(2)).await);
            // Its source has changed meanwhile, and the change has missed it.
            let row = DynamicEntity { etag: None, ..employee(2, "Alan").to_row()? };
            let table = world.staff().sources().clone();
            let merge = Operation::new(Action::Merge(row, IfMatch::Any))?;
            table.store().write(table.name(), merge).await?;
        }
        assert!(plan.is_dead());
        let report = world.staff().verify(world.now()).await?;
        assert!(report.is_clean(), "{:#?}", report.findings);
        assert_eq!(report.in_flight, if is_of_source { 2 } else { 1 });

        // Its message is lost, and a check comes much later.
        let queue = table_core::QueueName::new("moves")?;
        store.queues.delete_queue(&queue).await?;
        store.queues.create_queue(&queue).await?;
        store.clock.advance(GRACE * 3);
        let report = world.staff().verify(world.now()).await?;
        assert_eq!(report.count(Wrong::Leftover), 1, "{:#?}", report.findings);
        assert_eq!(report.count(Wrong::Stale), if is_of_source { 2 } else { 1 });
        let leftover = report.findings.iter().find(|finding| finding.wrong == Wrong::Leftover).unwrap();
        assert!(leftover.copy == "~intent" && !leftover.to_string().is_empty());
        // The indexes of the same rows have nothing to do with it.
        let table = world.staff().table().clone();
        let indexes = Indexed::<Department>::new(table)?.verify(world.now()).await?;
        assert_eq!(indexes.count(Wrong::Leftover), 0, "{:#?}", indexes.findings);
        let repaired = world.staff().repair_with(&report, world.now()).await?;
        assert_eq!(repaired.left, Vec::new());
        world.assert_consistent().await;
    }
    Ok(())
}

/// Beside writers a check finds nothing wrong, since nothing is.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_check_beside_writers_finds_nothing() -> Result<()> {
    for store in &our_stores() {
        let world = World::prepared(store).await;
        let (renaming, pointing) = (world.staff().with_options(super::patient()), world.staff());
        let writers = [
            tokio::spawn(async move {
                for round in 0..40 {
                    renaming.update(key(1), |jo| jo.name = format!("Jo{round}")).await?;
                }
                Ok::<(), table_core::Error>(())
            }),
            tokio::spawn(async move {
                let pointing = pointing.with_options(super::patient());
                for round in 0..40 {
                    let it = department_key("south", "IT");
                    pointing.update_target(it, |it| it.manager = Some(1 + round % 2)).await?;
                }
                Ok(())
            }),
        ];
        while !writers.iter().all(tokio::task::JoinHandle::is_finished) {
            let report = world.staff().verify(world.now()).await?;
            assert!(report.is_clean(), "{report}: {:#?}", report.findings);
            tokio::task::yield_now().await;
        }
        for writer in writers {
            writer.await.unwrap()?;
        }
        world.settle().await;
        world.assert_consistent().await;
    }
    Ok(())
}

/// What a source that cannot be read says is unknown; its targets are left as they are, and all else is looked at.
#[tokio::test]
async fn a_source_that_cannot_be_read_does_not_end_the_pass() -> Result<()> {
    for store in &our_stores() {
        let world = damaged(store).await;
        let staff = world.staff();
        let bad = employee(1, "Jo").to_row()?.with("EntityVersion", 9)?;
        let write = Operation::new(Action::InsertOrReplace(bad))?;
        staff.sources().store().write(staff.sources().name(), write).await?;
        let report = staff.verify(world.now()).await?;
        assert_eq!((report.count(Wrong::Unreadable), report.count(Wrong::Orphaned), report.findings.len()), (1, 2, 3));
        let built = staff.build(world.now()).await?;
        let at = key(1).resolve()?;
        assert!(
            !built.is_clean() && built.findings.iter().all(|each| each.wrong == Wrong::Unreadable && each.key == at)
        );
        let report = staff.verify(world.now()).await?;
        assert_eq!(report.findings.len(), 1);
    }
    Ok(())
}
