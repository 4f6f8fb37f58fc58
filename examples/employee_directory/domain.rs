//! The entities of the directory, and their rows.
//!
//! | table | partition | row | what |
//! | --- | --- | --- | --- |
//! | `Staff` | `Sales` | `department` | the department, its manager's name and address, how many work there |
//! | `Staff` | `Sales` | `empid_000223` | an employee |
//! | `Staff` | `Sales` | `empid_000223_2014` | a review, under the key of its employee |
//! | `Staff` | `Sales` | `email_...`, `lname_...` | copies of the employee, under other keys |
//! | `Staff` | `Sales` | `left_000223_...` | somebody who left, on the way to the table `Archive` |
//! | `Staff`, `People` | any | `transfer_...` | what a message has done in this partition, for a day |
//! | `People` | `000223` | `person` | who has this number and this address in the company, and where they work |
//! | `PeopleByEmail` | `jones223@contoso.com` | | a copy of the person, by an address that is unique |
//! | `Photos` | `000223` | `photo_...` | a photo; its bytes are in a blob |
//! | `Claims` | `000223` | inverted ticks | an expense claim, latest first |
//! | `Messages` | `000223` | `20140731` | the messages of a day, a property for each hour |
//!
//! Whatever belongs to a department stands in its partition, and changes there in one transaction. A person stands in a
//! partition of its own and stays there, whatever department it works in: so number and address are the company's.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use table_core::{Entity, EntitySet, Key, Timestamp};
use table_patterns::{KeepsCopies, Targets};

#[derive(Entity, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(email, row = "email_{email}", include(first_name, last_name))]
#[index(last_name, row = "lname_{last_name}_{id:06}", include(first_name))]
pub(crate) struct Employee {
    pub(crate) department: String,
    pub(crate) id: u32,
    pub(crate) first_name: String,
    pub(crate) last_name: String,
    pub(crate) age: i32,
    pub(crate) email: String,
    /// The message that brought them to this department. Whoever is to move or to leave is named with it, so that a
    /// message which comes late does not take away who has come back.
    pub(crate) posting: String,
}

impl Employee {
    pub(crate) fn line(&self) -> String {
        let Self { department, id, first_name, last_name, age, email, .. } = self;
        format!("{department} {id:06}  {first_name} {last_name}, {age}, {email}")
    }
}

#[derive(Entity, Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    pub(crate) manager_email: Option<String>,
    pub(crate) employee_count: i64,
}

impl Department {
    /// A department without anybody in it.
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), manager: None, manager_name: None, manager_email: None, employee_count: 0 }
    }
}

/// A department copies name and address of its manager, and counts its employees.
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
        self.manager_name = manager.map(|manager| format!("{} {}", manager.first_name, manager.last_name));
        self.manager_email = manager.map(|manager| manager.email.clone());
    }

    fn count(&mut self, change: i64) {
        self.employee_count += change;
    }
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{id:06}", row = "person")]
#[index(email, table = "PeopleByEmail", partition = "{email}", row = "", include())]
pub(crate) struct Person {
    pub(crate) id: u32,
    pub(crate) email: String,
    /// Where they work.
    pub(crate) department: String,
    /// The message that hired them, which tells two people apart who had one number after each other.
    pub(crate) hired: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{id:06}", row = "photo_{hired}")]
pub(crate) struct Photo {
    pub(crate) id: u32,
    pub(crate) hired: String,
    #[entity(blob)]
    pub(crate) picture: Bytes,
}

/// Somebody who left, with all that the department knew.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "left_{id:06}_{hired}")]
pub(crate) struct Leaver {
    pub(crate) department: String,
    pub(crate) id: u32,
    pub(crate) hired: String,
    pub(crate) left: Timestamp,
    #[entity(json)]
    pub(crate) luggage: Luggage,
}

/// An employee, and what goes along from one department to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Luggage {
    pub(crate) employee: Employee,
    pub(crate) reviews: Vec<Review>,
}

/// Says that a message has done its work in this partition, so that it does it once, however often it is delivered.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{place}", row = "transfer_{message}")]
pub(crate) struct Transfer {
    pub(crate) place: String,
    pub(crate) message: String,
    /// Whether the work was given up, so that it can no longer be done.
    pub(crate) given_up: bool,
    /// Who left this department.
    #[entity(json)]
    pub(crate) luggage: Option<Luggage>,
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
    Leaver(Leaver),
    Transfer(Transfer),
}
