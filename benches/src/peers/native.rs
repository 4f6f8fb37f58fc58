//! native_db as one would use it for the same rows: structs in redb 2.6, as bincode, with two secondary keys.

use std::path::Path;
use std::sync::LazyLock;

use native_db::{Builder, Database, Models, ToKey, native_db};
use native_model::{Model, native_model};
use serde::{Deserialize, Serialize};

use super::LOAD_BATCH;
use crate::Result;
use crate::workload::{Employee, Order, employee};

/// An employee under the key that the embedded store gives it.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[native_model(id = 1, version = 1)]
#[native_db(
    primary_key(key -> String),
    secondary_key(email_key -> String, unique),
    secondary_key(last_name_key -> String)
)]
struct Stored {
    employee: Employee,
}

impl Stored {
    fn key(&self) -> String {
        key(&self.employee.department, self.employee.id)
    }

    fn email_key(&self) -> String {
        email_key(&self.employee.department, &self.employee.email)
    }

    fn last_name_key(&self) -> String {
        let Employee { department, last_name, id, .. } = &self.employee;
        format!("{}{id:07}", last_name_prefix(department, last_name))
    }
}

fn email_key(department: &str, email: &str) -> String {
    format!("{department}\0{email}")
}

fn last_name_prefix(department: &str, last_name: &str) -> String {
    format!("{department}\0{last_name}\0")
}

fn key(department: &str, id: u32) -> String {
    format!("{department}\0empid_{id:07}")
}

#[expect(clippy::expect_used, reason = "the model above is valid")]
static MODELS: LazyLock<Models> = LazyLock::new(|| {
    let mut models = Models::new();
    models.define::<Stored>().expect("a model");
    models
});

/// A file of employees.
pub(crate) struct Native {
    database: Database<'static>,
}

impl Native {
    /// A new file.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        Ok(Self { database: Builder::new().create(&MODELS, path)? })
    }

    /// Writes so many employees in large transactions.
    pub(crate) fn load(&self, rows: usize, order: Order) -> Result {
        for start in (0..rows).step_by(LOAD_BATCH) {
            let batch = start..rows.min(start + LOAD_BATCH);
            self.insert_all(batch.map(|number| employee(order.place(number, rows))))?;
        }
        Ok(())
    }

    /// Writes employees in one durable transaction.
    pub(crate) fn insert_all(&self, employees: impl Iterator<Item = Employee>) -> Result {
        let transaction = self.database.rw_transaction()?;
        for employee in employees {
            transaction.insert(Stored { employee })?;
        }
        Ok(transaction.commit()?)
    }

    /// Reads one employee by email.
    pub(crate) fn by_email(&self, department: &str, email: &str) -> Result<Employee> {
        let transaction = self.database.r_transaction()?;
        let found: Option<Stored> = transaction.get().secondary(StoredKey::email_key, email_key(department, email))?;
        Ok(found.ok_or("there is no such employee")?.employee)
    }

    /// Reads the employees of a last name.
    pub(crate) fn by_last_name(&self, department: &str, last_name: &str) -> Result<Vec<Employee>> {
        let transaction = self.database.r_transaction()?;
        let found = transaction.scan().secondary::<Stored>(StoredKey::last_name_key)?;
        let found = found.start_with(last_name_prefix(department, last_name))?;
        found.map(|stored| Ok(stored?.employee)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_back_what_it_was_given() {
        let folder = tempfile::tempdir().unwrap();
        let native = Native::create(&folder.path().join("employees.db")).unwrap();
        native.load(3, Order::Random).unwrap();
        let third = employee(2);
        assert_eq!(native.by_email("Dept0000", &third.email).unwrap(), third);
        assert_eq!(native.by_last_name("Dept0000", "Jones").unwrap(), [employee(0), employee(1), third]);
    }
}
