//! A small employee directory on the embedded store: every access path with what it costs.
//!
//! `cargo run --example employee_directory [FILE]`. Without a file it uses a temporary one.

#![expect(clippy::print_stdout, reason = "the report is what the program is for")]

mod domain;
mod report;

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::stream;
use table_core::layer::Meter;
use table_core::{LoadOptions, PartitionKey, Query, Table};
use table_embedded::EmbeddedStore;

use domain::{Department, Employee, Review, Staff};
use report::Report;

type AnyError = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    let temporary = tempfile::tempdir()?;
    let path = std::env::args_os().nth(1).map_or_else(|| temporary.path().join("employees.redb"), PathBuf::from);
    let meter = Meter::new(EmbeddedStore::open(&path)?);
    let table = Table::new(Arc::new(meter.clone()), "Employees")?;
    if table.create_if_missing().await? {
        seed(&table).await?;
    }
    walk(&table, &Report::new(&meter)).await
}

/// Two departments with their employees and reviews, in as few transactions as the service allows.
async fn seed(table: &Table) -> Result<(), AnyError> {
    for name in ["Sales", "Marketing"] {
        let employees = domain::employees(name);
        table.insert(&Department { name: name.into(), employee_count: employees.len().try_into()? }).await?;
        let reviews: Vec<Review> = employees.iter().flat_map(domain::reviews).collect();
        table.load(stream::iter(employees), LoadOptions::default()).await?;
        table.load(stream::iter(reviews), LoadOptions::default()).await?;
    }
    Ok(())
}

/// Each way to reach an entity, from the cheapest to the dearest.
async fn walk(table: &Table, report: &Report<'_>) -> Result<(), AnyError> {
    Report::header();

    let jo = table.require(Employee::key("Sales", 223));
    let mut jo = report.call("point", r#"Employee::key("Sales", 223)"#, jo, |jo| jo.full_name()).await?;

    jo.age += 1;
    report
        .call("write", "replace what was read", table.replace(&mut jo), |()| "conditional on its version".into())
        .await?;
    let patch = Employee::patch(Employee::key("Sales", 224)).age(30);
    report.call("write", "patch one field", table.patch(patch), |_| "a merge of Age".into()).await?;

    let query = Employee::range("Sales").id_range(220..230);
    let class = query.explain()?.class();
    report.call(class, r#"range("Sales").id_range(220..230)"#, table.all(query), counted("employees")).await?;

    let query = Employee::range("Sales").query().filter(Employee::AGE.ge(60));
    let class = query.explain()?.class();
    report.call(class, r#"range("Sales"), AGE.ge(60)"#, table.all(query), counted("employees")).await?;

    let query = Review::range("Sales").id(223).year_range(2012..=2013);
    let class = query.explain()?.class();
    report.call(class, "reviews of one employee, two years", table.all(query), counted("reviews")).await?;

    let either = Employee::ID.eq(223) | Employee::ID.eq(240);
    let query = Query::<Employee>::all().filter(Employee::DEPARTMENT.eq("Sales") & either);
    let class = query.explain()?.class();
    report.call(class, "id 223 or 240", table.all(query), counted("employees")).await?;

    let query = Query::<Staff>::partition(&PartitionKey::new("Marketing")?).allow_scan();
    let class = query.explain()?.class();
    report.call(class, "all of Marketing, by type", table.all(query), |all| domain::by_type(all)).await?;

    let query = Query::<Employee>::all().filter(Employee::LAST_NAME.eq("Jones"));
    let refused = table.all(query.clone()).await.err().ok_or("a scan must be refused")?;
    Report::line("refused", "last name Jones, anywhere", &refused.kind().to_string());
    let class = query.explain()?.class();
    report.call(class, "the same with allow_scan()", table.all(query.allow_scan()), counted("employees")).await?;
    Report::footer();
    Ok(())
}

/// Says how many were found.
fn counted<T>(what: &'static str) -> impl Fn(&Vec<T>) -> String {
    move |found| format!("{} {what}", found.len())
}
