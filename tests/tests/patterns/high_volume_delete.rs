//! Tables that follow each other in time.

use std::sync::{Arc, Mutex};

use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan, Meter, Retry};
use table_core::{Entity, ErrorKind, ManualClock, Result, Table, TableStore, Timestamp};
use table_patterns::{Period, RollingTables};
use table_tests::pattern::{Costs, Faults, TASKS, contend, our_stores, stores};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{user}", row = "login_{at}_{number:04}")]
struct Login {
    user: String,
    at: Timestamp,
    number: u32,
}

fn at(day: u32) -> Timestamp {
    format!("2014-07-{day:02}T12:00:00Z").parse().unwrap()
}

fn login(day: u32, number: u32) -> Login {
    Login { user: "jo".into(), at: at(day), number }
}

/// Tables of a day, of which three are kept beside the current one, on the 20th.
fn logins(store: Arc<dyn TableStore>, prefix: &str) -> (RollingTables, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(at(20)));
    (RollingTables::new(store, prefix, Period::Day, 3).unwrap().with_clock(clock.clone()), clock)
}

async fn names(tables: &RollingTables) -> Vec<String> {
    tables.existing().await.unwrap().iter().map(|table| table.name().to_string()).collect()
}

/// The names of the tables of these days.
fn named<const DAYS: usize>(prefix: &str, days: [u32; DAYS]) -> [String; DAYS] {
    days.map(|day| format!("{prefix}201407{day:02}"))
}

#[tokio::test]
async fn writes_go_to_the_table_of_their_time_and_reads_follow_it() -> Result<()> {
    for store in &stores() {
        let prefix = store.fresh_name();
        let (logins, _) = logins(Arc::clone(&store.tables), &prefix);
        for day in [20, 17, 19] {
            for number in [2, 1] {
                logins.insert(at(day), &login(day, number)).await?;
            }
        }
        assert_eq!(names(&logins).await, named(&prefix, [17, 19, 20]));
        let all = logins.all(.., Login::range("jo")).await?;
        let found: Vec<Login> = all.into_iter().map(table_core::Versioned::into_value).collect();
        assert_eq!(found, [login(17, 1), login(17, 2), login(19, 1), login(19, 2), login(20, 1), login(20, 2)]);
        assert_eq!(logins.all(at(18)..at(19), Login::range("jo")).await?.len(), 2);
        assert_eq!(logins.all(at(20).., Login::range("jo").query().top(1)).await?.len(), 1);
        let midnight: Timestamp = "2014-07-19T00:00:00Z".parse()?;
        assert_eq!(logins.all(..midnight, Login::range("jo")).await?.len(), 2);
        assert!(logins.all(at(5)..at(6), Login::range("jo")).await?.is_empty());
    }
    Ok(())
}

#[tokio::test]
async fn what_is_no_longer_kept_is_dropped_and_never_comes_back() -> Result<()> {
    for store in &stores() {
        let prefix = store.fresh_name();
        let (logins, clock) = logins(Arc::clone(&store.tables), &prefix);
        for day in 17..=20 {
            logins.insert(at(day), &login(day, 1)).await?;
        }
        // Neighbours that are none of these tables.
        let neighbours = ["", "2014", "X20140717"].map(|end| format!("{prefix}{end}"));
        let neighbours = neighbours.map(|name| Table::new(Arc::clone(&store.tables), &name).unwrap());
        for neighbour in &neighbours {
            neighbour.create().await?;
        }
        assert!(logins.drop_expired().await?.is_empty());
        clock.set(at(21));
        // The 17th takes no more writes, and is there for one more day.
        let late = logins.insert(at(17), &login(17, 2)).await.unwrap_err();
        assert_eq!(late.kind(), ErrorKind::InvalidValue);
        assert!(logins.drop_expired().await?.is_empty());
        clock.set(at(22));
        let dropped = logins.drop_expired().await?;
        assert_eq!(dropped.iter().map(ToString::to_string).collect::<Vec<_>>(), named(&prefix, [17]));
        assert_eq!(logins.insert(at(17), &login(17, 2)).await.unwrap_err().kind(), ErrorKind::InvalidValue);
        assert_eq!(names(&logins).await, named(&prefix, [18, 19, 20]));
        for neighbour in &neighbours {
            assert!(!neighbour.create_if_missing().await?, "a table of somebody else was dropped");
        }
    }
    Ok(())
}

#[tokio::test]
async fn names_that_could_be_others_are_refused() {
    for store in &stores() {
        for prefix in ["Logins2", "", "log-ins", "9Logins"] {
            let error = RollingTables::new(Arc::clone(&store.tables), prefix, Period::Day, 3).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidName, "{prefix}");
        }
    }
}

#[tokio::test]
async fn each_operation_takes_the_storage_transactions_that_the_page_says() {
    // On a shared store, listing the tables may take more pages for the tables of others.
    for store in &our_stores() {
        let meter = Meter::new(Arc::clone(&store.tables));
        let mut costs = Costs::of("high_volume_delete", &meter);
        let (logins, clock) = logins(Arc::new(meter.clone()), &store.fresh_name());
        costs.count("insert into a new period", logins.insert(at(17), &login(17, 1))).await;
        costs.count("insert", logins.insert(at(17), &login(17, 2))).await;
        costs.count("all of 2 periods", logins.all(at(17)..=at(18), Login::range("jo"))).await;
        costs.count("prepare_next", logins.prepare_next()).await;
        clock.set(at(21));
        costs.count("insert into a prepared period", logins.insert(at(21), &login(21, 1))).await;
        clock.set(at(22));
        costs.count("drop_expired of 1 table", logins.drop_expired()).await;
        costs.are_documented();
    }
}

/// Wherever a clean-up is cut off, a second one ends it.
#[tokio::test]
async fn a_clean_up_that_was_cut_off_is_ended_by_the_next() -> Result<()> {
    for store in &stores() {
        for (call, moment) in (1..=4).flat_map(|call| [(call, FaultMoment::Before), (call, FaultMoment::After)]) {
            let prefix = store.fresh_name();
            let (healthy, clock) = logins(Arc::clone(&store.tables), &prefix);
            for day in 17..=20 {
                healthy.insert(at(day), &login(day, 1)).await?;
            }
            clock.set(at(24));
            let options = FaultOptions::default().with_death(call, moment);
            let dying = Fault::new(Arc::clone(&store.tables), FaultPlan::new(options));
            let (cut, clock) = logins(Arc::new(dying), &prefix);
            clock.set(at(24));
            assert!(cut.drop_expired().await.is_err());
            let left = names(&healthy).await;
            // The oldest go first, and no other goes at all.
            let all = named(&prefix, [17, 18, 19, 20]);
            assert!(!left.is_empty() && all.ends_with(&left), "{left:?}");
            healthy.drop_expired().await?;
            assert_eq!(names(&healthy).await, named(&prefix, [20]));
        }
    }
    Ok(())
}

/// The table that the harness makes lends its name, so that each run has tables of its own.
fn own(table: &Table) -> RollingTables {
    logins(Arc::clone(table.store()), &format!("{}x", table.name())).0
}

#[tokio::test]
async fn a_fault_at_any_call_loses_and_doubles_no_row() {
    let state = async |table: Table| own(&table).all(.., Login::range("jo")).await.unwrap().len();
    let act = async |table: Table| own(&table).insert(at(20), &login(20, 1)).await.map(|_| ());
    assert_eq!(Faults { prepare: async |_| (), act, state }.everywhere().await.undecided, 0);
    let prepare = async |table: Table| {
        own(&table).insert(at(20), &login(20, 7)).await.unwrap();
    };
    assert_eq!(Faults { prepare, act, state }.everywhere().await.undecided, 0);
}

/// All tasks meet a table that is not there, behind retries as in earnest.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn first_writers_side_by_side_lose_nothing() -> Result<()> {
    for store in &stores() {
        let table = contend(
            store,
            async |_| (),
            |task, table| async move {
                let retried = Arc::new(Retry::new(Arc::clone(table.store())));
                let logins = own(&Table::new(retried, table.name().as_str())?);
                for day in [20, 19] {
                    logins.insert(at(day), &login(day, task)).await?;
                }
                Ok(())
            },
        )
        .await;
        let all = own(&table).all(.., Login::range("jo")).await?;
        assert_eq!(all.len(), usize::try_from(TASKS * 2).unwrap());
    }
    Ok(())
}

/// Half of the tasks clean up while the others write: each expired table is dropped by one, and no
/// row that is kept goes.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_clean_ups_drop_each_table_once() -> Result<()> {
    for store in &stores() {
        let dropped: Arc<Mutex<Vec<String>>> = Arc::default();
        let prepare = async |table: Table| {
            let logins = own(&table);
            for day in 17..=19 {
                logins.insert(at(day), &login(day, 1)).await.unwrap();
            }
        };
        let later = |table: &Table| {
            let (logins, clock) = logins(Arc::clone(table.store()), &format!("{}x", table.name()));
            clock.set(at(23));
            logins
        };
        let table = contend(store, prepare, |task, table| {
            let dropped = dropped.clone();
            async move {
                let logins = later(&table);
                if task % 2 == 0 {
                    let names = logins.drop_expired().await?;
                    dropped.lock().unwrap().extend(names.iter().map(ToString::to_string));
                    return Ok(());
                }
                logins.insert(at(20), &login(20, task)).await.map(drop)
            }
        })
        .await;
        let mut dropped = dropped.lock().unwrap().clone();
        dropped.sort_unstable();
        let prefix = format!("{}x", table.name());
        assert_eq!(dropped, named(&prefix, [17, 18]));
        assert_eq!(names(&later(&table)).await, named(&prefix, [19, 20]));
        let kept = later(&table).all(.., Login::range("jo")).await?;
        assert_eq!(kept.len(), usize::try_from(1 + TASKS / 2).unwrap());
    }
    Ok(())
}
