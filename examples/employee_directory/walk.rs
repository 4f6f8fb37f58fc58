//! Every access path, with what it costs.

use table_core::query::{CostClass, ResultPage};
use table_core::{PartitionKey, Query, Result, Versioned};
use table_patterns::inter_partition_secondary_index::Reads;
use table_patterns::{Family, Series};

use crate::commands::number_of;
use crate::directory::Directory;
use crate::domain::{
    Claim, Department, Employee, EmployeeByEmail, Leaver, Messages, Person, PersonByEmail, Photo, Review, Staff,
};
use crate::report::Report;
use crate::seed::{DAY, JO, employee, picture};

/// The address of the employee that most calls are about.
const EMAIL: &str = "jones223@contoso.com";
/// Somebody who is hired, moved and let go in one walk.
const TEMP: u32 = 999;

/// Each way to reach an entity, from the cheapest to the dearest.
pub(crate) async fn walk(directory: &Directory) -> Result<()> {
    let report = Report::new(directory);
    Report::header();
    by_key(directory, &report).await?;
    by_index(directory, &report).await?;
    related(directory, &report).await?;
    changes(directory, &report).await?;
    moves(directory, &report).await?;
    dear(directory, &report).await?;
    Report::footer();
    Ok(())
}

async fn by_key(directory: &Directory, report: &Report<'_>) -> Result<()> {
    let staff = &directory.staff;
    Report::heading("By key");
    let jo = staff.require(Employee::key("Sales", JO));
    report.call(CostClass::Point, r#"require(key("Sales", 223))"#, jo, name).await?;
    let query = Employee::range("Sales").id_range(220..230);
    let class = query.explain()?.class();
    report.call(class, r#"range("Sales").id_range(220..230)"#, staff.all(query), counted("employees")).await?;
    let either = Employee::ID.eq(JO) | Employee::ID.eq(250);
    let query = Query::<Employee>::all().filter(Employee::DEPARTMENT.eq("Sales") & either);
    let class = query.explain()?.class();
    report.call(class, "filter(ID.eq(223) | ID.eq(250))", staff.all(query), counted("employees")).await?;
    Ok(())
}

async fn by_index(directory: &Directory, report: &Report<'_>) -> Result<()> {
    let (employees, people) = (&directory.employees, &directory.people);
    Report::heading("By index, in a department");
    let copy = employees.require(Employee::by_email("Sales", EMAIL));
    report.call(CostClass::Point, r#"get(by_email("Sales", "jones223@…"))"#, copy, shown_copy).await?;
    let whole = employees.full(Employee::by_email("Sales", EMAIL));
    report.call(CostClass::Point, r#"full(by_email("Sales", "jones223@…"))"#, whole, found(name)).await?;
    let query = Employee::by_last_name("Sales", "Hall");
    let class = query.explain()?.class();
    report.call(class, r#"all(by_last_name("Sales", "Hall"))"#, employees.all(query), counted("employees")).await?;
    Report::heading("By index, in the whole company");
    for (reads, call) in [
        (Reads::Fast, r#"find(by_email("jones223@…"), Fast)"#),
        (Reads::Verified, r#"find(by_email("jones223@…"), Verified)"#),
    ] {
        let person = people.find(Person::by_email(EMAIL), reads);
        report.call(CostClass::Point, call, person, found(number)).await?;
    }
    let person = people.full(Person::by_email(EMAIL));
    let place = |person: &Versioned<Person>| format!("employee {} of {}", person.id, person.department);
    report.call(CostClass::Point, r#"full(by_email("jones223@…"))"#, person, found(place)).await?;
    Ok(())
}

fn number(copy: &Versioned<PersonByEmail>) -> String {
    format!("employee {}", copy.id)
}

fn shown_copy(copy: &Versioned<EmployeeByEmail>) -> String {
    format!("{} {}", copy.first_name, copy.last_name)
}

async fn related(directory: &Directory, report: &Report<'_>) -> Result<()> {
    Report::heading("With what belongs to it");
    let family = directory.families.get(Employee::key("Sales", JO));
    let shown = |family: &Option<Family<Employee, Review>>| {
        let shown = |family: &Family<_, _>| format!("{}, {} reviews", name(&family.head), family.parts.len());
        family.as_ref().map_or_else(nobody, shown)
    };
    report.call(CostClass::Range, "families.get(key)", family, shown).await?;
    let query = Review::range("Sales").id(JO).year_range(2013..);
    let class = query.explain()?.class();
    report.call(class, "Review::range(…).year_range(2013..)", directory.staff.all(query), counted("reviews")).await?;
    let claims = directory.claims(JO)?;
    let latest = |claims: &Vec<Versioned<Claim>>| {
        let day = claims.first().map(|claim| claim.at.to_string()).unwrap_or_default();
        format!("{} claims, up to {}", claims.len(), day.get(..10).unwrap_or_default())
    };
    report.call(CostClass::Range, "claims.latest(5)", claims.latest(5), latest).await?;
    let first = claims.page(10, None);
    let first = report.call(CostClass::Range, "claims.page(10, None)", first, page_line).await?;
    let next = claims.page(10, first.next.as_ref());
    report.call(CostClass::Range, "claims.page(10, next)", next, page_line).await?;
    let day = directory.messages.get(Messages::key(JO, DAY));
    let sum = |series: &Versioned<Series<Messages, i32>>| {
        let values = series.values().iter().flatten();
        let (hours, sum) = values.fold((0, 0), |(hours, sum), value| (hours + 1, sum + value));
        format!("{sum} messages in {hours} hours")
    };
    report.call(CostClass::Point, "messages.get(key(223, 20140731))", day, found(sum)).await?;
    let photo = directory.photo(JO);
    let bytes = |photo: &Versioned<Photo>| format!("{} bytes, from a blob", photo.picture.len());
    report.call(CostClass::Point, "photo(223)", photo, found(bytes)).await?;
    let sales = directory.staff.require(Department::key("Sales"));
    report.call(CostClass::Point, r#"require(Department::key("Sales"))"#, sales, managed).await?;
    Ok(())
}

async fn changes(directory: &Directory, report: &Report<'_>) -> Result<()> {
    let write = "write";
    Report::heading("Changes");
    let patch = Employee::patch(Employee::key("Sales", 224)).age(30);
    report.call(write, "patch(key).age(30)", directory.staff.patch(patch), |_| "one property".into()).await?;
    let today = Messages { employee: JO, day: DAY };
    let sent = directory.messages.increment(&today, 17, 1);
    report.call(write, "messages.increment(&day, 17, 1)", sent, |sum| format!("{sum} now")).await?;
    let renamed = directory.departments.update(Employee::key("Sales", JO), |jo| {
        jo.last_name = if jo.last_name == "Jones" { "Johnson".into() } else { "Jones".into() };
    });
    report.call(write, "update(key, |jo| jo.last_name = …)", renamed, name).await?;
    let sales = directory.staff.require(Department::key("Sales"));
    report.call(CostClass::Point, r#"require(Department::key("Sales"))"#, sales, managed).await?;
    let photo = directory.keep_photo(JO, picture(JO));
    report.call(write, "keep_photo(223, the same)", photo, |()| "the blob stays".into()).await?;
    Ok(())
}

/// What spans partitions. It leaves everybody where they were, and one more in the archive.
async fn moves(directory: &Directory, report: &Report<'_>) -> Result<()> {
    let by_queue = "mover";
    Report::heading("Across departments, by way of a queue");
    let new = employee("Sales", TEMP);
    let hired = directory.hire(std::slice::from_ref(&new), &|| ());
    report.call(by_queue, "hire(&[employee])", hired, |()| format!("{} {}", new.first_name, new.last_name)).await?;
    let moved = directory.relocate(TEMP, "Marketing");
    report.call(by_queue, r#"relocate(999, "Marketing")"#, moved, |done| done_or_not(*done, "it works there")).await?;
    let place = directory.people.get(Person::key(TEMP));
    let found_at = found(|person: &Versioned<Person>| format!("works in {}", person.department));
    report.call(CostClass::Point, "people.get(key(999))", place, found_at).await?;
    let left = directory.let_go(TEMP);
    report.call(by_queue, "let_go(999)", left, |done| done_or_not(*done, "it is in the archive")).await?;
    let archived = directory.archive.all(Leaver::range("Marketing").id(TEMP));
    report.call(CostClass::Range, r#"archive.all(range("Marketing"))"#, archived, counted("in the archive")).await?;
    Ok(())
}

async fn dear(directory: &Directory, report: &Report<'_>) -> Result<()> {
    let staff = &directory.staff;
    Report::heading("What costs more");
    let query = Employee::range("Sales").query().filter(Employee::AGE.ge(60));
    let class = query.explain()?.class();
    report.call(class, r#"range("Sales").filter(AGE.ge(60))"#, staff.all(query), counted("of 40 employees")).await?;
    let query = Query::<Staff>::partition(&PartitionKey::new("Marketing")?).allow_scan();
    let class = query.explain()?.class();
    report.call(class, r#"Query::<Staff>::partition("Marketing")"#, staff.all(query), |all| by_type(all)).await?;
    let query = Query::<Employee>::all().filter(Employee::AGE.ge(60));
    if let Err(refused) = staff.all(query.clone()).await {
        Report::line("refused", "Query::all().filter(AGE.ge(60))", &refused.kind().to_string());
    }
    let class = query.explain()?.class();
    report.call(class, "….allow_scan()", staff.all(query.allow_scan()), counted("employees")).await?;
    Ok(())
}

fn name(employee: &Versioned<Employee>) -> String {
    format!("{} {}, {}", employee.first_name, employee.last_name, employee.age)
}

fn nobody() -> String {
    "nobody".to_owned()
}

fn managed(department: &Versioned<Department>) -> String {
    let manager = department.manager_name.as_deref().unwrap_or("nobody");
    format!("{} employees under {manager}", department.employee_count)
}

fn done_or_not(done: bool, text: &str) -> String {
    if done { text.to_owned() } else { "not done yet".to_owned() }
}

/// Says what was found, or that nothing was.
fn found<T>(shown: impl Fn(&T) -> String) -> impl Fn(&Option<T>) -> String {
    move |found| found.as_ref().map_or_else(nobody, &shown)
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
    let employees = number_of(count(|each| matches!(each, Staff::Employee(_))), "employee");
    let reviews = number_of(count(|each| matches!(each, Staff::Review(_))), "review");
    format!("{employees}, {reviews}")
}
