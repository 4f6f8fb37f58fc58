//! Employees: as they are stored, and as they travel.

use serde::{Deserialize, Serialize};
use table_core::{Entity, Result};

/// `PartitionKey` = department, `RowKey` = `empid_000223`; found by email address and by last name in its department.
///
/// The copies hold everything, so that a search answers without a second read.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(email, row = "email_{email}")]
#[index(last_name, row = "lname_{last_name}_{id:06}")]
pub(crate) struct Employee {
    pub(crate) department: String,
    pub(crate) id: u32,
    pub(crate) first_name: String,
    pub(crate) last_name: String,
    pub(crate) email: String,
    pub(crate) age: i32,
}

/// An employee in a request or an answer; the department stands in the path.
#[derive(Serialize, Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct EmployeeBody {
    pub(crate) id: u32,
    pub(crate) first_name: String,
    pub(crate) last_name: String,
    pub(crate) email: String,
    pub(crate) age: i32,
}

impl EmployeeBody {
    /// The employee in a department.
    ///
    /// # Errors
    /// `InvalidKey` for a field that does not fit a key.
    pub(crate) fn in_department(self, department: String) -> Result<Employee> {
        let Self { id, first_name, last_name, email, age } = self;
        // Addresses are compared without case, so they are kept in one.
        let email = email.trim().to_lowercase();
        let employee = Employee { department, id, first_name, last_name, email, age };
        employee.entity_key()?;
        employee.index_keys()?;
        Ok(employee)
    }
}

/// The entity and its copies have the same fields, and travel alike.
macro_rules! into_body {
    ($($stored:ident),*) => {
        $(impl From<&$stored> for EmployeeBody {
            fn from(stored: &$stored) -> Self {
                Self {
                    id: stored.id,
                    first_name: stored.first_name.clone(),
                    last_name: stored.last_name.clone(),
                    email: stored.email.clone(),
                    age: stored.age,
                }
            }
        })*
    };
}

into_body!(Employee, EmployeeByEmail, EmployeeByLastName);
