//! The directory: its tables, and the patterns that keep them.

use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt, stream};
use table_core::layer::Meter;
use table_core::{LoadOptions, Result, Table, TableStore};
use table_examples::OpenStore;
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::{Compound, DataSeries, Denormalized, Indexed, LogTail};

use crate::domain::{Claim, Department, Employee, Messages, Review};

/// Writes that run at once while the directory is filled; the embedded store commits them together.
const WRITES_AT_ONCE: usize = 16;

/// Everything that the program does is done through one of these.
pub(crate) struct Directory {
    /// Departments, employees and reviews.
    pub(crate) staff: Table,
    /// Employees, found by address and by last name; an address is unique in the company.
    pub(crate) employees: Indexed<Employee>,
    /// Employees with their reviews.
    pub(crate) families: Compound<Employee, Review>,
    /// Departments with a copy of their manager's name.
    pub(crate) departments: Denormalized<Department>,
    /// Messages by the hour.
    pub(crate) messages: DataSeries<Messages, i32>,
    claims: Table,
    /// Counts storage transactions.
    pub(crate) meter: Meter<Arc<dyn TableStore>>,
}

impl Directory {
    /// Opens the directory, and finishes what an earlier run has left undone.
    pub(crate) async fn open(store: &OpenStore) -> Result<Self> {
        let meter = Meter::new(Arc::clone(&store.tables));
        let table = |name| Table::new(Arc::new(meter.clone()), name);
        let (staff, claims, messages) = (table("Staff")?, table("Claims")?, table("Messages")?);
        let mover = Mover::builder(Arc::clone(&store.queues), "directory-moves")?
            .keep_indexes::<Employee>(&staff)
            .build()
            .await?;
        let employees = Indexed::kept_by(staff.clone(), &mover)?;
        employees.create_if_missing().await?;
        claims.create_if_missing().await?;
        messages.create_if_missing().await?;
        mover.run_due().await?;
        Ok(Self {
            families: Compound::new(staff.clone())?,
            departments: Denormalized::new(staff.clone()),
            messages: DataSeries::new(messages, 24)?,
            employees,
            staff,
            claims,
            meter,
        })
    }

    /// Adds a department, unless it is there.
    pub(crate) async fn add_department(&self, name: &str) -> Result<()> {
        let department = Department { name: name.to_owned(), manager: None, manager_name: None };
        match self.departments.insert_target(&department).await {
            Err(error) if error.kind() != table_core::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// Adds employees, several at once; calls back for each.
    pub(crate) async fn add_all(&self, employees: &[Employee], added: impl Fn()) -> Result<()> {
        let writes = stream::iter(employees).map(|employee| self.employees.insert(employee));
        writes
            .buffer_unordered(WRITES_AT_ONCE)
            .inspect_ok(|_| added())
            .try_for_each(|_| std::future::ready(Ok(())))
            .await
    }

    /// Adds reviews of employees who are known to be there, in as few transactions as the service allows.
    pub(crate) async fn load_reviews(&self, reviews: Vec<Review>) -> Result<u64> {
        Ok(self.staff.load(stream::iter(reviews), LoadOptions::default()).await?.entities)
    }

    /// The expense claims of one employee.
    pub(crate) fn claims(&self, employee: u32) -> Result<LogTail<Claim>> {
        LogTail::new(self.claims.clone(), Claim::range(employee))
    }

    /// Makes somebody the manager of a department.
    pub(crate) async fn appoint(&self, department: &str, id: u32) -> Result<()> {
        let change = |department: &mut Department| department.manager = Some(id);
        self.departments.update_target(Department::key(department), change).await.map(|_| ())
    }

    /// Changes an employee, with all copies of it, and its name beside the department that it manages.
    pub(crate) async fn change(
        &self,
        department: &str,
        id: u32,
        change: impl FnMut(&mut Employee) + Send,
    ) -> Result<()> {
        let employee = self.employees.update(Employee::key(department, id), change).await?;
        self.departments.refresh(&employee).await.map(|_| ())
    }
}
