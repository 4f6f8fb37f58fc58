//! The answers to a transaction: one for each operation that happened, or the one of the operation that failed.

use azure_core::http::StatusCode;
use azure_core::http::headers::{CONTENT_TYPE, Headers};
use memchr::memmem;
use table_core::{ETag, Error, ErrorKind, Result, Transaction, Written};

use crate::call::{Call, REQUEST_ID, Subject};
use crate::failure;

/// One answer within a batch.
struct Part<'a> {
    status: u16,
    head: &'a str,
    body: &'a str,
}

/// Reads the answer to a transaction.
///
/// # Errors
/// That of the operation that failed, with its index and key; `Corrupted` where the answer makes no sense.
pub(super) fn decode(headers: &Headers, body: &[u8], table: &str, transaction: &Transaction) -> Result<Vec<Written>> {
    let text = std::str::from_utf8(body).map_err(|error| unreadable().with_source(error))?;
    let boundary = headers.get_optional_str(&CONTENT_TYPE).and_then(boundary_of).ok_or_else(unreadable)?;
    let mut parts = Vec::new();
    collect(text, boundary, &mut parts);
    if let Some(failed) = parts.iter().find(|part| part.status >= 300) {
        return Err(failure_of(failed, headers, table, transaction));
    }
    if parts.len() != transaction.operations().len() {
        return Err(unreadable());
    }
    parts
        .iter()
        .zip(transaction.operations())
        .map(|(part, operation)| {
            if operation.action().entity().is_none() {
                return Ok(Written { etag: None });
            }
            let etag = header(part.head, "etag").ok_or_else(unreadable)?;
            Ok(Written { etag: Some(ETag::from(etag)) })
        })
        .collect()
}

/// The service has done something, and does not say what in words that can be read.
fn unreadable() -> Error {
    Error::corrupted("the service's answer to the transaction cannot be read").with_outcome_unknown(true)
}

fn failure_of(part: &Part<'_>, headers: &Headers, table: &str, transaction: &Transaction) -> Error {
    let said = failure::json_error(part.body.as_bytes());
    let index = said.as_ref().and_then(failure::JsonError::operation_index);
    let code = said.map(|said| said.code);
    let operation = index.and_then(|index| transaction.operations().get(index));
    let mut call = Call::change(operation.map_or("transact", |operation| operation.name()), Subject::Entity).on(table);
    if let Some(operation) = operation {
        call = call.with_key(operation.key());
    }
    let error = failure::of_status(&call, StatusCode::from(part.status), code.as_deref());
    let request_id = header(part.head, REQUEST_ID.as_str()).or_else(|| headers.get_optional_str(&REQUEST_ID));
    // A missing table is no fault of the operation that met it.
    let whole = error.kind() == ErrorKind::TableNotFound;
    let error = error.with_service(code, request_id.map(ToOwned::to_owned));
    match index.filter(|_| !whole) {
        Some(index) => call.locate(error).with_operation_index(index),
        None => error,
    }
}

/// Finds all answers, in change sets too.
fn collect<'a>(text: &'a str, boundary: &str, found: &mut Vec<Part<'a>>) {
    for piece in pieces(text, &format!("--{boundary}")) {
        // `--` after the boundary ends the list.
        let Some((head, body)) = split_head(piece).filter(|_| !piece.starts_with("--")) else {
            continue;
        };
        match header(head, "content-type").and_then(boundary_of) {
            Some(inner) => collect(body, inner, found),
            None => found.extend(answer(body)),
        }
    }
}

/// What stands behind each delimiter, up to the next.
fn pieces<'a>(text: &'a str, delimiter: &str) -> impl Iterator<Item = &'a str> {
    // A hundred long answers are searched for a text that looks much like those around it.
    let starts: Vec<usize> = memmem::find_iter(text.as_bytes(), delimiter).collect();
    let ends = starts.clone().into_iter().skip(1).chain([text.len()]);
    let length = delimiter.len();
    starts.into_iter().zip(ends).filter_map(move |(start, end)| text.get(start + length..end))
}

/// An answer: status line, headers and body.
fn answer(text: &str) -> Option<Part<'_>> {
    let text = text.trim_start();
    let status = text.strip_prefix("HTTP/1.")?.split_whitespace().nth(1)?.parse().ok()?;
    let (head, body) = split_head(text).unwrap_or((text, ""));
    Some(Part { status, head, body: body.trim() })
}

fn split_head(text: &str) -> Option<(&str, &str)> {
    text.split_once("\r\n\r\n").or_else(|| text.split_once("\n\n"))
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(found, _)| found.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

fn boundary_of(content_type: &str) -> Option<&str> {
    let mut parameters = content_type.split(';').map(str::trim);
    if !parameters.next()?.eq_ignore_ascii_case("multipart/mixed") {
        return None;
    }
    parameters.find_map(|parameter| parameter.strip_prefix("boundary=")).map(|boundary| boundary.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use table_core::{Action, DynamicEntity, EntityKey, IfMatch, Operation};

    fn transaction() -> Transaction {
        let key = |row| EntityKey::parse("p", row).unwrap();
        let actions = [Action::Insert(DynamicEntity::new(key("1"))), Action::Delete(key("2"), IfMatch::Any)];
        Transaction::new(actions.into_iter().map(|action| Operation::new(action).unwrap()).collect()).unwrap()
    }

    fn read(parts: &[&str]) -> Result<Vec<Written>> {
        let mut body = "--batch_1\r\nContent-Type: multipart/mixed; boundary=changes_1\r\n\r\n".to_owned();
        for part in parts {
            body.push_str("--changes_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n");
            body.push_str(part);
            body.push_str("\r\n");
        }
        body.push_str("--changes_1--\r\n--batch_1--\r\n");
        let mut headers = Headers::new();
        headers.insert(CONTENT_TYPE, "multipart/mixed; boundary=batch_1");
        headers.insert(REQUEST_ID, "r-8");
        decode(&headers, body.as_bytes(), "Staff", &transaction())
    }

    const DONE: &str = "HTTP/1.1 204 No Content\r\nETag: W/\"one\"\r\n\r\n";
    const GONE: &str = "HTTP/1.1 204 No Content\r\nDataServiceVersion: 1.0;\r\n\r\n";

    #[test]
    fn each_operation_has_its_answer() {
        let written = read(&[DONE, GONE]).unwrap();
        assert_eq!(written, [Written { etag: Some(ETag::from("W/\"one\"")) }, Written { etag: None }]);
    }

    #[test]
    fn the_operation_that_failed_is_named() {
        let body =
            r#"{"odata.error":{"code":"ResourceNotFound","message":{"lang":"en-US","value":"1:It is not there."}}}"#;
        let error = read(&[&format!("HTTP/1.1 404 Not Found\r\nContent-ID: 1\r\n\r\n{body}")]).unwrap_err();
        assert_eq!((error.kind(), error.operation_index()), (ErrorKind::NotFound, Some(1)));
        assert_eq!((error.operation(), error.request_id()), (Some("delete"), Some("r-8")));
        assert_eq!(error.key().unwrap().row.as_str(), "2");
        assert!(!error.outcome_unknown());
    }

    #[test]
    fn an_answer_that_makes_no_sense_leaves_a_doubt() {
        for parts in [&[DONE][..], &[GONE, GONE], &[], &["nonsense", "nonsense"]] {
            let error = read(parts).unwrap_err();
            assert_eq!((error.kind(), error.outcome_unknown()), (ErrorKind::Corrupted, true), "{parts:?}");
        }
        let mut headers = Headers::new();
        headers.insert(CONTENT_TYPE, "text/html");
        assert!(decode(&headers, b"<html>", "Staff", &transaction()).unwrap_err().outcome_unknown());
    }
}
