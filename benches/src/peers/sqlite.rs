//! SQLite as one would use it for the same rows: write-ahead log, synced at every commit.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, Row, params};

use super::LOAD_BATCH;
use crate::Result;
use crate::workload::{Employee, Order, employee};

const SCHEMA: &str = "
    CREATE TABLE employees (
        department TEXT NOT NULL, id INTEGER NOT NULL, first_name TEXT NOT NULL, last_name TEXT NOT NULL,
        age INTEGER NOT NULL, email TEXT NOT NULL, skills TEXT NOT NULL, photo BLOB,
        PRIMARY KEY (department, id)
    ) WITHOUT ROWID";
const INDEXES: &str = "
    CREATE UNIQUE INDEX employees_by_email ON employees (department, email);
    CREATE INDEX employees_by_last_name ON employees (department, last_name, id)";
const INSERT: &str = "INSERT INTO employees VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
const REPLACE: &str = "REPLACE INTO employees VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
const GET: &str = "SELECT * FROM employees WHERE department = ?1 AND id = ?2";
const BY_EMAIL: &str = "SELECT * FROM employees WHERE department = ?1 AND email = ?2";
const NAME_BY_EMAIL: &str = "SELECT id, first_name, last_name FROM employees WHERE department = ?1 AND email = ?2";
const BY_LAST_NAME: &str = "SELECT * FROM employees WHERE department = ?1 AND last_name = ?2 ORDER BY id";
const NAMES_BY_LAST_NAME: &str =
    "SELECT id, first_name, last_name FROM employees WHERE department = ?1 AND last_name = ?2 ORDER BY id";

/// What an index copy of ours holds: id, first and last name.
pub(crate) type Name = (u32, String, String);

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

    /// A new file with the two indexes.
    pub(crate) fn create_indexed(path: &Path) -> Result<Self> {
        let sqlite = Self::create(path)?;
        sqlite.connection.execute_batch(INDEXES)?;
        Ok(sqlite)
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
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

    /// Reads one employee by email.
    pub(crate) fn by_email(&self, department: &str, email: &str) -> Result<Employee> {
        let mut statement = self.connection.prepare_cached(BY_EMAIL)?;
        let mut rows = statement.query(params![department, email])?;
        read(rows.next()?.ok_or("there is no such employee")?)
    }

    /// Reads one name by email.
    pub(crate) fn name_by_email(&self, department: &str, email: &str) -> Result<Name> {
        let mut statement = self.connection.prepare_cached(NAME_BY_EMAIL)?;
        let mut rows = statement.query(params![department, email])?;
        read_name(rows.next()?.ok_or("there is no such employee")?)
    }

    /// Reads the employees of a last name.
    pub(crate) fn by_last_name(&self, department: &str, last_name: &str) -> Result<Vec<Employee>> {
        self.all(BY_LAST_NAME, department, last_name, read)
    }

    /// Reads the names of those of a last name.
    pub(crate) fn names_by_last_name(&self, department: &str, last_name: &str) -> Result<Vec<Name>> {
        self.all(NAMES_BY_LAST_NAME, department, last_name, read_name)
    }

    fn all<T>(
        &self,
        statement: &str,
        department: &str,
        last_name: &str,
        read: impl Fn(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut statement = self.connection.prepare_cached(statement)?;
        let mut rows = statement.query(params![department, last_name])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(read(row)?);
        }
        Ok(found)
    }

    /// Gives unused space back, and empties the log.
    pub(crate) fn compact(&self) -> Result {
        self.connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")?;
        Ok(())
    }
}

fn read_name(row: &Row<'_>) -> Result<Name> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
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
        let sqlite = Sqlite::create_indexed(&folder.path().join("employees.db")).unwrap();
        sqlite.load(3, Order::Random).unwrap();
        let third = employee(2);
        assert_eq!(sqlite.get("Dept0000", 2).unwrap(), third);
        assert_eq!(sqlite.another().unwrap().by_email("Dept0000", &third.email).unwrap(), third);
        assert_eq!(sqlite.name_by_email("Dept0000", &third.email).unwrap().1, third.first_name);
        assert_eq!(sqlite.by_last_name("Dept0000", "Jones").unwrap(), [employee(0), employee(1), third]);
        assert_eq!(sqlite.names_by_last_name("Dept0000", "Jones").unwrap().len(), 3);
    }
}
