//! The entities of the directory. Employees, reviews and the department share a partition.

use table_core::{Entity, EntitySet, Versioned};

/// `PartitionKey` = department, `RowKey` = `empid_000223`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
pub(crate) struct Employee {
    pub(crate) department: String,
    pub(crate) id: u32,
    pub(crate) first_name: String,
    pub(crate) last_name: String,
    pub(crate) age: i32,
    pub(crate) email: String,
}

impl Employee {
    pub(crate) fn full_name(&self) -> String {
        format!("{} {}, {}, {}", self.first_name, self.last_name, self.age, self.email)
    }
}

/// `RowKey` = `review_000223_2012`: reviews of one employee stand together, by year.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "review_{id:06}_{year:04}")]
pub(crate) struct Review {
    department: String,
    id: u32,
    year: i32,
    rating: u8,
}

/// `RowKey` = `department`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{name}", row = "department")]
pub(crate) struct Department {
    pub(crate) name: String,
    pub(crate) employee_count: u32,
}

/// Whatever stands in a department's partition.
#[derive(EntitySet, Clone, Debug, PartialEq)]
pub(crate) enum Staff {
    Employee(Employee),
    Review(Review),
    Department(Department),
}

const FIRST_NAMES: [&str; 8] = ["Jo", "Don", "Jun", "Ken", "Ana", "Eva", "Sam", "Lee"];
const LAST_NAMES: [&str; 7] = ["Jones", "Hall", "Cao", "Kwok", "Smith", "Ito", "Berg"];

/// Forty employees of a department.
pub(crate) fn employees(department: &str) -> Vec<Employee> {
    let names = FIRST_NAMES.iter().cycle().zip(LAST_NAMES.iter().cycle());
    names
        .zip(223..263)
        .map(|((first, last), id)| Employee {
            department: department.into(),
            id,
            first_name: (*first).into(),
            last_name: (*last).into(),
            age: i32::try_from(id * 7 % 45).unwrap_or(0) + 20,
            email: format!("{}{id}@contoso.com", last.to_lowercase()),
        })
        .collect()
}

/// Three years of reviews of an employee.
pub(crate) fn reviews(employee: &Employee) -> Vec<Review> {
    let review = |year| Review {
        department: employee.department.clone(),
        id: employee.id,
        year,
        rating: u8::try_from((employee.id + 2012) % 5).unwrap_or(0) + 1,
    };
    (2012..2015).map(review).collect()
}

/// How many there are of each type.
pub(crate) fn by_type(all: &[Versioned<Staff>]) -> String {
    let count = |is: fn(&Staff) -> bool| all.iter().filter(|each| is(each)).count();
    format!(
        "{} employees, {} reviews, {} department",
        count(|each| matches!(each, Staff::Employee(_))),
        count(|each| matches!(each, Staff::Review(_))),
        count(|each| matches!(each, Staff::Department(_))),
    )
}
