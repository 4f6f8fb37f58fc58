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
use table_patterns::inter_partition_secondary_index::Reads;

use crate::condition;
use crate::domain::{Destination, Employee, Sent, Shown, address};
use crate::problem::Problem;

type Answer = Result<Response, Problem>;

/// Employees on a page where the caller does not say, and at most.
const PAGE: usize = 20;
const LARGEST_PAGE: usize = 100;

/// The API over the employees of a table.
pub(crate) fn router(employees: Indexed<Employee>) -> Router {
    Router::new()
        .route("/departments/{department}/employees", post(create).get(list))
        .route("/employees", get(find))
        .route("/employees/{id}", get(read).put(replace).delete(remove))
        .route("/employees/{id}/move", post(relocate))
        .fallback(|| async { Problem::new(StatusCode::NOT_FOUND, "there is no such path") })
        .method_not_allowed_fallback(|| async {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this path does not take that method")
        })
        .with_state(employees)
}

async fn create(
    State(employees): State<Indexed<Employee>>,
    path: Result<Path<String>, PathRejection>,
    body: Result<Json<Sent>, JsonRejection>,
) -> Answer {
    let (Path(department), Json(body)) = (path?, body?);
    let employee = body.in_department(department)?;
    let etag = employees.insert(&employee).await?;
    let mut response = (StatusCode::CREATED, tagged(&etag, &employee)?).into_response();
    if let Ok(location) = HeaderValue::from_str(&format!("/employees/{}", employee.id)) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

async fn read(State(employees): State<Indexed<Employee>>, path: Result<Path<u32>, PathRejection>) -> Answer {
    let Path(id) = path?;
    let employee = stored(&employees, id).await?;
    Ok(tagged(employee.etag(), &employee)?.into_response())
}

async fn replace(
    State(employees): State<Indexed<Employee>>,
    path: Result<Path<u32>, PathRejection>,
    headers: HeaderMap,
    body: Result<Json<Sent>, JsonRejection>,
) -> Answer {
    let (Path(id), Json(body)) = (path?, body?);
    if body.id != id {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "the id in the path and the id in the body differ"));
    }
    let mut stored = stored(&employees, id).await?;
    condition::check(&headers, &stored)?;
    let department = stored.department.clone();
    *stored = body.in_department(department)?;
    // Conditional on the version that was checked, so nobody can slip in between.
    employees.replace(&mut stored).await?;
    Ok(tagged(stored.etag(), &stored)?.into_response())
}

/// The employee works elsewhere once this has answered. The lists of both departments follow, by way of the mover:
/// at once, or by whoever comes next if this process dies.
async fn relocate(
    State(employees): State<Indexed<Employee>>,
    path: Result<Path<u32>, PathRejection>,
    headers: HeaderMap,
    body: Result<Json<Destination>, JsonRejection>,
) -> Answer {
    let (Path(id), Json(Destination { department })) = (path?, body?);
    let mut stored = stored(&employees, id).await?;
    condition::check(&headers, &stored)?;
    *stored = Employee { department, ..stored.value().clone() }.checked()?;
    employees.replace(&mut stored).await?;
    Ok(tagged(stored.etag(), &stored)?.into_response())
}

async fn remove(
    State(employees): State<Indexed<Employee>>,
    path: Result<Path<u32>, PathRejection>,
    headers: HeaderMap,
) -> Answer {
    let Path(id) = path?;
    let stored = stored(&employees, id).await?;
    condition::check(&headers, &stored)?;
    employees.delete(&stored).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Who is searched for in the whole company.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Searched {
    email: String,
}

async fn find(State(employees): State<Indexed<Employee>>, searched: Result<Query<Searched>, QueryRejection>) -> Answer {
    let Query(Searched { email }) = searched?;
    // Verified: who was just added or has just moved is found, and nobody who no longer has the address.
    let found = employees.find(Employee::by_email(&address(&email)), Reads::Verified).await?;
    let employees = found.iter().map(|copy| Shown::from(copy.value())).collect();
    Ok(Json(Listed { employees, next: None }).into_response())
}

/// What a list is asked for.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Wanted {
    last_name: Option<String>,
    page_size: Option<usize>,
    after: Option<String>,
}

/// A page of employees, and the word that leads to the next.
#[derive(Serialize, Debug)]
struct Listed {
    employees: Vec<Shown>,
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
    let listed = if let Some(last_name) = wanted.last_name {
        let query = Employee::by_last_name(&department, &last_name).page_size(size);
        listed(&table.page(query, after.as_ref()).await?)
    } else {
        let query = Employee::by_department(&department).page_size(size);
        listed(&table.page(query, after.as_ref()).await?)
    };
    Ok(Json(listed).into_response())
}

fn listed<R: FromRow>(page: &ResultPage<R>) -> Listed
where
    for<'r> Shown: From<&'r R>,
{
    Listed {
        employees: page.items.iter().map(|each| Shown::from(Versioned::value(each))).collect(),
        next: page.next.as_ref().map(Continuation::to_token),
    }
}

async fn stored(employees: &Indexed<Employee>, id: u32) -> Result<Versioned<Employee>, Problem> {
    let found = employees.get(Employee::key(id)).await?;
    found.ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, format!("there is no employee {id}")))
}

/// An employee with its version.
fn tagged(etag: &ETag, employee: &Employee) -> Result<impl IntoResponse + use<>, Problem> {
    Ok(([(header::ETAG, condition::header_of(etag)?)], Json(Shown::from(employee))))
}
