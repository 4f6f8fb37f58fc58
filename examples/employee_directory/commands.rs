//! The subcommands: the directory as a small tool on a kept file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::builder::RangedI64ValueParser;
use clap::{Args, Subcommand};
use table_core::{Error, ErrorKind, Query, Result, Versioned};

use crate::directory::Directory;
use crate::domain::{Department, Employee, Leaver, Person, Review, Staff};

/// The numbers that employees can have: six digits, as their keys.
fn numbers() -> RangedI64ValueParser<u32> {
    RangedI64ValueParser::new().range(1..=999_999)
}

/// What to do with the directory.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Adds an employee, and the department where that is new.
    Add(NewEmployee),
    /// Finds employees by number, by address, or in a department.
    Find(Wanted),
    /// Moves an employee to another department, with all reviews.
    Move {
        #[arg(value_parser = numbers())]
        id: u32,
        department: String,
    },
    /// Lets an employee go, and moves what was known to the archive; without a number, shows the archive.
    Archive {
        #[arg(value_parser = numbers())]
        id: Option<u32>,
    },
    /// Shows the reviews of an employee, or adds one.
    Reviews {
        #[arg(value_parser = numbers())]
        id: u32,
        /// Adds a review: the year and a rating from 1 to 5.
        #[arg(long, num_args = 2, value_names = ["YEAR", "RATING"])]
        add: Option<Vec<u16>>,
    },
    /// Makes an employee the manager of their department.
    Appoint {
        #[arg(value_parser = numbers())]
        id: u32,
    },
    /// Keeps a photo of an employee, or writes it to a file.
    Photo {
        #[arg(value_parser = numbers())]
        id: u32,
        /// The file with the photo to keep.
        #[arg(long, value_name = "FILE", conflicts_with = "save", required_unless_present = "save")]
        keep: Option<PathBuf>,
        /// The file to write the photo to.
        #[arg(long, value_name = "FILE")]
        save: Option<PathBuf>,
    },
    /// Shows a department: its manager, its employees and their ratings.
    Report { department: String },
    /// Counts what is stored, and says what counting cost.
    Stats,
}

#[derive(Args, Debug)]
pub(crate) struct NewEmployee {
    department: String,
    #[arg(value_parser = numbers())]
    id: u32,
    first_name: String,
    last_name: String,
    email: String,
    #[arg(value_parser = clap::value_parser!(i32).range(14..=120), allow_negative_numbers = true)]
    age: i32,
}

#[derive(Args, Debug)]
#[group(required = true)]
pub(crate) struct Wanted {
    /// Who has this number, in any department.
    #[arg(long, value_parser = numbers(), conflicts_with_all = ["email", "department", "last_name"])]
    id: Option<u32>,
    /// Who has this address, in any department.
    #[arg(long, conflicts_with_all = ["department", "last_name"])]
    email: Option<String>,
    /// Everybody in this department.
    #[arg(long)]
    department: Option<String>,
    /// Everybody with this last name in the department.
    #[arg(long, requires = "department")]
    last_name: Option<String>,
}

/// Runs a subcommand.
pub(crate) async fn run(directory: &Directory, command: Command) -> Result<()> {
    match command {
        Command::Add(new) => add(directory, new).await,
        Command::Find(wanted) => find(directory, wanted).await,
        Command::Move { id, department } => relocate(directory, id, &department).await,
        Command::Archive { id: Some(id) } => let_go(directory, id).await,
        Command::Archive { id: None } => archived(directory).await,
        Command::Reviews { id, add: None } => reviews(directory, id).await,
        Command::Reviews { id, add: Some(add) } => add_review(directory, id, &add).await,
        Command::Appoint { id } => {
            directory.appoint(id).await.map(|department| println!("{}", department_line(&department)))
        }
        Command::Photo { id, keep: Some(file), .. } => keep_photo(directory, id, &file).await,
        Command::Photo { id, save, .. } => save_photo(directory, id, &save.unwrap_or_default()).await,
        Command::Report { department } => report(directory, &department).await,
        Command::Stats => stats(directory).await,
    }
}

async fn add(directory: &Directory, new: NewEmployee) -> Result<()> {
    let NewEmployee { department, id, first_name, last_name, email, age } = new;
    let email = address(&email)?;
    let employee = Employee { department, id, first_name, last_name, age, email, posting: String::new() };
    for (name, text) in
        [("department", &employee.department), ("first name", &employee.first_name), ("last name", &employee.last_name)]
    {
        if text.trim().is_empty() {
            return Err(Error::invalid_value(format!("the {name} is empty")));
        }
    }
    if let Err(error) = directory.hire(std::slice::from_ref(&employee), &|| ()).await {
        return Err(if error.kind() == ErrorKind::AlreadyExists { taken(directory, &employee).await? } else { error });
    }
    println!("{}", employee.line());
    Ok(())
}

/// Addresses are compared without case, so they are kept in one.
fn address(text: &str) -> Result<String> {
    let parts = text.trim().split_once('@').filter(|(name, host)| !name.is_empty() && host.contains('.'));
    parts
        .map(|_| text.trim().to_lowercase())
        .ok_or_else(|| Error::invalid_value(format!("{text:?} is no email address; it looks like jo@contoso.com")))
}

/// Says who has what a new employee was to have.
async fn taken(directory: &Directory, new: &Employee) -> Result<Error> {
    let (holder, what) = match directory.people.get(Person::key(new.id)).await? {
        Some(holder) => (Some(holder), format!("the number {}", new.id)),
        None => (directory.people.full(Person::by_email(&new.email)).await?, format!("the address {}", new.email)),
    };
    let Some(holder) = holder else {
        return Ok(Error::already_exists(format!("{what} was just taken by somebody else; try again")));
    };
    let Person { id, department, .. } = holder.value();
    if directory.staff.get(Employee::key(department, *id)).await?.is_none() {
        return Ok(Error::already_exists(format!(
            "{what} belongs to somebody who is being added or moved; if that run was cut off, try again in half a minute"
        )));
    }
    Ok(Error::already_exists(format!("{what} belongs to employee {id} of {department}; choose another")))
}

async fn find(directory: &Directory, wanted: Wanted) -> Result<()> {
    let employees = &directory.employees;
    let found: Vec<Versioned<Employee>> = match (wanted.id, wanted.email, wanted.department, wanted.last_name) {
        (Some(id), ..) => at_home(directory, directory.people.get(Person::key(id)).await?).await?,
        (_, Some(email), ..) => {
            let person = directory.people.full(Person::by_email(&address(&email)?)).await?;
            at_home(directory, person).await?
        }
        (_, _, Some(department), Some(name)) => employees.all_full(Employee::by_last_name(&department, &name)).await?,
        (_, _, Some(department), _) => employees.all(Employee::range(&department)).await?,
        _ => Vec::new(),
    };
    if found.is_empty() {
        return Err(Error::not_found("nobody was found; `stats` shows the departments there are"));
    }
    for employee in found {
        println!("{}", employee.line());
    }
    Ok(())
}

/// The employee that a person is.
async fn at_home(directory: &Directory, person: Option<Versioned<Person>>) -> Result<Vec<Versioned<Employee>>> {
    let Some(person) = person else { return Ok(Vec::new()) };
    Ok(directory.employees.get(Employee::key(&person.department, person.id)).await?.into_iter().collect())
}

async fn relocate(directory: &Directory, id: u32, to: &str) -> Result<()> {
    if directory.relocate(id, to).await? {
        println!("{}", directory.staff.require(Employee::key(to, id)).await?.line());
    } else {
        println!("employee {id} is on the way to {to}; the next command finishes it");
    }
    Ok(())
}

async fn let_go(directory: &Directory, id: u32) -> Result<()> {
    if directory.let_go(id).await? {
        println!("employee {id} has left, and is in the archive");
    } else {
        println!("employee {id} is on the way to the archive; the next command finishes it");
    }
    Ok(())
}

async fn archived(directory: &Directory) -> Result<()> {
    // The archive is small, and is looked at seldom.
    let leavers = directory.archive.all(Query::<Leaver>::all().allow_scan()).await?;
    if leavers.is_empty() {
        println!("nobody is in the archive");
    }
    for leaver in leavers {
        let (day, reviews) = (leaver.left.to_string(), number_of(leaver.luggage.reviews.len(), "review"));
        println!("{}  left {}, {reviews}", leaver.luggage.employee.line(), day.get(..10).unwrap_or_default());
    }
    Ok(())
}

async fn reviews(directory: &Directory, id: u32) -> Result<()> {
    let department = directory.person(id).await?.department.clone();
    let Some(family) = directory.families.get(Employee::key(&department, id)).await? else {
        return Err(Error::not_found(format!("employee {id} is just moving; try again in half a minute")));
    };
    println!("{}", family.head.line());
    for review in &family.parts {
        println!("  {}: {}", review.year, "*".repeat(usize::try_from(review.rating).unwrap_or_default()));
    }
    Ok(())
}

async fn add_review(directory: &Directory, id: u32, add: &[u16]) -> Result<()> {
    let &[year @ 1900..=9999, rating @ 1..=5] = add else {
        return Err(Error::invalid_value("a review has a year of four digits and a rating from 1 to 5"));
    };
    let department = directory.person(id).await?.department.clone();
    let review = Review { department, id, year, rating: i32::from(rating) };
    match directory.families.add(&review).await {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(Error::already_exists(format!("employee {id} has a review of {year} already")));
        }
        result => result?,
    };
    reviews(directory, id).await
}

async fn keep_photo(directory: &Directory, id: u32, file: &Path) -> Result<()> {
    let picture = fs::read(file).map_err(|error| unusable(file, &error))?;
    let bytes = picture.len();
    directory.keep_photo(id, picture.into()).await?;
    println!("a photo of {bytes} bytes is kept");
    Ok(())
}

async fn save_photo(directory: &Directory, id: u32, file: &Path) -> Result<()> {
    let Some(photo) = directory.photo(id).await? else {
        return Err(Error::not_found(format!("employee {id} has no photo; `photo {id} --keep FILE` adds one")));
    };
    fs::write(file, &photo.picture).map_err(|error| unusable(file, &error))?;
    println!("{} bytes are in {}", photo.picture.len(), file.display());
    Ok(())
}

fn unusable(file: &Path, error: &std::io::Error) -> Error {
    Error::invalid_value(format!("cannot use the file {}: {error}", file.display()))
}

async fn report(directory: &Directory, department: &str) -> Result<()> {
    let Some(found) = directory.staff.get(Department::key(department)).await? else {
        return Err(Error::not_found(format!("there is no department {department}; `stats` shows those there are")));
    };
    println!("{}", department_line(&found));
    let employees = directory.employees.all(Employee::range(department)).await?;
    let reviews = directory.staff.all(Review::range(department).query()).await?;
    let width = employees.iter().map(|employee| employee.line().chars().count()).max().unwrap_or_default();
    for employee in &employees {
        let reviews = reviews.iter().filter(|review| review.id == employee.id);
        let ratings: Vec<String> = reviews.map(|review| format!("{}: {}", review.year, review.rating)).collect();
        let line = format!("  {:<width$}  {}", employee.line(), ratings.join(", "));
        println!("{}", line.trim_end());
    }
    Ok(())
}

pub(crate) fn department_line(department: &Department) -> String {
    let Department { name, manager_name, manager_email, employee_count, .. } = department;
    let manager = match (manager_name, manager_email) {
        (Some(name), Some(email)) => format!("managed by {name}, {email}"),
        _ => "without a manager".to_owned(),
    };
    let employees = number_of(usize::try_from(*employee_count).unwrap_or_default(), "employee");
    format!("{name}: {employees}, {manager}")
}

/// A number with its noun, in the plural where there is not one.
pub(crate) fn number_of(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

async fn stats(directory: &Directory) -> Result<()> {
    let before = directory.tables.report();
    // Counting everything is what a scan is for.
    let all = directory.staff.all(Query::<Staff>::all().allow_scan()).await?;
    let mut departments: BTreeMap<String, Vec<Versioned<Staff>>> = BTreeMap::new();
    for each in all {
        departments.entry(each.key().partition.to_string()).or_default().push(each);
    }
    for (name, staff) in departments {
        println!("{name}: {}", crate::walk::by_type(&staff));
    }
    let archived = directory.archive.all(Query::<Leaver>::all().allow_scan()).await?.len();
    println!("{archived} in the archive");
    let cost = (directory.tables.report() - before).total();
    println!("{} storage transactions, {} rows read", cost.transactions, cost.entities_read);
    Ok(())
}
