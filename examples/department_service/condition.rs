//! `If-Match` and `ETag`: the conditions of HTTP, as those of a store.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use table_core::{ETag, Versioned};

use crate::problem::Problem;

/// A version in the form of a header.
///
/// The stores' own tags are weak by their form (`W/"..."`) and strong by what they promise; `If-Match` takes strong ones
/// alone, so the mark of weakness goes.
pub(crate) fn header_of(etag: &ETag) -> Result<HeaderValue, Problem> {
    let text = etag.to_string();
    HeaderValue::from_str(strong(&text))
        .map_err(|_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the version cannot be told"))
}

/// Refuses a change that is meant for another version, or for no version at all.
pub(crate) fn check<T>(headers: &HeaderMap, read: &Versioned<T>) -> Result<(), Problem> {
    let Some(wanted) = headers.get(header::IF_MATCH) else {
        return Err(Problem::new(
            StatusCode::PRECONDITION_REQUIRED,
            "say which version you mean to change: send its ETag as If-Match",
        ));
    };
    let current = read.etag().to_string();
    let wanted = wanted.to_str().unwrap_or_default().split(',').map(str::trim);
    if wanted.into_iter().any(|each| each == "*" || strong(each) == strong(&current)) {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::PRECONDITION_FAILED,
        "somebody has changed it since you read it; read it again, and decide anew",
    ))
}

fn strong(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}
