//! The entities of the directory, and their rows.
//!
//! | table | partition | row | what |
//! | --- | --- | --- | --- |
//! | `Staff` | `Sales` | `department` | the department, with a copy of its manager's name |
//! | `Staff` | `Sales` | `empid_000223` | an employee |
//! | `Staff` | `Sales` | `empid_000223_2014` | a review, under the key of its employee |
//! | `Staff` | `Sales` | `email_...`, `lname_...` | copies of the employee, under other keys |
//! | `EmployeesByEmail` | `jones223@contoso.com` | | a copy for the whole company, where an address is unique |
//! | `Claims` | `000223` | inverted ticks | an expense claim, latest first |
//! | `Messages` | `000223` | `20140731` | the messages of a day, a property for each hour |

use table_core::{Entity, EntitySet, Key, Timestamp};
use table_patterns::{KeepsCopies, Targets};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(email, row = "email_{email}", include(first_name, last_name))]
#[index(last_name, row = "lname_{last_name}_{id:06}", include(first_name))]
#[index(directory, table = "EmployeesByEmail", partition = "{email}", row = "", include(first_name, last_name))]
pub(crate) struct Employee {
    pub(crate) department: String,
    pub(crate) id: u32,
    pub(crate) first_name: String,
    pub(crate) last_name: String,
    pub(crate) age: i32,
    pub(crate) email: String,
}

impl Employee {
    pub(crate) fn line(&self) -> String {
        let Self { department, id, first_name, last_name, age, email } = self;
        format!("{department} {id:06}  {first_name} {last_name}, {age}, {email}")
    }
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}_{year:04}")]
pub(crate) struct Review {
    pub(crate) department: String,
    pub(crate) id: u32,
    pub(crate) year: u16,
    pub(crate) rating: i32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{name}", row = "department")]
pub(crate) struct Department {
    pub(crate) name: String,
    pub(crate) manager: Option<u32>,
    pub(crate) manager_name: Option<String>,
}

/// A department copies the name of its manager.
impl KeepsCopies for Department {
    type Source = Employee;

    fn targets(employee: &Employee) -> Targets<Self> {
        Self::range(&employee.department).query().into()
    }

    fn source(&self) -> Option<Key<Employee>> {
        self.manager.map(|id| Employee::key(&self.name, id))
    }

    fn take(&mut self, manager: Option<&Employee>) {
        self.manager_name = manager.map(|manager| format!("{} {}", manager.first_name, manager.last_name));
    }
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{employee:06}", row = "{at:desc}_{number:04}")]
pub(crate) struct Claim {
    pub(crate) employee: u32,
    pub(crate) at: Timestamp,
    pub(crate) number: u32,
    pub(crate) cents: i64,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{employee:06}", row = "{day:08}")]
pub(crate) struct Messages {
    pub(crate) employee: u32,
    pub(crate) day: u32,
}

/// Whatever stands in a department's partition.
#[derive(EntitySet, Clone, Debug, PartialEq)]
pub(crate) enum Staff {
    Employee(Employee),
    Review(Review),
    Department(Department),
}
