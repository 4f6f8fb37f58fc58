//! A company of readable size.

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use indicatif::{ProgressBar, ProgressStyle};
use table_core::{Result, Timestamp};

use crate::directory::{Directory, MOST_HIRED};
use crate::domain::{Claim, Employee, Messages, Review};

const FIRST_NAMES: [&str; 8] = ["Jo", "Don", "Jun", "Ken", "Ana", "Eva", "Sam", "Lee"];
const LAST_NAMES: [&str; 7] = ["Jones", "Hall", "Cao", "Kwok", "Smith", "Ito", "Berg"];
const DEPARTMENTS: [(&str, std::ops::Range<u32>); 2] = [("Sales", 223..263), ("Marketing", 300..320)];
const CLAIMS: u32 = 30;

/// The day whose messages are counted.
pub(crate) const DAY: u32 = 20_140_731;
/// The employee with expense claims, messages and a photo, who manages Sales.
pub(crate) const JO: u32 = 223;

/// Fills an empty directory, with a progress bar where there is a terminal.
pub(crate) async fn seed(directory: &Directory) -> Result<()> {
    let people: u64 = DEPARTMENTS.iter().map(|(_, ids)| u64::from(ids.end - ids.start)).sum();
    let bar = ProgressBar::new(people * 4 + u64::from(CLAIMS));
    if let Ok(style) = ProgressStyle::with_template("filling the directory  {bar:40}  {pos}/{len}  {msg}") {
        bar.set_style(style);
    }
    for (department, ids) in DEPARTMENTS {
        bar.set_message(department);
        directory.add_department(department).await?;
        let employees: Vec<Employee> = ids.map(|id| employee(department, id)).collect();
        for some in employees.chunks(MOST_HIRED) {
            directory.hire(some, &|| bar.inc(1)).await?;
        }
        bar.inc(directory.load_reviews(employees.iter().flat_map(reviews).collect()).await?);
    }
    bar.set_message("expense claims");
    let claims = directory.claims(JO)?;
    let written = stream::iter(1..=CLAIMS).map(|number| {
        let (claims, bar) = (&claims, &bar);
        async move {
            let at: Timestamp = format!("2014-07-{number:02}T09:30:00Z").parse()?;
            claims.append(&Claim { employee: JO, at, number, cents: 1_000 + i64::from(number * 37 % 900) }).await?;
            bar.inc(1);
            Ok::<_, table_core::Error>(())
        }
    });
    written.buffer_unordered(MOST_HIRED).try_collect::<()>().await?;
    directory.appoint(JO).await?;
    directory.keep_photo(JO, picture(JO)).await?;
    let hours = (8..18).map(|hour| (hour, i32::try_from(hour * 5 % 7).unwrap_or_default() + 1));
    directory.messages.set_all(&Messages { employee: JO, day: DAY }, hours).await?;
    bar.finish_and_clear();
    Ok(())
}

/// An employee whom the number decides.
pub(crate) fn employee(department: &str, id: u32) -> Employee {
    let place = id.abs_diff(JO) as usize;
    let pick = |names: &[&str]| names.iter().cycle().nth(place).map(ToString::to_string).unwrap_or_default();
    let (first_name, last_name) = (pick(&FIRST_NAMES), pick(&LAST_NAMES));
    let email = format!("{}{id}@contoso.com", last_name.to_lowercase());
    let age = i32::try_from(id * 7 % 45).unwrap_or_default() + 20;
    Employee { department: department.to_owned(), id, first_name, last_name, age, email, posting: String::new() }
}

/// A picture of 256 by 256 grey points, in the simplest of formats: more than a property takes.
pub(crate) fn picture(id: u32) -> Bytes {
    let mut picture = b"P5 256 256 255\n".to_vec();
    let points = (0..=255_u8).flat_map(|y| (0..=255_u8).map(move |x| x ^ y ^ id.to_le_bytes()[0]));
    picture.extend(points);
    picture.into()
}

/// Three years of reviews.
fn reviews(employee: &Employee) -> Vec<Review> {
    let review = |year: u16| Review {
        department: employee.department.clone(),
        id: employee.id,
        year,
        rating: i32::try_from((employee.id + u32::from(year)) % 5).unwrap_or_default() + 1,
    };
    (2012..2015).map(review).collect()
}
