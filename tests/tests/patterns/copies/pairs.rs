//! Two pairs that copy from the same source: neither sees to what the other has begun.

use std::sync::Arc;

use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan};
use table_core::{Entity, Key, Result, Table, TableStore};
use table_patterns::denormalization::{Denormalized, KeepsCopies, Targets};
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::maintenance::{Maintained, Wrong};
use table_tests::pattern::our_stores;

use super::{Employee, GRACE, World, key};

/// Copies another field of an employee than a department does.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "badges", row = "badge_{number}")]
struct Badge {
    number: u32,
    employee: u32,
    email: Option<String>,
}

impl KeepsCopies for Badge {
    type Source = Employee;

    fn targets(_: &Employee) -> Targets<Self> {
        Self::range().query().into()
    }

    fn source(&self) -> Option<Key<Employee>> {
        Some(key(self.employee))
    }

    fn take(&mut self, employee: Option<&Employee>) {
        self.email = employee.map(|employee| employee.email.clone());
    }
}

fn badges(tables: &Arc<dyn TableStore>) -> Result<(Table, Table)> {
    Ok((Table::new(Arc::clone(tables), "Employees")?, Table::new(Arc::clone(tables), "Badges")?))
}

/// A writer of one pair died after its transaction, and for days no worker ran.
#[tokio::test]
async fn a_repair_leaves_the_overdue_intent_of_another_pair_to_its_worker() -> Result<()> {
    for is_of_source in [true, false] {
        for store in &our_stores() {
            let world = World::prepared(store).await;
            let (employees, table) = badges(&store.tables)?;
            let builder = Mover::builder(store.queues.clone(), "badges")?.keep_indexes::<Employee>(&employees);
            let mover = builder.keep_copies::<Badge>(&employees, &table).build().await?;
            let healthy = Denormalized::<Badge>::kept_by(employees, table.clone(), &mover)?;
            healthy.create_if_missing().await?;
            healthy.insert_target(&Badge { number: 7, employee: 1, email: None }).await?;

            let death = FaultOptions::default().with_death(if is_of_source { 2 } else { 3 }, FaultMoment::After);
            let plan = FaultPlan::new(death);
            let tables: Arc<dyn TableStore> = Arc::new(Fault::new(store.tables.clone(), plan.clone()));
            let (employees, dying) = badges(&tables)?;
            let dying = Denormalized::<Badge>::kept_by(employees, dying, &mover)?;
            if is_of_source {
                drop(dying.update(key(1), |jo| jo.age += 1).await);
            } else {
                drop(dying.update_target(Badge::key(7), |badge| badge.employee = 2).await);
            }
            assert!(plan.is_dead());
            store.clock.advance(GRACE * 3);

            let report = world.staff().verify(world.now()).await?;
            assert_eq!(report.findings, [], "what another pair has begun is nothing of this one");
            world.staff().repair_with(&report, world.now()).await?;
            let report = healthy.verify(world.now()).await?;
            assert_eq!(report.count(Wrong::Leftover), 1, "{:#?}", report.findings);

            // Its own worker still does what is to be done: what the intent was for has changed meanwhile.
            let changed = if is_of_source { 1 } else { 2 };
            let mut employee = world.staff().sources().require(key(changed)).await?;
            employee.email = format!("new{changed}@contoso.com");
            table_patterns::Indexed::<Employee>::kept_by(world.staff().sources().clone(), &world.mover)?
                .replace(&mut employee)
                .await?;
            super::settle(store, &mover).await;
            let badge = table.require(Badge::key(7)).await?;
            assert_eq!(badge.email.as_ref(), Some(&employee.email), "{is_of_source}");
            super::settle(store, &world.mover).await;
            world.assert_consistent().await;
            assert_eq!(healthy.verify(world.now()).await?.findings, []);
        }
    }
    Ok(())
}
