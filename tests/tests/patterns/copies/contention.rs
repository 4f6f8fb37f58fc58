use std::sync::Arc;
use std::time::Duration;

use table_core::layer::{Fault, FaultOptions, FaultPlan};
use table_core::{ErrorKind, QueueStore, Result, TableStore};
use table_tests::pattern::{TASKS, our_stores};

use super::{World, department, department_key, employee, key, patient};

const ROUNDS: u32 = 3;

/// Some change their names and back, some leave and come back, some departments change hands, some are new: sixteen tasks
/// on the same rows, on stores whose calls take a random while, with workers beside them.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn copies_stay_in_step_under_contention() -> Result<()> {
    for store in &our_stores() {
        let world = World::prepared(store).await;
        let delays = FaultOptions::default().with_latency(Duration::ZERO..=Duration::from_millis(1)).with_seed(7);
        let plan = FaultPlan::new(delays);
        let tables: Arc<dyn TableStore> = Arc::new(Fault::new(store.tables.clone(), plan.clone()));
        let queues: Arc<dyn QueueStore> = Arc::new(Fault::new(store.queues.clone(), plan));
        let mover = super::mover(&tables, &queues).await?;
        let workers = mover.start();
        let staff = super::staff(&tables, &mover)?.with_options(patient());
        let tasks: Vec<_> = (0..TASKS)
            .map(|task| {
                let staff = staff.clone();
                tokio::spawn(async move {
                    for round in 0..ROUNDS {
                        match task % 4 {
                            0 => drop(staff.update(key(1), |jo| jo.name.push('y')).await?),
                            1 => {
                                let name = if round % 2 == 0 { "New" } else { "Al" };
                                tolerate(staff.update(key(2), |al| al.name = name.into()).await)?;
                            }
                            2 => {
                                let manager = [Some(1), Some(2), None][((task / 4 + round) % 3) as usize];
                                let sales = || department_key("north", "Sales");
                                tolerate(staff.update_target(sales(), |sales| sales.manager = manager).await)?;
                                staff.update_target(sales(), |sales| sales.budget += 1).await?;
                            }
                            _ if task == 3 => {
                                staff.delete(key(2)).await?;
                                staff.insert(&employee(2, "Al")).await?;
                            }
                            _ => {
                                let new = department("south", &format!("New{task}x{round}"), Some(1 + round % 2));
                                tolerate(staff.insert_target(&new).await)?;
                            }
                        }
                    }
                    Ok::<(), table_core::Error>(())
                })
            })
            .collect();
        for (number, task) in tasks.into_iter().enumerate() {
            // Leases end and intents are taken up while their writers are at work.
            store.clock.advance(super::HIDDEN);
            task.await.unwrap().unwrap_or_else(|error| panic!("task {number} on {}: {error}", store.name));
        }
        workers.shutdown().await;
        world.settle().await;
        world.assert_consistent().await;
        let jo = world.employees().await.into_iter().find(|employee| employee.id == 1).unwrap();
        assert_eq!(jo.name.len(), 2 + 4 * ROUNDS as usize, "no change of a name is lost");
        let sales = world.departments().await.into_iter().find(|each| each.region == "north").unwrap();
        assert_eq!(sales.budget, 4 * i64::from(ROUNDS), "no change of a target is lost");
    }
    Ok(())
}

/// A source that another task has just deleted.
fn tolerate<T>(result: Result<T>) -> Result<()> {
    match result {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
