//! The routes, and what each does. A handler reads, decides and writes; the rest is the library's.

use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use table_core::query::{Continuation, ResultPage};
use table_core::{ETag, FromRow, Versioned};
use table_patterns::Indexed;

use crate::condition;
use crate::domain::{Employee, EmployeeBody};
use crate::problem::Problem;

type Answer = Result<Response, Problem>;

/// Employees on a page where the caller does not say, and at most.
const PAGE: usize = 20;
const LARGEST_PAGE: usize = 100;

/// The API over the employees of a table.
pub(crate) fn router(employees: Indexed<Employee>) -> Router {
    Router::new()
        .route("/departments/{department}/employees", post(create).get(list))
        .route("/departments/{department}/employees/{id}", get(read).put(replace).delete(remove))
        .fallback(|| async { Problem::new(StatusCode::NOT_FOUND, "there is no such path") })
        .with_state(employees)
}

async fn create(
    State(employees): State<Indexed<Employee>>,
    path: Result<Path<String>, PathRejection>,
    body: Result<Json<EmployeeBody>, JsonRejection>,
) -> Answer {
    let (Path(department), Json(body)) = (path?, body?);
    let employee = body.in_department(department)?;
    let etag = employees.insert(&employee).await?;
    let mut response = (StatusCode::CREATED, tagged(&etag, &employee)?).into_response();
    let location = format!("/departments/{}/employees/{}", encoded(&employee.department), employee.id);
    if let Ok(location) = HeaderValue::from_str(&location) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

async fn read(State(employees): State<Indexed<Employee>>, path: Result<Path<(String, u32)>, PathRejection>) -> Answer {
    let Path((department, id)) = path?;
    let employee = employees.require(Employee::key(&department, id)).await?;
    Ok(tagged(employee.etag(), &employee)?.into_response())
}

async fn replace(
    State(employees): State<Indexed<Employee>>,
    path: Result<Path<(String, u32)>, PathRejection>,
    headers: HeaderMap,
    body: Result<Json<EmployeeBody>, JsonRejection>,
) -> Answer {
    let (Path((department, id)), Json(body)) = (path?, body?);
    if body.id != id {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "the id in the path and the id in the body differ"));
    }
    let mut stored = employees.require(Employee::key(&department, id)).await?;
    condition::check(&headers, &stored)?;
    *stored = body.in_department(department)?;
    // Conditional on the version that was checked, so nobody can slip in between.
    employees.replace(&mut stored).await?;
    Ok(tagged(stored.etag(), &stored)?.into_response())
}

async fn remove(
    State(employees): State<Indexed<Employee>>,
    path: Result<Path<(String, u32)>, PathRejection>,
    headers: HeaderMap,
) -> Answer {
    let Path((department, id)) = path?;
    let stored = employees.require(Employee::key(&department, id)).await?;
    condition::check(&headers, &stored)?;
    employees.delete(&stored).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// What a list is asked for.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Wanted {
    email: Option<String>,
    last_name: Option<String>,
    page_size: Option<usize>,
    after: Option<String>,
}

/// A page of employees, and the word that leads to the next.
#[derive(Serialize, Debug)]
struct Listed {
    employees: Vec<EmployeeBody>,
    next: Option<String>,
}

async fn list(
    State(employees): State<Indexed<Employee>>,
    path: Result<Path<String>, PathRejection>,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Answer {
    let (Path(department), Query(wanted)) = (path?, wanted?);
    let size = wanted.page_size.unwrap_or(PAGE);
    if !(1..=LARGEST_PAGE).contains(&size) {
        return Err(Problem::new(StatusCode::BAD_REQUEST, format!("a page has 1 to {LARGEST_PAGE} employees")));
    }
    let after = wanted.after.as_deref().map(str::parse::<Continuation>).transpose()?;
    let table = employees.table();
    let listed = match (wanted.email, wanted.last_name) {
        (Some(_), Some(_)) => {
            return Err(Problem::new(StatusCode::BAD_REQUEST, "search by email or by last_name, one at a time"));
        }
        (Some(email), None) => {
            let found = employees.get(Employee::by_email(&department, &email.trim().to_lowercase())).await?;
            Listed { employees: found.iter().map(|copy| EmployeeBody::from(copy.value())).collect(), next: None }
        }
        (None, Some(last_name)) => {
            let query = Employee::by_last_name(&department, &last_name).page_size(size);
            listed(&table.page(query, after.as_ref()).await?)
        }
        (None, None) => {
            let query = Employee::range(&department).query().page_size(size);
            listed(&table.page(query, after.as_ref()).await?)
        }
    };
    Ok(Json(listed).into_response())
}

fn listed<R: FromRow>(page: &ResultPage<R>) -> Listed
where
    for<'r> EmployeeBody: From<&'r R>,
{
    Listed {
        employees: page.items.iter().map(|each| EmployeeBody::from(Versioned::value(each))).collect(),
        next: page.next.as_ref().map(Continuation::to_token),
    }
}

/// An employee with its version.
fn tagged(etag: &ETag, employee: &Employee) -> Result<impl IntoResponse + use<>, Problem> {
    Ok(([(header::ETAG, condition::header_of(etag)?)], Json(EmployeeBody::from(employee))))
}

/// A department as part of a path: everything but letters, digits and `-._~` by its bytes.
fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}
