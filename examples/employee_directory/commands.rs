//! The subcommands: the directory as a small tool on a kept file.

use clap::{Args, Subcommand};
use table_core::{Error, Result, Versioned};
use table_patterns::inter_partition_secondary_index::Reads;

use crate::directory::Directory;
use crate::domain::{Department, Employee, Review, Staff};

/// What to do with the directory.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Adds an employee, and its department where that is new.
    Add(NewEmployee),
    /// Finds employees by id, email address or last name.
    Find(Wanted),
    /// Shows the reviews of an employee, or adds one.
    Reviews {
        department: String,
        id: u32,
        /// Adds a review: the year and a rating from 1 to 5.
        #[arg(long, num_args = 2, value_names = ["YEAR", "RATING"])]
        add: Option<Vec<u16>>,
    },
    /// Makes somebody the manager of their department.
    Appoint { department: String, id: u32 },
    /// Shows a department: its manager, its employees and their ratings.
    Report { department: String },
    /// Counts what is stored, and what counting it cost.
    Stats,
}

#[derive(Args, Debug)]
pub(crate) struct NewEmployee {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    email: String,
    age: i32,
}

#[derive(Args, Debug)]
#[group(required = true)]
pub(crate) struct Wanted {
    /// Who has this address, in any department.
    #[arg(long, conflicts_with_all = ["department", "id", "last_name"])]
    email: Option<String>,
    /// The department to look in.
    #[arg(long)]
    department: Option<String>,
    /// The employee with this id.
    #[arg(long, requires = "department", conflicts_with = "last_name")]
    id: Option<u32>,
    /// Everybody with this last name.
    #[arg(long, requires = "department")]
    last_name: Option<String>,
}

/// Runs a subcommand.
pub(crate) async fn run(directory: &Directory, command: Command) -> Result<()> {
    match command {
        Command::Add(new) => add(directory, new).await,
        Command::Find(wanted) => find(directory, wanted).await,
        Command::Reviews { department, id, add: None } => reviews(directory, &department, id).await,
        Command::Reviews { department, id, add: Some(add) } => add_review(directory, department, id, &add).await,
        Command::Appoint { department, id } => directory.appoint(&department, id).await,
        Command::Report { department } => report(directory, &department).await,
        Command::Stats => stats(directory).await,
    }
}

async fn add(directory: &Directory, new: NewEmployee) -> Result<()> {
    let NewEmployee { department, id, first_name, last_name, email, age } = new;
    directory.add_department(&department).await?;
    let employee = Employee { department, id, first_name, last_name, age, email };
    directory.employees.insert(&employee).await?;
    println!("{}", employee.line());
    Ok(())
}

async fn find(directory: &Directory, wanted: Wanted) -> Result<()> {
    let employees = &directory.employees;
    let found: Vec<Versioned<Employee>> = match (wanted.email, wanted.department, wanted.id, wanted.last_name) {
        (Some(email), ..) => {
            let copy = employees.find(Employee::by_directory(&email), Reads::Verified).await?;
            let keys = copy.iter().map(|copy| Employee::key(&copy.department, copy.id));
            let mut found = Vec::new();
            for key in keys {
                found.extend(employees.get(key).await?);
            }
            found
        }
        (_, Some(department), Some(id), _) => {
            employees.get(Employee::key(&department, id)).await?.into_iter().collect()
        }
        (_, Some(department), _, Some(name)) => employees.all_full(Employee::by_last_name(&department, &name)).await?,
        (_, Some(department), ..) => employees.all(Employee::range(&department)).await?,
        _ => Vec::new(),
    };
    if found.is_empty() {
        return Err(Error::not_found("nobody was found"));
    }
    for employee in found {
        println!("{}", employee.line());
    }
    Ok(())
}

async fn reviews(directory: &Directory, department: &str, id: u32) -> Result<()> {
    let Some(family) = directory.families.get(Employee::key(department, id)).await? else {
        return Err(Error::not_found(format!("there is no employee {id} in {department}")));
    };
    println!("{}", family.head.line());
    for review in &family.parts {
        println!("  {}: {}", review.year, "*".repeat(usize::try_from(review.rating).unwrap_or_default()));
    }
    Ok(())
}

async fn add_review(directory: &Directory, department: String, id: u32, add: &[u16]) -> Result<()> {
    let &[year, rating @ 1..=5] = add else {
        return Err(Error::invalid_value("a rating is a number from 1 to 5"));
    };
    directory.families.add(&Review { department: department.clone(), id, year, rating: i32::from(rating) }).await?;
    reviews(directory, &department, id).await
}

async fn report(directory: &Directory, department: &str) -> Result<()> {
    let found = directory.staff.require(Department::key(department)).await?;
    println!("{department}, managed by {}", found.manager_name.as_deref().unwrap_or("nobody"));
    let employees = directory.employees.all(Employee::range(department)).await?;
    for employee in &employees {
        let reviews = directory.staff.all(Review::range(department).id(employee.id)).await?;
        let ratings: Vec<String> = reviews.iter().map(|review| format!("{}: {}", review.year, review.rating)).collect();
        println!("  {}  {}", employee.line(), ratings.join(", "));
    }
    println!("{} employees", employees.len());
    Ok(())
}

async fn stats(directory: &Directory) -> Result<()> {
    let before = directory.meter.report();
    // Counting everything is what a scan is for.
    let all = directory.staff.all(table_core::Query::<Staff>::all().allow_scan()).await?;
    let mut departments: std::collections::BTreeMap<String, Vec<Versioned<Staff>>> = std::collections::BTreeMap::new();
    for each in all {
        departments.entry(each.key().partition.to_string()).or_default().push(each);
    }
    for (name, staff) in departments {
        println!("{name}: {}", crate::walk::by_type(&staff));
    }
    let cost = (directory.meter.report() - before).total();
    println!("{} storage transactions, {} rows read", cost.transactions, cost.entities_read);
    Ok(())
}
