use std::sync::Arc;
use std::time::Duration;

use table_core::{Entity, ErrorKind, Key, Result, Table};
use table_patterns::denormalization::{Denormalized, KeepsCopies, Targets};
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::inter_partition_secondary_index::IntentOptions;
use table_tests::pattern::{TestStore, memory};

use super::{Department, Employee, World};

/// Counts its sources; whether it says so is a matter of the type.
#[derive(Entity, Clone, Debug)]
#[entity(partition = "{name}", row = "counter")]
struct Counter<const NEEDS: bool> {
    name: String,
    employees: i64,
}

impl<const NEEDS: bool> KeepsCopies for Counter<NEEDS> {
    type Source = Employee;
    const NEEDS_TARGET: bool = NEEDS;

    fn targets(employee: &Employee) -> Targets<Self> {
        Self::key(&employee.office).into()
    }

    fn source(&self) -> Option<Key<Employee>> {
        None
    }

    fn take(&mut self, _: Option<&Employee>) {}

    fn count(&mut self, change: i64) {
        self.employees += change;
    }
}

fn tables(store: &TestStore) -> (Table, Table) {
    super::tables(&store.tables).unwrap()
}

#[tokio::test]
async fn counts_across_partitions_are_refused_before_anything_is_written() -> Result<()> {
    let store = memory();
    let (sources, targets) = tables(&store);
    let builder = Mover::builder(Arc::clone(&store.queues), "moves")?;
    // Both types are called Counter, and have one handler.
    let builder = builder.keep_copies::<Counter<true>>(&sources, &targets).keep_indexes::<Employee>(&sources);
    let mover = builder.build().await?;
    let error = Denormalized::<Counter<true>>::kept_by(sources.clone(), targets.clone(), &mover).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("Denormalized::new"), "{error}");

    // A type that does not say so is found out by its first target.
    let pair = Denormalized::<Counter<false>>::kept_elsewhere(sources, targets.clone(), &mover)?;
    pair.create_if_missing().await?;
    let error = pair.insert_target(&Counter { name: "Sales".into(), employees: 0 }).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(targets.get(Counter::<false>::key("Sales")).await?.is_none());
    targets.insert(&Counter::<false> { name: "Sales".into(), employees: 0 }).await?;
    let error = pair.update_target(Counter::key("Sales"), |_| ()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(mover.progress().await?.queued, 0);
    Ok(())
}

#[tokio::test]
async fn it_takes_a_mover_that_keeps_these_copies() -> Result<()> {
    let store = memory();
    let (sources, targets) = tables(&store);
    let idle = Mover::builder(Arc::clone(&store.queues), "idle")?.build().await?;
    let error = Denormalized::<Department>::kept_by(sources.clone(), targets.clone(), &idle).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("keep_copies::<Department>"), "{error}");
    Denormalized::<Department>::kept_elsewhere(sources.clone(), targets.clone(), &idle)?;

    // The other way round is another pair.
    let builder = Mover::builder(Arc::clone(&store.queues), "moves")?;
    let turned = builder.keep_copies::<Department>(&targets, &sources).build().await?;
    Denormalized::<Department>::kept_by(sources.clone(), targets.clone(), &turned).unwrap_err();

    let builder = Mover::builder(Arc::clone(&store.queues), "moves")?;
    let without_indexes = builder.keep_copies::<Department>(&sources, &targets).build().await?;
    let error = Denormalized::<Department>::kept_by(sources, targets, &without_indexes).unwrap_err();
    assert!(error.message().contains("keep_indexes::<Employee>"), "{error}");
    Ok(())
}

#[tokio::test]
async fn times_that_do_not_fit_are_refused() -> Result<()> {
    let store = memory();
    let world = World::new(&store).await;
    let day = Duration::from_secs(24 * 60 * 60);
    for options in [IntentOptions::default().with_grace(day * 8), IntentOptions::default().with_hidden(day / 3)] {
        assert_eq!(world.staff().with_intents(options).unwrap_err().kind(), ErrorKind::LimitExceeded);
    }
    world.staff().with_intents(IntentOptions::default().with_grace(day / 2))?;
    Ok(())
}

/// Reads everything for each change, which nobody asked for.
#[derive(Entity, Clone, Debug)]
#[entity(partition = "{name}", row = "note")]
struct Note {
    name: String,
    text: String,
}

impl KeepsCopies for Note {
    type Source = Employee;

    fn targets(_: &Employee) -> Targets<Self> {
        table_core::Query::<Self>::all().into()
    }

    fn source(&self) -> Option<Key<Employee>> {
        None
    }

    fn take(&mut self, _: Option<&Employee>) {}
}

#[tokio::test]
async fn a_scan_for_targets_is_refused_unless_it_is_allowed() -> Result<()> {
    let store = memory();
    let world = World::prepared(&store).await;
    let (sources, targets) = tables(&store);
    let notes = Denormalized::<Note>::kept_elsewhere(sources.clone(), targets, &world.mover)?;
    let error = notes.update(super::key(1), |jo| jo.name.push('y')).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ScanRefused);
    assert_eq!(sources.require(super::key(1)).await?.name, "Jo", "nothing is written");
    Ok(())
}
