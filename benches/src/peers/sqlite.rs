//! SQLite as one would use it for the same rows: write-ahead log, synced at every commit.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, Row, params};

use crate::Result;
use crate::workload::{Employee, employee};

/// Rows that one commit of a load writes.
const LOAD_BATCH: usize = 1_600;

const SCHEMA: &str = "
    CREATE TABLE employees (
        department TEXT NOT NULL, id INTEGER NOT NULL, first_name TEXT NOT NULL, last_name TEXT NOT NULL,
        age INTEGER NOT NULL, email TEXT NOT NULL, skills TEXT NOT NULL, photo BLOB,
        PRIMARY KEY (department, id)
    ) WITHOUT ROWID";
const INSERT: &str = "INSERT INTO employees VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
const REPLACE: &str = "REPLACE INTO employees VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
const GET: &str = "SELECT * FROM employees WHERE department = ?1 AND id = ?2";
const SCAN: &str = "SELECT * FROM employees WHERE department = ?1 ORDER BY id";

/// A connection to a file of employees.
#[derive(Debug)]
pub(crate) struct Sqlite {
    path: PathBuf,
    connection: Connection,
}

impl Sqlite {
    /// A new file.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let sqlite = Self::open(path)?;
        sqlite.connection.execute(SCHEMA, [])?;
        Ok(sqlite)
    }

    /// Another connection, as each thread has one of its own.
    pub(crate) fn another(&self) -> Result<Self> {
        Self::open(&self.path)
    }

    pub(crate) fn open(path: &Path) -> Result<Self> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(60))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        // As much as an embedded store has, in KiB.
        connection.pragma_update(None, "cache_size", -256 * 1024)?;
        Ok(Self { path: path.to_owned(), connection })
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
        let transaction = self.connection.unchecked_transaction()?;
        for employee in employees {
            self.insert(&employee)?;
        }
        Ok(transaction.commit()?)
    }

    /// Writes one employee: durably, where no transaction is open.
    pub(crate) fn insert(&self, employee: &Employee) -> Result {
        self.write(INSERT, employee)
    }

    /// Writes one employee, over another if need be.
    pub(crate) fn replace(&self, employee: &Employee) -> Result {
        self.write(REPLACE, employee)
    }

    fn write(&self, statement: &str, employee: &Employee) -> Result {
        let Employee { department, id, first_name, last_name, age, email, skills, photo } = employee;
        let skills = serde_json::to_string(skills)?;
        self.connection.prepare_cached(statement)?.execute(params![
            department,
            id,
            first_name,
            last_name,
            age,
            email,
            skills,
            photo.as_deref()
        ])?;
        Ok(())
    }

    /// Reads one employee.
    pub(crate) fn get(&self, department: &str, id: u32) -> Result<Employee> {
        let mut statement = self.connection.prepare_cached(GET)?;
        let mut rows = statement.query(params![department, id])?;
        read(rows.next()?.ok_or("there is no such employee")?)
    }

    /// Reads a department.
    pub(crate) fn scan(&self, department: &str) -> Result<Vec<Employee>> {
        let mut statement = self.connection.prepare_cached(SCAN)?;
        let mut rows = statement.query(params![department])?;
        let mut employees = Vec::new();
        while let Some(row) = rows.next()? {
            employees.push(read(row)?);
        }
        Ok(employees)
    }

    /// Gives unused space back, and empties the log.
    pub(crate) fn compact(&self) -> Result {
        self.connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")?;
        Ok(())
    }
}

fn read(row: &Row<'_>) -> Result<Employee> {
    let photo: Option<Vec<u8>> = row.get(7)?;
    Ok(Employee {
        department: row.get(0)?,
        id: row.get(1)?,
        first_name: row.get(2)?,
        last_name: row.get(3)?,
        age: row.get(4)?,
        email: row.get(5)?,
        skills: serde_json::from_str(row.get_ref(6)?.as_str()?)?,
        photo: photo.map(Into::into),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_back_what_it_was_given() {
        let folder = tempfile::tempdir().unwrap();
        let sqlite = Sqlite::create(&folder.path().join("employees.db")).unwrap();
        sqlite.load(0..3).unwrap();
        assert_eq!(sqlite.get("Dept0000", 2).unwrap(), employee(2));
        assert_eq!(sqlite.another().unwrap().scan("Dept0000").unwrap(), [employee(0), employee(1), employee(2)]);
    }
}
