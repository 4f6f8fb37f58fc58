use std::sync::Arc;
use std::time::Duration;

use table_core::layer::{Fault, FaultOptions, FaultPlan};
use table_core::{ErrorKind, QueueStore, Result, Table, TableStore};
use table_patterns::Indexed;
use table_tests::pattern::{TASKS, stores};

use super::{Employee, World, employee, key};

const ROUNDS: u32 = 4;

/// Runs a task sixteen times side by side, on stores whose calls take a random while, with workers beside them.
async fn contend<F>(world: &World<'_>, work: impl Fn(u32, Indexed<Employee>) -> F)
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    let delays = FaultOptions::default().with_latency(Duration::ZERO..=Duration::from_millis(1)).with_seed(7);
    let plan = FaultPlan::new(delays);
    let tables: Arc<dyn TableStore> = Arc::new(Fault::new(world.store.tables.clone(), plan.clone()));
    let queues: Arc<dyn QueueStore> = Arc::new(Fault::new(world.store.queues.clone(), plan));
    let mover = super::mover(&tables, &queues).await.unwrap();
    let workers = mover.start();
    let employees = Indexed::kept_by(Table::new(tables, "Employees").unwrap(), &mover).unwrap();
    let tasks: Vec<_> = (0..TASKS).map(|task| tokio::spawn(work(task, employees.clone()))).collect();
    for (number, task) in tasks.into_iter().enumerate() {
        // Leases end and intents are taken up while their writers are at work.
        world.store.clock.advance(super::HIDDEN);
        task.await.unwrap().unwrap_or_else(|error| panic!("task {number} on {}: {error}", world.store.name));
    }
    workers.shutdown().await;
    world.settle().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_update_is_lost_and_no_copy_is_stale() -> Result<()> {
    for store in &stores() {
        let world = World::new(store).await;
        world.employees().insert(&Employee { age: 0, ..employee(1) }).await?;
        contend(&world, |task, employees| async move {
            for round in 0..ROUNDS {
                let change = |jones: &mut Employee| {
                    jones.age += 1;
                    jones.last_name = format!("Jones{task}x{round}");
                    jones.office = Some(format!("Office{}", (task + round) % 3));
                    jones.email = (round % 2 == 0).then(|| format!("t{task}@contoso.com"));
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

/// Everybody wants the same four addresses: each has one owner at the end, and every copy its entity.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_unique_value_never_has_two_owners() -> Result<()> {
    for store in &stores() {
        let world = World::new(store).await;
        contend(&world, |task, employees| async move {
            for round in 0..ROUNDS {
                let wanted = Employee {
                    department: format!("D{task}"),
                    email: Some(format!("wanted{}@contoso.com", (task + round) % 4)),
                    ..employee(task)
                };
                match employees.upsert(&wanted).await {
                    Ok(_) => {}
                    Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::Contention) => {}
                    Err(error) => return Err(error),
                }
                if round % 2 == 1 {
                    employees.delete_by_key(Employee::key(&wanted.department, task)).await?;
                }
            }
            Ok(())
        })
        .await;
        let mut emails: Vec<_> = world.stored().await.into_iter().filter_map(|each| each.email).collect();
        let count = emails.len();
        emails.sort();
        emails.dedup();
        assert_eq!(emails.len(), count, "a value has two owners");
        world.assert_consistent().await;
    }
    Ok(())
}
