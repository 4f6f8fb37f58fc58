//! The rows of every measure: employees of about 400 bytes, a thousand to a department.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use table_core::Entity;

/// How large a run is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    /// Rows of the tables that are read and written.
    pub(crate) rows: usize,
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
}

impl Scale {
    /// What `cargo xtask bench` does.
    pub(crate) const FULL: Self = Self {
        rows: 1_000_000,
        crash_rows: 2_000_000,
        messages: 1_000_000,
        tables: 10_000,
        calls: 50_000,
        commits: 200,
    };

    /// What `--quick` does.
    pub(crate) const QUICK: Self =
        Self { rows: 100_000, crash_rows: 100_000, messages: 100_000, tables: 10_000, calls: 10_000, commits: 50 };
}

/// Employees of one department: what a partition holds.
pub(crate) const DEPARTMENT: usize = 1_000;

/// The employee of the table design guide. It declares no index, so it is written row by row.
#[derive(Entity, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:07}")]
pub(crate) struct Employee {
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

/// The department of an employee.
pub(crate) fn department(number: usize) -> String {
    format!("Dept{:04}", number / DEPARTMENT)
}

/// Numbers below `end` in no order, others in each round and the same in each run.
pub(crate) fn random_numbers(end: usize, count: usize, round: usize) -> Vec<usize> {
    let mut random = fastrand::Rng::with_seed(round as u64);
    (0..count).map(|_| random.usize(..end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_about_four_hundred_bytes() {
        let size = (0..100).map(|number| postcard::to_stdvec(&employee(number)).unwrap().len()).sum::<usize>() / 100;
        assert!((340..460).contains(&size), "{size}");
    }
}
