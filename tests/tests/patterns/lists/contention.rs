use std::sync::Arc;
use std::time::Duration;

use table_core::Result;
use table_core::layer::{Fault, FaultOptions, FaultPlan};
use table_patterns::{IndexEntities, UpdateOptions};
use table_tests::pattern::{TASKS, our_stores};

use super::{Employee, FEW, NO_BLOBS, World, employee, kept, key};

const ROUNDS: u32 = 3;

/// Runs a task sixteen times side by side, on stores whose calls take a random while, with workers beside them.
async fn contend<F>(world: &World<'_>, work: impl Fn(u32, IndexEntities<Employee>) -> F)
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    let delays = FaultOptions::default().with_latency(Duration::ZERO..=Duration::from_millis(1)).with_seed(7);
    let plan = FaultPlan::new(delays);
    let tables = Arc::new(Fault::new(world.store.tables.clone(), plan.clone()));
    let queues = Arc::new(Fault::new(world.store.queues.clone(), plan));
    let (lists, mover) = kept((tables, queues, world.blobs.clone()), world.above).await.unwrap();
    let lists = lists.with_options(UpdateOptions::default().with_attempts(500));
    let workers = mover.start();
    let tasks: Vec<_> = (0..TASKS).map(|task| tokio::spawn(work(task, lists.clone()))).collect();
    for (number, task) in tasks.into_iter().enumerate() {
        // Leases end and intents are taken up while their writers are at work.
        world.store.clock.advance(super::HIDDEN);
        task.await.unwrap().unwrap_or_else(|error| panic!("task {number} on {}: {error}", world.store.name));
    }
    workers.shutdown().await;
    world.settle().await;
}

/// All entities walk between three lists of each sort, and back.
async fn sixteen_in_the_same_lists(above: usize) -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store, above).await;
        contend(&world, |task, employees| async move {
            employees.insert(&employee(task)).await?;
            for round in 0..ROUNDS {
                let name = ["Smith", "Jones", "Baker"][usize::try_from(task + round).unwrap() % 3];
                let change = |jones: &mut Employee| {
                    jones.city = name.into();
                    jones.team = (round != 1).then(|| name.into());
                    jones.last_name = name.into();
                };
                employees.update(key(task), change).await?;
            }
            if task % 4 == 0 {
                employees.delete(key(task)).await?;
            }
            Ok(())
        })
        .await;
        assert_eq!(world.stored().await.len(), 12);
        world.assert_consistent().await;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn lists_in_rows_stay_in_step() -> Result<()> {
    sixteen_in_the_same_lists(NO_BLOBS).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn lists_that_move_to_blobs_and_back_stay_in_step() -> Result<()> {
    sixteen_in_the_same_lists(FEW).await
}

/// All tasks change one entity, so that it walks from list to list.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_update_of_a_listed_entity_is_lost() -> Result<()> {
    for store in &our_stores() {
        let world = World::new(store, NO_BLOBS).await;
        world.employees.insert(&Employee { age: 0, ..employee(1) }).await?;
        contend(&world, |task, employees| async move {
            for round in 0..ROUNDS {
                let change = |jones: &mut Employee| {
                    jones.age += 1;
                    jones.city = format!("City{}", (task + round) % 3);
                    jones.team = (round % 2 == 0).then(|| format!("Team{}", task % 2));
                };
                employees.update(key(1), change).await?;
            }
            Ok(())
        })
        .await;
        assert_eq!(world.stored().await[0].age, i32::try_from(TASKS * ROUNDS).unwrap());
        world.assert_consistent().await;
    }
    Ok(())
}
