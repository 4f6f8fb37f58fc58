//! native_db as one would use it for the same rows: structs in redb 2.6, as bincode.

use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;

use native_db::{Builder, Database, Models, ToKey, native_db};
use native_model::{Model, native_model};
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::workload::{Employee, employee};

/// Rows that one commit of a load writes.
const LOAD_BATCH: usize = 1_600;

/// An employee under the key that the embedded store gives it.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[native_model(id = 1, version = 1)]
#[native_db(primary_key(key -> String))]
struct Stored {
    employee: Employee,
}

impl Stored {
    fn key(&self) -> String {
        key(&self.employee.department, self.employee.id)
    }
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

    /// Writes employees in large transactions.
    pub(crate) fn load(&self, numbers: Range<usize>) -> Result {
        let numbers: Vec<usize> = numbers.collect();
        for batch in numbers.chunks(LOAD_BATCH) {
            self.insert_all(batch.iter().map(|number| employee(*number)))?;
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

    /// Reads one employee.
    pub(crate) fn get(&self, department: &str, id: u32) -> Result<Employee> {
        let found: Option<Stored> = self.database.r_transaction()?.get().primary(key(department, id))?;
        Ok(found.ok_or("there is no such employee")?.employee)
    }

    /// Reads a department.
    pub(crate) fn scan(&self, department: &str) -> Result<Vec<Employee>> {
        let transaction = self.database.r_transaction()?;
        let found = transaction.scan().primary::<Stored>()?;
        found.start_with(format!("{department}\0"))?.map(|stored| Ok(stored?.employee)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_back_what_it_was_given() {
        let folder = tempfile::tempdir().unwrap();
        let native = Native::create(&folder.path().join("employees.db")).unwrap();
        native.load(0..3).unwrap();
        assert_eq!(native.get("Dept0000", 2).unwrap(), employee(2));
        assert_eq!(native.scan("Dept0000").unwrap(), [employee(0), employee(1), employee(2)]);
    }
}
