//! Our client of Azure Tables beside two of the SDKs', on the emulator.
//!
//! The emulator answers about a thousand requests a second, whoever asks; so what is compared is the CPU time
//! that a client takes for a call, which is what remains to an application when the service is far and fast.

use std::env;
use std::hint::black_box;
use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cpu_time::ProcessTime;
use futures_util::stream;
use serde_json::{Value, json};
use table_azure::AzureAccount;
use table_core::{LoadOptions, Table, TableTransaction};

use crate::Result;
use crate::bench::{Bench, Measure, Side};
use crate::fixtures::Fixtures;
use crate::peers::old_azure::{OldAzure, row_key};
use crate::peers::python::Python;
use crate::workload::{DEPARTMENT, Employee, employee, random_numbers};

/// The variable that holds the emulator's connection string.
const VARIABLE: &str = "TABLE_PATTERNS_AZURITE";
const NO_AZURITE: &str = "Azurite does not run; `cargo xtask bench` starts it where Node.js is installed";
const NO_PYTHON: &str =
    "there is no Python with azure-data-tables; `cargo xtask bench` installs that where Python 3 is";
const OLD: &str = "azure_data_tables 0.21";
const PYTHON: &str = "Python's azure-data-tables";

/// Rows of a transaction: as many as the service takes.
const ROWS: usize = 100;
/// Employees that are there to be read.
const READ: usize = 2 * DEPARTMENT;
/// Numbers of the first employees that are written one by one, and a hundred at once.
const FIRST_INSERTED: usize = 1_000_000;
const FIRST_TRANSACTED: usize = 2_000_000;

/// What is done to a table.
#[derive(Debug, Clone, Copy)]
enum Operation {
    Insert,
    Get,
    Transact,
}

impl Operation {
    const ALL: [Self; 3] = [Self::Insert, Self::Get, Self::Transact];

    const fn name(self) -> &'static str {
        match self {
            Self::Insert => "azure/CPU time of an insert",
            Self::Get => "azure/CPU time of a get",
            Self::Transact => "azure/CPU time of a transaction of 100",
        }
    }

    /// What the Python script calls it.
    const fn verb(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Get => "get",
            Self::Transact => "transact",
        }
    }

    /// The employees of each call in a round.
    fn calls(self, fixtures: &Fixtures, round: usize) -> Vec<Vec<Employee>> {
        let calls = fixtures.scale.requests;
        match self {
            Self::Insert => (0..calls).map(|number| vec![employee(FIRST_INSERTED + round * calls + number)]).collect(),
            Self::Get => random_numbers(READ, calls, round).into_iter().map(|number| vec![employee(number)]).collect(),
            Self::Transact => {
                let calls = calls.div_ceil(20);
                let first = |number: usize| FIRST_TRANSACTED + (round * calls + number) * ROWS;
                (0..calls).map(|number| (first(number)..first(number) + ROWS).map(employee).collect()).collect()
            }
        }
    }
}

pub(super) fn run(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    let wanted: Vec<Operation> = Operation::ALL.into_iter().filter(|each| bench.wants(each.name())).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let Ok(connection_string) = env::var(VARIABLE) else {
        for operation in wanted {
            bench.leave_out(operation.name(), NO_AZURITE);
        }
        return Ok(());
    };
    let clients = Clients::open(fixtures, &connection_string)?;
    for operation in wanted {
        let old = (Measure::time(operation.name(), OLD).at_most(0.7), clients.old(fixtures, operation));
        let python = clients.python(fixtures, operation);
        if python.is_none() {
            bench.leave_out(&format!("{} vs {PYTHON}", operation.name()), NO_PYTHON);
        }
        let python = python.map(|side| (Measure::time(operation.name(), PYTHON).at_most(0.1), side));
        let (measures, peers) = std::iter::once(old).chain(python).unzip();
        bench.compare_each(measures, || Ok((clients.ours(fixtures, operation), peers)))?;
    }
    fixtures.runtime.block_on(clients.remove())
}

/// A table for each client, so that all can insert the same.
struct Clients {
    ours: Table,
    old: OldAzure,
    of_old: Table,
    python: Option<Rc<Python>>,
    of_python: Table,
}

impl Clients {
    fn open(fixtures: &Fixtures, connection_string: &str) -> Result<Self> {
        let account = AzureAccount::from_connection_string(connection_string)?;
        // The emulator may be somebody's own, and have tables already.
        let name = |whose: &str| format!("Bench{whose}{}", std::process::id());
        let table = |whose: &str| Table::new(account.tables(), &name(whose));
        let (ours, of_old, of_python) = (table("Ours")?, table("Old")?, table("Python")?);
        fixtures.runtime.block_on(async {
            for table in [&ours, &of_old, &of_python] {
                table.create().await?;
                table.load(stream::iter((0..READ).map(employee)), LoadOptions::default()).await?;
            }
            Ok::<_, table_core::Error>(())
        })?;
        let old = OldAzure::open(connection_string, &name("Old"))?;
        let python = Python::installed().map(Python::start).transpose()?.map(Rc::new);
        Ok(Self { ours, old, of_old, python, of_python })
    }

    /// Leaves nothing behind in an emulator that goes on.
    async fn remove(self) -> Result {
        for table in [self.ours, self.of_old, self.of_python] {
            table.store().delete_table(table.name()).await?;
        }
        Ok(())
    }

    fn ours<'s>(&'s self, fixtures: &'s Fixtures, operation: Operation) -> Side<'s> {
        let table = &self.ours;
        cpu_per_call(fixtures, operation, async move |employees| match (operation, employees) {
            (Operation::Insert, [employee]) => {
                black_box(table.insert(employee).await?);
                Ok(())
            }
            (Operation::Get, [Employee { department, id, .. }]) => {
                black_box(table.require(Employee::key(department, *id)).await?);
                Ok(())
            }
            (_, employees) => {
                let transaction = employees.iter().fold(table.transaction(), TableTransaction::insert);
                black_box(transaction.commit().await?);
                Ok(())
            }
        })
    }

    fn old<'s>(&'s self, fixtures: &'s Fixtures, operation: Operation) -> Side<'s> {
        let table = &self.old;
        cpu_per_call(fixtures, operation, async move |employees| match (operation, employees) {
            (Operation::Insert, [employee]) => table.insert(employee).await,
            (Operation::Get, [Employee { department, id, .. }]) => {
                black_box(table.get(department, *id).await?);
                Ok(())
            }
            (_, employees) => table.transact(employees).await,
        })
    }

    fn python<'s>(&'s self, fixtures: &'s Fixtures, operation: Operation) -> Option<Side<'s>> {
        let python = Rc::clone(self.python.as_ref()?);
        Some(Box::new(move |round| {
            let rows = operation.calls(fixtures, round).into_iter().flatten();
            let rows = rows.map(|employee| row_for_python(&employee)).collect::<Result<Vec<Value>>>()?;
            python.cpu_per_call(operation.verb(), self.of_python.name().as_str(), &rows)
        }))
    }
}

/// The CPU time of this process for each call, of all its threads.
fn cpu_per_call<'s>(
    fixtures: &'s Fixtures,
    operation: Operation,
    call: impl AsyncFn(&[Employee]) -> Result + 's,
) -> Side<'s> {
    Box::new(move |round| {
        let calls = operation.calls(fixtures, round);
        let start = ProcessTime::now();
        fixtures.runtime.block_on(async {
            for employees in &calls {
                call(employees).await?;
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
        })?;
        Ok(start.elapsed().as_secs_f64() / calls.len() as f64)
    })
}

fn row_for_python(employee: &Employee) -> Result<Value> {
    Ok(json!({
        "PartitionKey": employee.department,
        "RowKey": row_key(employee.id),
        "Age": employee.age,
        "Email": employee.email,
        "FirstName": employee.first_name,
        "LastName": employee.last_name,
        "Photo": STANDARD.encode(employee.photo.as_deref().unwrap_or_default()),
        "Skills": serde_json::to_string(&employee.skills)?,
    }))
}
