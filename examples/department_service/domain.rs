//! Employees: as they are stored, and as they travel.
//!
//! | table | partition | row | what |
//! | --- | --- | --- | --- |
//! | `Employees` | `000223` | `employee` | an employee |
//! | `EmployeesByDepartment` | `Sales` | `empid_000223`, `lname_Jones_000223` | copies, for the lists of a department |
//! | `EmployeesByEmail` | `jo@contoso.com` | | a copy, by an address that is unique in the company |
//!
//! An employee keeps its key, and so its address in the API, whatever department it works in. To move it is to change a
//! field: the copies follow, by way of a queue, and a process that dies in between is one that the next makes up for.
//! The copies hold everything, so that a search answers without a second read.

use serde::{Deserialize, Serialize};
use table_core::{Entity, Error, Result};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{id:06}", row = "employee")]
#[index(department, table = "EmployeesByDepartment", partition = "{department}", row = "empid_{id:06}")]
#[index(last_name, table = "EmployeesByDepartment", partition = "{department}", row = "lname_{last_name}_{id:06}")]
#[index(email, table = "EmployeesByEmail", partition = "{email}", row = "")]
pub(crate) struct Employee {
    pub(crate) id: u32,
    pub(crate) department: String,
    pub(crate) first_name: String,
    pub(crate) last_name: String,
    pub(crate) email: String,
    pub(crate) age: i32,
}

/// An employee in an answer.
#[derive(Serialize, Clone, Debug)]
pub(crate) struct Shown {
    id: u32,
    department: String,
    first_name: String,
    last_name: String,
    email: String,
    age: i32,
}

/// An employee in a request; the department stands in the path, or stays as it is.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sent {
    pub(crate) id: u32,
    first_name: String,
    last_name: String,
    email: String,
    age: i32,
}

/// Where an employee is to work.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct Destination {
    pub(crate) department: String,
}

impl Sent {
    /// The employee in a department.
    ///
    /// # Errors
    /// As [`Employee::checked`].
    pub(crate) fn in_department(self, department: String) -> Result<Employee> {
        let Self { id, first_name, last_name, email, age } = self;
        Employee { department, id, first_name, last_name, email: address(&email), age }.checked()
    }
}

impl Employee {
    /// The employee, if it can be stored.
    ///
    /// # Errors
    /// `InvalidKey` for a field that does not fit a key, `InvalidValue` for one that is empty.
    pub(crate) fn checked(self) -> Result<Self> {
        for (name, text) in [("department", &self.department), ("last_name", &self.last_name), ("email", &self.email)] {
            if text.trim().is_empty() {
                return Err(Error::invalid_value(format!("{name} must not be empty")));
            }
        }
        self.entity_key()?;
        self.index_keys()?;
        Ok(self)
    }
}

/// Addresses are compared without case, so they are kept in one.
pub(crate) fn address(text: &str) -> String {
    text.trim().to_lowercase()
}

/// The entity and its copies have the same fields, and travel alike.
macro_rules! shown {
    ($($stored:ident),*) => {
        $(impl From<&$stored> for Shown {
            fn from(stored: &$stored) -> Self {
                Self {
                    id: stored.id,
                    department: stored.department.clone(),
                    first_name: stored.first_name.clone(),
                    last_name: stored.last_name.clone(),
                    email: stored.email.clone(),
                    age: stored.age,
                }
            }
        })*
    };
}

shown!(Employee, EmployeeByDepartment, EmployeeByEmail, EmployeeByLastName);
