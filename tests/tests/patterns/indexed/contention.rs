use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use table_core::{ErrorKind, Query, Result, Table};
use table_tests::pattern::{TASKS, contend, stores};

use super::{Employee, assert_holds, employee, indexed};

const ROUNDS: u32 = 5;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_update_is_lost_and_no_copy_is_stale() -> Result<()> {
    for store in &stores() {
        let prepare = async |table: Table| {
            indexed(&table).insert(&Employee { age: 0, ..employee(1, "Jones") }).await.unwrap();
        };
        let table = contend(store, prepare, |task, table| async move {
            for round in 0..ROUNDS {
                let change = |jones: &mut Employee| {
                    jones.age += 1;
                    jones.last_name = format!("Jones{task}x{round}");
                    jones.email = (round % 2 == 0).then(|| format!("t{task}@contoso.com"));
                };
                indexed(&table).update(Employee::key("Sales", 1), change).await?;
            }
            Ok(())
        })
        .await;
        let left = table.require(Employee::key("Sales", 1)).await?.into_value();
        assert_eq!(left.age, i32::try_from(TASKS * ROUNDS).unwrap());
        assert_holds(&table, &[left]).await;
    }
    Ok(())
}

/// Everybody wants the same four addresses: each has one owner at the end, and every copy its entity.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_unique_key_never_has_two_owners() -> Result<()> {
    for store in &stores() {
        let table = contend(
            store,
            async |_| (),
            |task, table| async move {
                let employees = indexed(&table);
                for round in 0..ROUNDS {
                    let mut wanted = employee(task, "Jones");
                    wanted.email = Some(format!("wanted{}@contoso.com", (task + round) % 4));
                    match employees.upsert(&wanted).await {
                        Ok(_) => {}
                        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                        Err(error) => return Err(error),
                    }
                    if round % 2 == 1 {
                        employees.delete_by_key(Employee::key("Sales", task)).await?;
                    }
                }
                Ok(())
            },
        )
        .await;
        let all = table.all(Query::<Employee>::all().allow_scan()).await?;
        let left: Vec<Employee> = all.into_iter().map(table_core::Versioned::into_value).collect();
        assert!(!left.is_empty() && left.len() <= 4, "{left:?}");
        assert_holds(&table, &left).await;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_sixteen_inserts_one_succeeds() -> Result<()> {
    for store in &stores() {
        let winners = Arc::new(AtomicU32::new(0));
        let table = contend(
            store,
            async |_| (),
            |task, table| {
                let winners = winners.clone();
                async move {
                    // All want the same address, and half of them the same key.
                    let wanted = Employee { email: Some("one@contoso.com".into()), ..employee(task / 2, "Jones") };
                    match indexed(&table).insert(&wanted).await {
                        Ok(_) => winners.fetch_add(1, Ordering::SeqCst),
                        Err(error) if error.kind() == ErrorKind::AlreadyExists => 0,
                        Err(error) => return Err(error),
                    };
                    Ok(())
                }
            },
        )
        .await;
        assert_eq!(winners.load(Ordering::SeqCst), 1);
        let left = table.require(Employee::by_email("Sales", "one@contoso.com")).await?;
        let left = table.require(left.source_key()).await?.into_value();
        assert_holds(&table, &[left]).await;
    }
    Ok(())
}
