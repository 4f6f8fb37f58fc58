//! The rows of every measure: employees of about 400 bytes, a thousand to a department.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use table_core::Entity;

/// How large a run is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    /// Rows of the tables that are read and written.
    pub(crate) rows: usize,
    /// Rows that each round of a load loads.
    pub(crate) loaded_rows: usize,
    /// Rows of the file that is opened after a kill.
    pub(crate) crash_rows: usize,
    /// Messages of the long queue.
    pub(crate) messages: usize,
    /// User tables of the file with many.
    pub(crate) tables: usize,
    /// Short calls in a round, such as point reads.
    pub(crate) calls: usize,
    /// Durable transactions of one writer in a round.
    pub(crate) commits: usize,
    /// Requests to a service in a round.
    pub(crate) requests: usize,
}

impl Scale {
    /// What `cargo xtask bench` does.
    pub(crate) const FULL: Self = Self {
        rows: 1_000_000,
        loaded_rows: 1_000_000,
        crash_rows: 2_000_000,
        messages: 1_000_000,
        tables: 10_000,
        calls: 50_000,
        commits: 200,
        requests: 400,
    };

    /// What `--quick` does.
    pub(crate) const QUICK: Self = Self {
        rows: 100_000,
        loaded_rows: 25_000,
        crash_rows: 100_000,
        messages: 100_000,
        tables: 10_000,
        calls: 10_000,
        commits: 50,
        requests: 100,
    };
}

/// Employees of one department: what a partition holds.
pub(crate) const DEPARTMENT: usize = 1_000;

/// The employee of the table design guide, with the indexes that its attributes declare.
macro_rules! employee {
    ($(#[$attribute:meta])* $name:ident) => {
        #[derive(Entity, Serialize, Deserialize, Clone, Debug, PartialEq)]
        $(#[$attribute])*
        #[entity(name = "Employee", partition = "{department}", row = "empid_{id:07}")]
        pub(crate) struct $name {
            pub(crate) department: String,
            pub(crate) id: u32,
            pub(crate) first_name: String,
            pub(crate) last_name: String,
            pub(crate) age: i32,
            pub(crate) email: String,
            #[entity(json)]
            pub(crate) skills: Vec<String>,
            pub(crate) photo: Option<Bytes>,
        }
    };
}

employee! {
    /// An employee without indexes, which is written row by row.
    Employee
}

employee! {
    /// An employee that is found by email and by last name within a department.
    #[index(email, row = "email_{email}", include(first_name, last_name))]
    #[index(last_name, row = "lname_{last_name}_{id:07}", include(first_name))]
    Listed
}

employee! {
    /// An employee that is found by email in all departments too, from a table of its own.
    #[index(email, row = "email_{email}", include(first_name, last_name))]
    #[index(last_name, row = "lname_{last_name}_{id:07}", include(first_name))]
    #[index(directory, table = "EmployeesByEmail", partition = "{email}", row = "", include(first_name, last_name))]
    Published
}

macro_rules! from_employee {
    ($($name:ident),*) => {
        $(impl From<Employee> for $name {
            fn from(employee: Employee) -> Self {
                let Employee { department, id, first_name, last_name, age, email, skills, photo } = employee;
                Self { department, id, first_name, last_name, age, email, skills, photo }
            }
        })*
    };
}

from_employee!(Listed, Published);

const FIRST_NAMES: [&str; 8] = ["Ann", "Benjamin", "Chidi", "Dolores", "Eun-ji", "Farouk", "Guadalupe", "Hiro"];
const LAST_NAMES: [&str; 7] = ["Jones", "Okonkwo", "Papadopoulos", "Li", "Fernandez", "Kowalski", "Smith"];
const SKILLS: [&str; 5] = ["negotiation", "chess", "accounting", "first aid", "forklift"];
const PHOTO_BYTES: usize = 280;

/// The employee of a number. The same number gives the same employee in every run.
pub(crate) fn employee(number: usize) -> Employee {
    let pick =
        |names: &[&'static str], step: usize| names.get(number / step % names.len()).copied().unwrap_or_default();
    let (first, last) = (pick(&FIRST_NAMES, 1), pick(&LAST_NAMES, 3));
    let id = u32::try_from(number).unwrap_or(u32::MAX);
    let mut random = fastrand::Rng::with_seed(u64::from(id));
    let mut photo = vec![0; PHOTO_BYTES];
    random.fill(&mut photo);
    Employee {
        department: department(number),
        id,
        first_name: first.to_owned(),
        last_name: last.to_owned(),
        age: random.i32(18..68),
        email: format!("{}.{}{number}@contoso.com", first.to_lowercase(), last.to_lowercase()),
        skills: (1..=3).map(|step| pick(&SKILLS, step).to_owned()).collect(),
        photo: Some(photo.into()),
    }
}

/// The employee of a number, with indexes.
pub(crate) fn listed(number: usize) -> Listed {
    employee(number).into()
}

/// The department of an employee.
pub(crate) fn department(number: usize) -> String {
    format!("Dept{:04}", number / DEPARTMENT)
}

/// Numbers below `end` in no order, others in each round and the same in each run.
pub(crate) fn random_numbers(end: usize, count: usize, round: usize) -> Vec<usize> {
    let mut random = fastrand::Rng::with_seed(round as u64);
    (0..count).map(|_| random.usize(..end)).collect()
}

/// Which new employees come one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Those of one department, by id.
    Sequential,
    /// Any of many departments.
    Random,
}

impl Order {
    pub(crate) const BOTH: [Self; 2] = [Self::Sequential, Self::Random];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential keys",
            Self::Random => "random keys",
        }
    }

    /// The place of the n-th of `count` employees. Each place comes once.
    pub(crate) const fn place(self, number: usize, count: usize) -> usize {
        /// A prime above any count, so that its multiples meet every place.
        const STEP: usize = 2_654_435_761;
        match self {
            Self::Sequential => number,
            Self::Random => number * STEP % count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_about_four_hundred_bytes() {
        let size = (0..100).map(|number| postcard::to_stdvec(&employee(number)).unwrap().len()).sum::<usize>() / 100;
        assert!((340..460).contains(&size), "{size}");
    }

    #[test]
    fn every_place_comes_once() {
        for order in Order::BOTH {
            let places: std::collections::HashSet<usize> =
                (0..10_000).map(|number| order.place(number, 10_000)).collect();
            assert_eq!(places.len(), 10_000);
        }
    }
}
