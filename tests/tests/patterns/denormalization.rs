//! Copies and counts that follow their source.

use std::sync::Arc;

use table_core::layer::Meter;
use table_core::{Entity, ErrorKind, Key, Query, Result, Table};
use table_patterns::{Denormalized, KeepsCopies, Targets, UpdateOptions};
use table_tests::pattern::{Altered, Costs, Faults, behind, contend, rows, stores, three_attempts};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(email, row = "email_{email}", include())]
struct Employee {
    department: String,
    id: u32,
    name: String,
    email: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{name}", row = "department")]
struct Department {
    name: String,
    manager: Option<u32>,
    manager_name: Option<String>,
    manager_email: Option<String>,
    employee_count: i64,
}

impl KeepsCopies for Department {
    type Source = Employee;
    const NEEDS_TARGET: bool = true;

    fn targets(employee: &Employee) -> Targets<Self> {
        Self::range(&employee.department).query().into()
    }

    fn source(&self) -> Option<Key<Employee>> {
        self.manager.map(|id| Employee::key(&self.name, id))
    }

    fn take(&mut self, manager: Option<&Employee>) {
        self.manager_name = manager.map(|manager| manager.name.clone());
        self.manager_email = manager.map(|manager| manager.email.clone());
    }

    fn count(&mut self, change: i64) {
        self.employee_count += change;
    }
}

fn employee(id: u32, name: &str) -> Employee {
    Employee { department: "Sales".into(), id, name: name.into(), email: format!("e{id}@contoso.com") }
}

fn staff(table: &Table) -> Denormalized<Department> {
    Denormalized::new(table.clone())
}

/// A department of two, of which the first is the manager.
async fn sales(table: Table) {
    let sales =
        Department { name: "Sales".into(), manager: None, manager_name: None, manager_email: None, employee_count: 0 };
    staff(&table).insert_target(&sales).await.unwrap();
    staff(&table).insert(&employee(1, "Jo")).await.unwrap();
    staff(&table).insert(&employee(2, "Al")).await.unwrap();
    staff(&table).update_target(Department::key("Sales"), |sales| sales.manager = Some(1)).await.unwrap();
}

/// Checks that copies and count are what the employees say.
async fn assert_in_step(table: &Table) -> Result<Department> {
    let department = table.require(Department::key("Sales")).await?.into_value();
    let employees = table.all(Query::<Employee>::all().allow_scan()).await?;
    assert_eq!(department.employee_count, i64::try_from(employees.len()).unwrap());
    let manager = department.manager.and_then(|id| employees.iter().find(|employee| employee.id == id));
    assert_eq!(department.manager_name, manager.map(|manager| manager.name.clone()));
    assert_eq!(department.manager_email, manager.map(|manager| manager.email.clone()));
    assert_eq!(rows(table).await.len(), 1 + 2 * employees.len());
    Ok(department)
}

#[tokio::test]
async fn copies_and_counts_follow_their_source() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        sales(table.clone()).await;
        assert_eq!(assert_in_step(&table).await?.manager_name.as_deref(), Some("Jo"));
        staff(&table)
            .update(Employee::key("Sales", 1), |jo| {
                jo.name = "Joanna".into();
                jo.email = "joanna@contoso.com".into();
            })
            .await?;
        assert_eq!(assert_in_step(&table).await?.manager_email.as_deref(), Some("joanna@contoso.com"));
        staff(&table).update_target(Department::key("Sales"), |sales| sales.manager = Some(2)).await?;
        assert_eq!(assert_in_step(&table).await?.manager_name.as_deref(), Some("Al"));
        assert!(staff(&table).delete(Employee::key("Sales", 2)).await?);
        assert!(!staff(&table).delete(Employee::key("Sales", 2)).await?);
        let left = assert_in_step(&table).await?;
        assert_eq!((left.manager, left.manager_name, left.employee_count), (Some(2), None, 1));
        staff(&table).insert(&employee(2, "Al again")).await?;
        assert_eq!(assert_in_step(&table).await?.manager_name.as_deref(), Some("Al again"));
    }
    Ok(())
}

#[tokio::test]
async fn what_is_not_there_is_refused() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        sales(table.clone()).await;
        let lost = Employee { department: "Nowhere".into(), ..employee(3, "Di") };
        assert_eq!(staff(&table).insert(&lost).await.unwrap_err().kind(), ErrorKind::NotFound);
        let all = staff(&table);
        let to_nobody = all.update_target(Department::key("Sales"), |sales| sales.manager = Some(9));
        assert_eq!(to_nobody.await.unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(staff(&table).insert(&employee(1, "Jo")).await.unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_in_step(&table).await?;
    }
    Ok(())
}

#[tokio::test]
async fn each_operation_takes_the_storage_transactions_that_the_page_says() -> Result<()> {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        let queues = Meter::new(store.queues.clone());
        let mut costs = Costs::of("denormalization", &meter).with_queues(&queues);
        sales(table.clone()).await;
        let staff = staff(&table);
        let department = || Department::key("Sales");
        costs.count("insert", staff.insert(&employee(3, "Di"))).await;
        costs.count("update of a copied field", staff.update(Employee::key("Sales", 1), |jo| jo.name.push('y'))).await;
        costs.count("update of another source", staff.update(Employee::key("Sales", 2), |al| al.name.push('y'))).await;
        costs
            .count("update_target to a new source", staff.update_target(department(), |sales| sales.manager = Some(2)))
            .await;
        costs.count("update_target to none", staff.update_target(department(), |sales| sales.manager = None)).await;
        costs.count("delete", staff.delete(Employee::key("Sales", 3))).await;
        costs.count("get of the target", table.get(department())).await;
        crate::copies::cost::count(&mut costs, table.store().clone(), Arc::new(queues.clone())).await?;
        costs.are_documented();
    }
    Ok(())
}

#[tokio::test]
async fn the_loop_gives_up_after_its_bound() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        sales(table.clone()).await;
        let before = rows(&table).await;
        let rival = Altered::with_rival(Arc::clone(table.store()));
        let outpaced = staff(&behind(&table, rival));
        let outpaced = outpaced.with_options(three_attempts());
        for error in [
            outpaced.insert(&employee(3, "Di")).await.unwrap_err(),
            outpaced.update(Employee::key("Sales", 1), |jo| jo.name.push('y')).await.unwrap_err(),
            outpaced.update_target(Department::key("Sales"), |sales| sales.manager = Some(2)).await.unwrap_err(),
            outpaced.delete(Employee::key("Sales", 1)).await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Contention);
        }
        assert_eq!(rows(&table).await, before);
    }
    Ok(())
}

#[tokio::test]
async fn a_fault_at_any_call_leaves_the_old_or_the_new_state() {
    let state = async |table: Table| rows(&table).await;
    let insert = async |table: Table| staff(&table).insert(&employee(3, "Di")).await.map(|_| ());
    assert_eq!(Faults { prepare: sales, act: insert, state }.everywhere().await.undecided, 0);
    let update =
        async |table: Table| staff(&table).update(Employee::key("Sales", 1), |jo| jo.name.push('y')).await.map(|_| ());
    assert_eq!(Faults { prepare: sales, act: update, state }.everywhere().await.undecided, 0);
    let repoint = async |table: Table| {
        staff(&table).update_target(Department::key("Sales"), |sales| sales.manager = Some(2)).await.map(|_| ())
    };
    assert_eq!(Faults { prepare: sales, act: repoint, state }.everywhere().await.undecided, 0);
    let delete = async |table: Table| staff(&table).delete(Employee::key("Sales", 1)).await.map(|_| ());
    assert_eq!(Faults { prepare: sales, act: delete, state }.everywhere().await.undecided, 0);
    let insert_target = async |table: Table| {
        let mut other = table.require(Department::key("Sales")).await?.into_value();
        (other.name, other.manager) = ("Other".into(), None);
        staff(&table).insert_target(&other).await.map(|_| ())
    };
    assert_eq!(Faults { prepare: sales, act: insert_target, state }.everywhere().await.undecided, 0);
}

/// Some are hired and leave, some change their name, and some become manager.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn copies_and_counts_stay_in_step_under_contention() -> Result<()> {
    for store in &stores() {
        let table = contend(store, sales, |task, table| async move {
            let staff = staff(&table).with_options(UpdateOptions::default().with_attempts(500));
            for round in 0..3 {
                match task % 4 {
                    0 => drop(staff.insert(&employee(100 + task * 10 + round, "New")).await?),
                    1 => drop(staff.update(Employee::key("Sales", 1 + round % 2), |jo| jo.name.push('y')).await?),
                    2 => {
                        let manager = Some(1 + (task / 4 + round) % 2);
                        staff.update_target(Department::key("Sales"), |sales| sales.manager = manager).await?;
                    }
                    _ => {
                        staff.insert(&employee(500 + task, "Short")).await?;
                        staff.delete(Employee::key("Sales", 500 + task)).await?;
                    }
                }
            }
            Ok(())
        })
        .await;
        assert_eq!(assert_in_step(&table).await?.employee_count, 2 + 4 * 3);
        let names: usize = ["Jo", "Al"].iter().map(|name| name.len()).sum();
        let mut length = 0;
        for id in [1, 2] {
            length += table.require(Employee::key("Sales", id)).await?.name.len();
        }
        assert_eq!(length, names + 4 * 3, "no change of a name is lost");
    }
    Ok(())
}

/// A source that is changed while a target is being pointed at it: the target takes the new fields.
#[tokio::test]
async fn a_target_is_never_pointed_at_old_fields() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        sales(table.clone()).await;
        let between = table.clone();
        let interrupted = Altered::interrupted(Arc::clone(table.store()), async move {
            staff(&between).update(Employee::key("Sales", 2), |al| al.name = "Alan".into()).await.unwrap();
        });
        let pointing = staff(&behind(&table, interrupted));
        pointing.update_target(Department::key("Sales"), |sales| sales.manager = Some(2)).await?;
        assert_eq!(assert_in_step(&table).await?.manager_name.as_deref(), Some("Alan"));

        // The other way round: a target is pointed at a source while that is being changed.
        staff(&table).update_target(Department::key("Sales"), |sales| sales.manager = Some(1)).await?;
        let between = table.clone();
        let interrupted = Altered::interrupted(Arc::clone(table.store()), async move {
            staff(&between).update_target(Department::key("Sales"), |sales| sales.manager = Some(2)).await.unwrap();
        });
        let changing = staff(&behind(&table, interrupted));
        changing.update(Employee::key("Sales", 2), |al| al.name = "Alice".into()).await?;
        assert_eq!(assert_in_step(&table).await?.manager_name.as_deref(), Some("Alice"));
    }
    Ok(())
}

/// The reverse: every badge of a building shows its name.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{site}", row = "building")]
struct Building {
    site: String,
    name: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{site}", row = "badge_{id:06}")]
struct Badge {
    site: String,
    id: u32,
    building_name: String,
}

impl KeepsCopies for Badge {
    type Source = Building;

    fn targets(building: &Building) -> Targets<Self> {
        Self::range(&building.site).query().into()
    }

    fn source(&self) -> Option<Key<Building>> {
        Some(Building::key(&self.site))
    }

    fn take(&mut self, building: Option<&Building>) {
        self.building_name = building.map(|building| building.name.clone()).unwrap_or_default();
    }
}

const BADGES: u32 = 250;

async fn building(table: Table) {
    let badges = Denormalized::<Badge>::new(table.clone());
    badges.insert(&Building { site: "North".into(), name: "Old".into() }).await.unwrap();
    let all = (0..BADGES).map(|id| Badge { site: "North".into(), id, building_name: "Old".into() });
    table.load(futures_util::stream::iter(all), table_core::LoadOptions::default()).await.unwrap();
}

async fn stale_badges(table: &Table) -> usize {
    let name = table.require(Building::key("North")).await.unwrap().into_value().name;
    let badges = table.all(Badge::range("North")).await.unwrap();
    assert_eq!(badges.len(), usize::try_from(BADGES).unwrap());
    badges.iter().filter(|badge| badge.building_name != name).count()
}

#[tokio::test]
async fn more_targets_than_a_transaction_holds_follow_in_several() -> Result<()> {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        building(table.clone()).await;
        let badges = Denormalized::<Badge>::new(table.clone());
        let before = meter.report();
        badges.update(Building::key("North"), |building| building.name = "New".into()).await?;
        assert_eq!(stale_badges(&table).await, 0);
        // The building and 99 badges each, then 52.
        assert_eq!((meter.report() - before).operation("transact").transactions, 3);
    }
    Ok(())
}

/// No part of it may be seen, so it cannot follow in several transactions.
#[tokio::test]
async fn a_source_with_too_many_targets_is_not_deleted_by_halves() -> Result<()> {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        building(table.clone()).await;
        let before = meter.report();
        let error = Denormalized::<Badge>::new(table.clone()).delete(Building::key("North")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.message().contains("251 operations"), "{error}");
        assert_eq!((meter.report() - before).total().entities_written, 0);
        assert_eq!(stale_badges(&table).await, 0);
    }
    Ok(())
}

#[tokio::test]
async fn a_refresh_gives_up_after_its_bound() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        building(table.clone()).await;
        let mut source = table.require(Building::key("North")).await?;
        source.name = "New".into();
        table.replace(&mut source).await?;
        let rival = Altered::with_rival(Arc::clone(table.store()));
        let outpaced = Denormalized::<Badge>::new(behind(&table, rival)).with_options(three_attempts());
        assert_eq!(outpaced.refresh(&source).await.unwrap_err().kind(), ErrorKind::Contention);
        assert_eq!(stale_badges(&table).await, usize::try_from(BADGES).unwrap());
    }
    Ok(())
}

/// A refresh that was overtaken: the building has its old name again, which the badges still show.
#[tokio::test]
async fn a_refresh_never_writes_a_name_that_was_taken_back() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        building(table.clone()).await;
        let mut source = table.require(Building::key("North")).await?;
        source.name = "New".into();
        table.replace(&mut source).await?;
        let between = Denormalized::<Badge>::new(table.clone());
        let interrupted = Altered::interrupted(Arc::clone(table.store()), async move {
            between.update(Building::key("North"), |building| building.name = "Old".into()).await.unwrap();
        });
        Denormalized::<Badge>::new(behind(&table, interrupted)).refresh(&source).await?;
        assert_eq!(stale_badges(&table).await, 0);
    }
    Ok(())
}

/// What comes back from an update can be written, also where its targets took several transactions.
#[tokio::test]
async fn an_updated_source_has_its_latest_version() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        building(table.clone()).await;
        let badges = Denormalized::<Badge>::new(table.clone());
        let updated = badges.update(Building::key("North"), |building| building.name = "New".into()).await?;
        assert_eq!(updated.etag(), table.require(Building::key("North")).await?.etag());
    }
    Ok(())
}

/// Wherever an update is cut off, some badges are old and none is wrong; a refresh ends it.
#[tokio::test]
async fn a_refresh_ends_an_update_that_was_cut_off() -> Result<()> {
    use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan};
    for store in &stores() {
        for call in 1..=8 {
            let table = store.table().await;
            building(table.clone()).await;
            let plan = FaultPlan::new(FaultOptions::default().with_death(call, FaultMoment::Before));
            let dying = Fault::new(Arc::clone(table.store()), plan.clone());
            let dying = behind(&table, dying);
            let cut = Denormalized::<Badge>::new(dying);
            let result = cut.update(Building::key("North"), |building| building.name = "New".into()).await;
            assert_eq!(result.is_err(), plan.is_dead());
            let stale = stale_badges(&table).await;
            assert!([0, 52, 151].contains(&stale), "{stale} stale badges after call {call}");
            let healthy = Denormalized::<Badge>::new(table.clone());
            let source = table.require(Building::key("North")).await?;
            assert_eq!(healthy.refresh(&source).await?, stale);
            assert_eq!(stale_badges(&table).await, 0);
        }
    }
    Ok(())
}

/// Whoever writes last, the badges of all writers end up as the building says.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_targets_end_up_as_their_source_says() -> Result<()> {
    for store in &stores() {
        let table = contend(store, building, |task, table| async move {
            let badges = Denormalized::<Badge>::new(table).with_options(UpdateOptions::default().with_attempts(500));
            badges.update(Building::key("North"), |building| building.name = format!("Name {task}")).await?;
            Ok(())
        })
        .await;
        assert_eq!(stale_badges(&table).await, 0);
    }
    Ok(())
}
