//! Maintenance of copies and counts in one partition.

use table_core::{Entity, Key, Result, Table};
use table_patterns::denormalization::{Denormalized, KeepsCopies, Targets};
use table_patterns::maintenance::{Maintained, MaintenanceOptions, Wrong};
use table_tests::pattern::{Altered, behind, stores};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{name}", row = "department")]
struct Department {
    name: String,
    manager: Option<u32>,
    manager_name: Option<String>,
    employees: i64,
}

impl KeepsCopies for Department {
    type Source = Employee;
    const NEEDS_TARGET: bool = true;

    fn targets(employee: &Employee) -> Targets<Self> {
        Self::key(&employee.department).into()
    }

    fn source(&self) -> Option<Key<Employee>> {
        self.manager.map(|id| Employee::key(&self.name, id))
    }

    fn take(&mut self, manager: Option<&Employee>) {
        self.manager_name = manager.map(|manager| manager.name.clone());
    }

    fn count(&mut self, change: i64) {
        self.employees += change;
    }

    fn counted(&self) -> Option<i64> {
        Some(self.employees)
    }
}

fn employee(department: &str, id: u32) -> Employee {
    Employee { department: department.into(), id, name: format!("e{id}") }
}

/// Departments as another program left them: one right, one with an old copy, one with a wrong count, one with neither
/// copy nor count, one whose manager is gone.
async fn damaged(table: &Table) -> Result<()> {
    let copies = [("Right", Some("e1"), 2), ("Stale", Some("Old"), 2), ("Count", Some("e1"), 7), ("Missing", None, 0)];
    for (name, manager_name, employees) in copies {
        let (name, manager_name) = (name.to_owned(), manager_name.map(Into::into));
        for id in [1, 2] {
            table.insert(&employee(&name, id)).await?;
        }
        table.insert(&Department { name, manager: Some(1), manager_name, employees }).await?;
    }
    let (name, manager_name) = ("Orphaned".to_owned(), Some("Gone".into()));
    table.insert(&Department { name, manager: Some(9), manager_name, employees: 0 }).await?;
    Ok(())
}

#[tokio::test]
async fn a_check_finds_wrong_copies_and_counts_and_a_repair_mends_them() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        damaged(&table).await?;
        let staff = Denormalized::<Department>::new(table.clone());
        let report = staff.verify(MaintenanceOptions::default()).await?;
        let mut found: Vec<_> =
            report.findings.iter().map(|each| (each.key.partition.as_str(), each.wrong, each.copy.as_str())).collect();
        found.sort_unstable();
        let expected = [
            ("Count", Wrong::Stale, "~count"),
            ("Missing", Wrong::Stale, "~count"),
            ("Missing", Wrong::Missing, "Department"),
            ("Orphaned", Wrong::Orphaned, "Department"),
            ("Stale", Wrong::Stale, "Department"),
        ];
        assert_eq!(found, expected);
        assert_eq!((report.sources, report.copies), (8, 5));
        assert_eq!(staff.repair(&report).await?.mended, 5);
        let report = staff.verify(MaintenanceOptions::default()).await?;
        assert!(report.is_clean(), "{:#?}", report.findings);
        let missing = table.require(Department::key("Missing")).await?;
        assert_eq!((missing.manager_name.as_deref(), missing.employees), (Some("e1"), 2));
    }
    Ok(())
}

#[tokio::test]
async fn a_build_gives_existing_targets_their_copies_and_counts() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        damaged(&table).await?;
        let staff = Denormalized::<Department>::new(table.clone());
        assert_eq!(staff.build(MaintenanceOptions::default()).await?.written, 4);
        assert!(staff.verify(MaintenanceOptions::default()).await?.is_clean());
        assert_eq!(staff.build(MaintenanceOptions::default()).await?.written, 0);
    }
    Ok(())
}

/// The source is changed to what the target shows, and then its repair comes.
#[tokio::test]
async fn a_repair_that_was_overtaken_writes_nothing_old() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        damaged(&table).await?;
        let staff = Denormalized::<Department>::new(table.clone());
        let report = staff.verify(MaintenanceOptions::default()).await?;
        let between = staff.clone();
        let interrupted = Altered::interrupted(table.store().clone(), async move {
            between.update(Employee::key("Stale", 1), |manager| manager.name = "Old".into()).await.unwrap();
            between.insert(&employee("Count", 3)).await.unwrap();
        });
        let repairing = Denormalized::<Department>::new(behind(&table, interrupted));
        repairing.repair(&report).await?;
        assert!(staff.verify(MaintenanceOptions::default()).await?.is_clean());
        assert_eq!(table.require(Department::key("Stale")).await?.manager_name.as_deref(), Some("Old"));
        assert_eq!(table.require(Department::key("Count")).await?.employees, 3);
    }
    Ok(())
}
