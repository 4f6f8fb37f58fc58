use futures_util::stream;
use table_core::{LoadOptions, Result, Table};
use table_tests::pattern::{Faults, rows};

use super::{Employee, employee, indexed};

async fn two(table: Table) {
    for id in [1, 2] {
        indexed(&table).insert(&employee(id, "Jones")).await.unwrap();
    }
}

/// Runs one change with every fault, and says how often a caller that repeats was left in doubt.
async fn undecided(act: impl AsyncFn(Table) -> Result<()>) -> u32 {
    let faults = Faults { prepare: two, act, state: async |table: Table| rows(&table).await };
    let report = faults.everywhere().await;
    assert!(report.runs >= 9, "one call, three moments, three callers");
    report.undecided
}

#[tokio::test]
async fn an_insert_happens_or_not() {
    let insert = async |table: Table| indexed(&table).insert(&employee(3, "Smith")).await.map(|_| ());
    assert_eq!(undecided(insert).await, 0);
}

#[tokio::test]
async fn a_load_happens_or_not() {
    let load = async |table: Table| {
        let new = stream::iter([employee(3, "Smith"), employee(4, "Smith")]);
        indexed(&table).load(new, LoadOptions::default()).await.map(|_| ())
    };
    assert_eq!(undecided(load).await, 0);
}

#[tokio::test]
async fn an_update_happens_or_not() {
    let update = async |table: Table| {
        let change = |jones: &mut Employee| {
            jones.last_name = "Smith".into();
            jones.email = None;
            jones.age += 1;
        };
        indexed(&table).update(Employee::key("Sales", 1), change).await.map(|_| ())
    };
    assert_eq!(undecided(update).await, 0);
}

#[tokio::test]
async fn an_upsert_happens_or_not() {
    for id in [1, 3] {
        let upsert = async |table: Table| indexed(&table).upsert(&employee(id, "Smith")).await.map(|_| ());
        assert_eq!(undecided(upsert).await, 0);
    }
}

/// A delete leaves no row behind that could tell whose it was, so one lost answer stays open.
#[tokio::test]
async fn a_delete_happens_or_not() {
    let delete = async |table: Table| indexed(&table).delete_by_key(Employee::key("Sales", 1)).await.map(|_| ());
    assert_eq!(undecided(delete).await, 1);
}
