//! Every access path, with what it costs.

use table_core::query::{CostClass, ResultPage};
use table_core::{PartitionKey, Query, Result, Versioned};
use table_patterns::inter_partition_secondary_index::Reads;

use crate::directory::Directory;
use crate::domain::{Claim, Department, Employee, EmployeeByDirectory, EmployeeByEmail, Messages, Review, Staff};
use crate::report::Report;
use crate::seed::{DAY, JO};

/// Each way to reach an entity, from the cheapest to the dearest.
pub(crate) async fn walk(directory: &Directory) -> Result<()> {
    let report = Report::new(&directory.meter);
    Report::header();
    by_key(directory, &report).await?;
    by_index(directory, &report).await?;
    related(directory, &report).await?;
    changes(directory, &report).await?;
    dear(directory, &report).await?;
    Report::rule();
    Ok(())
}

async fn by_key(directory: &Directory, report: &Report<'_>) -> Result<()> {
    let staff = &directory.staff;
    Report::heading("By key");
    let jo = staff.require(Employee::key("Sales", JO));
    report.call(CostClass::Point, r#"Employee::key("Sales", 223)"#, jo, name).await?;
    let query = Employee::range("Sales").id_range(220..230);
    let class = query.explain()?.class();
    report
        .call(class, r#"Employee::range("Sales").id_range(220..230)"#, staff.all(query), counted("employees"))
        .await?;
    let either = Employee::ID.eq(JO) | Employee::ID.eq(240);
    let query = Query::<Employee>::all().filter(Employee::DEPARTMENT.eq("Sales") & either);
    let class = query.explain()?.class();
    report.call(class, "ID.eq(223) | ID.eq(240)", staff.all(query), counted("employees")).await?;
    Ok(())
}

async fn by_index(directory: &Directory, report: &Report<'_>) -> Result<()> {
    let employees = &directory.employees;
    Report::heading("By index");
    let copy = employees.require(Employee::by_email("Sales", "jones223@contoso.com"));
    report.call(CostClass::Point, r#"by_email("Sales", "jones223@...")"#, copy, shown_copy).await?;
    let whole = employees.full(Employee::by_email("Sales", "jones223@contoso.com"));
    report
        .call(CostClass::Point, "the same, and the whole employee", whole, |jo| jo.as_ref().map_or_else(nobody, name))
        .await?;
    let query = Employee::by_last_name("Sales", "Jones");
    let class = query.explain()?.class();
    report.call(class, r#"by_last_name("Sales", "Jones")"#, employees.all(query), counted("employees")).await?;
    for (reads, call) in [
        (Reads::Fast, r#"by_directory("jones223@..."), any department"#),
        (Reads::Verified, "the same, checked with its employee"),
    ] {
        let found = employees.find(Employee::by_directory("jones223@contoso.com"), reads);
        let shown = |copy: &Option<Versioned<_>>| {
            copy.as_ref().map_or_else(nobody, |copy: &Versioned<EmployeeByDirectory>| {
                format!("{} {} of {}", copy.first_name, copy.last_name, copy.department)
            })
        };
        report.call(CostClass::Point, call, found, shown).await?;
    }
    Ok(())
}

fn shown_copy(copy: &Versioned<EmployeeByEmail>) -> String {
    format!("{} {}", copy.first_name, copy.last_name)
}

async fn related(directory: &Directory, report: &Report<'_>) -> Result<()> {
    Report::heading("With what belongs to it");
    let family = directory.families.get(Employee::key("Sales", JO));
    let shown = |family: &Option<table_patterns::Family<Employee, Review>>| {
        family
            .as_ref()
            .map_or_else(nobody, |family| format!("{} and {} reviews", name(&family.head), family.parts.len()))
    };
    report.call(CostClass::Range, "an employee and its reviews", family, shown).await?;
    let query = Review::range("Sales").id(JO).year_range(2013..);
    let class = query.explain()?.class();
    report.call(class, "its reviews since 2013", directory.staff.all(query), counted("reviews")).await?;
    let claims = directory.claims(JO)?;
    let latest = |claims: &Vec<Versioned<Claim>>| {
        let day = claims.first().map(|claim| claim.at.to_string()).unwrap_or_default();
        format!("{} claims, the latest of {}", claims.len(), day.get(..10).unwrap_or_default())
    };
    report.call(CostClass::Range, "its five latest expense claims", claims.latest(5), latest).await?;
    let first = claims.page(10, None);
    let first = report.call(CostClass::Range, "a page of ten claims", first, page_line).await?;
    let next = claims.page(10, first.next.as_ref());
    report.call(CostClass::Range, "the next page, by its continuation", next, page_line).await?;
    let day = directory.messages.get(Messages::key(JO, DAY));
    let sum = |series: &Option<Versioned<table_patterns::Series<Messages, i32>>>| {
        let values = series.iter().flat_map(|series| series.values().iter().flatten());
        let (hours, sum) = values.fold((0, 0), |(hours, sum), value| (hours + 1, sum + value));
        format!("{sum} messages in {hours} hours")
    };
    report.call(CostClass::Point, "its messages of a day, by the hour", day, sum).await?;
    let sales = directory.staff.require(Department::key("Sales"));
    report.call(CostClass::Point, "a department and its manager", sales, managed).await?;
    Ok(())
}

async fn changes(directory: &Directory, report: &Report<'_>) -> Result<()> {
    let write = "write";
    Report::heading("Changes");
    let patch = Employee::patch(Employee::key("Sales", 224)).age(30);
    report
        .call(write, "patch(key).age(30)", directory.staff.patch(patch), |_| "a merge of one property".into())
        .await?;
    let today = Messages { employee: JO, day: DAY };
    let sent = directory.messages.increment(&today, 17, 1);
    report.call(write, "one more message at 17:00", sent, |sum| format!("{sum} now, none is lost")).await?;
    let renamed = directory.change("Sales", JO, |jo| {
        jo.last_name = if jo.last_name == "Jones" { "Johnson".into() } else { "Jones".into() };
    });
    report.call(write, "a new last name, in five rows", renamed, |()| "indexes and department follow".into()).await?;
    let sales = directory.staff.require(Department::key("Sales"));
    report.call(CostClass::Point, "the department again", sales, managed).await?;
    Ok(())
}

async fn dear(directory: &Directory, report: &Report<'_>) -> Result<()> {
    let staff = &directory.staff;
    Report::heading("What costs more");
    let query = Employee::range("Sales").query().filter(Employee::AGE.ge(60));
    let class = query.explain()?.class();
    report.call(class, r#"range("Sales"), AGE.ge(60)"#, staff.all(query), counted("of 40 employees read")).await?;
    let query = Query::<Staff>::partition(&PartitionKey::new("Marketing")?).allow_scan();
    let class = query.explain()?.class();
    report.call(class, "all of Marketing, by type", staff.all(query), |all| by_type(all)).await?;
    let query = Query::<Employee>::all().filter(Employee::AGE.ge(60));
    if let Err(refused) = staff.all(query.clone()).await {
        Report::line("refused", "AGE.ge(60), anywhere", &refused.kind().to_string());
    }
    let class = query.explain()?.class();
    report.call(class, "the same with allow_scan()", staff.all(query.allow_scan()), counted("employees")).await?;
    Ok(())
}

fn name(employee: &Versioned<Employee>) -> String {
    format!("{} {}, {}", employee.first_name, employee.last_name, employee.age)
}

fn nobody() -> String {
    "nobody".to_owned()
}

fn managed(department: &Versioned<Department>) -> String {
    format!("{}, managed by {}", department.name, department.manager_name.as_deref().unwrap_or("nobody"))
}

fn page_line(page: &ResultPage<Claim>) -> String {
    let numbers = || page.items.iter().map(|claim| claim.number);
    format!("claims {} to {}", numbers().max().unwrap_or_default(), numbers().min().unwrap_or_default())
}

/// Says how many were found.
fn counted<T>(what: &'static str) -> impl Fn(&Vec<T>) -> String {
    move |found| format!("{} {what}", found.len())
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
