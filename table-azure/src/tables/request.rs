//! Writes as requests: method, address, headers and body, alone or within a transaction.

use azure_core::http::headers::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, IF_MATCH, VERSION};
use azure_core::http::{Method, Request, Url};
use table_core::{Action, Error, IfMatch, Operation, Result, TableName};

use super::{address, entity};
use crate::endpoint::Endpoint;

/// The version of the table service that is spoken: the first that takes tokens of Microsoft Entra ID.
const SERVICE_VERSION: &str = "2020-12-06";
pub(super) const JSON: &str = "application/json;odata=minimalmetadata";
const DATA_SERVICE_VERSION: HeaderName = HeaderName::from_static("dataserviceversion");
const PREFER: HeaderName = HeaderName::from_static("prefer");
/// Says which method a `POST` stands for.
const X_HTTP_METHOD: HeaderName = HeaderName::from_static("x-http-method");

/// A request without a body.
pub(super) fn plain(url: Url, method: Method) -> Request {
    let mut request = Request::new(url, method);
    request.insert_header(VERSION, SERVICE_VERSION);
    request.insert_header(DATA_SERVICE_VERSION, "3.0");
    request.insert_header(ACCEPT, JSON);
    request
}

/// A request with a body of JSON whose answer need not repeat it.
pub(super) fn with_json(url: Url, method: Method, body: Vec<u8>) -> Request {
    let mut request = plain(url, method);
    request.insert_header(CONTENT_TYPE, JSON);
    request.insert_header(PREFER, "return-no-content");
    request.set_body(body);
    request
}

/// One write as a request.
///
/// # Errors
/// `InvalidValue` for an ETag that no service gave.
pub(super) fn write(endpoint: &Endpoint, table: &TableName, operation: &Operation, cosmos: bool) -> Result<Request> {
    let action = operation.action();
    let (method, url) = match action {
        Action::Insert(_) => (Method::Post, address::table(endpoint, table)),
        Action::Replace(entity, _) | Action::InsertOrReplace(entity) => {
            (Method::Put, address::entity(endpoint, table, &entity.key))
        }
        Action::Merge(entity, _) | Action::InsertOrMerge(entity) => {
            (Method::Patch, address::entity(endpoint, table, &entity.key))
        }
        Action::Delete(key, _) => (Method::Delete, address::entity(endpoint, table, key)),
    };
    let mut request = match action.entity() {
        Some(entity) => with_json(url, method, entity::encode(entity)),
        None => plain(url, method),
    };
    if cosmos && method == Method::Patch {
        // Cosmos DB knows a merge by this name alone.
        request.set_method(Method::Post);
        request.insert_header(X_HTTP_METHOD, "MERGE");
    }
    if let Some(if_match) = action.if_match() {
        request.insert_header(IF_MATCH, header_of(if_match)?);
    }
    Ok(request)
}

fn header_of(if_match: &IfMatch) -> Result<HeaderValue> {
    let IfMatch::Version(etag) = if_match else {
        return Ok(HeaderValue::from("*"));
    };
    let text = etag.to_string();
    // `*` would match every version, and a line feed would be another header.
    if text == "*" || !text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return Err(Error::invalid_value("the ETag is not one that a table service gives; use the one that was read"));
    }
    Ok(HeaderValue::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use table_core::{DynamicEntity, ETag, EntityKey};

    fn key() -> EntityKey {
        EntityKey::parse("p", "r").unwrap()
    }

    fn of(action: Action, cosmos: bool) -> Result<Request> {
        let endpoint = Endpoint::parse("https://contoso.table.core.windows.net", false).unwrap();
        write(&endpoint, &TableName::new("Staff").unwrap(), &Operation::new(action).unwrap(), cosmos)
    }

    fn header(request: &Request, name: &'static str) -> Option<String> {
        request.headers().get_optional_string(&HeaderName::from_static(name))
    }

    #[test]
    fn each_kind_of_write_has_its_method_and_condition() {
        let row = || DynamicEntity::new(key());
        let version = || IfMatch::Version(ETag::from("W/\"datetime'2014-08-22T00%3A50%3A32.1234567Z'\""));
        for (action, method, condition) in [
            (Action::Insert(row()), Method::Post, None),
            (Action::InsertOrReplace(row()), Method::Put, None),
            (Action::InsertOrMerge(row()), Method::Patch, None),
            (Action::Replace(row(), IfMatch::Any), Method::Put, Some("*")),
            (Action::Merge(row(), version()), Method::Patch, Some("W/\"datetime'2014-08-22T00%3A50%3A32.1234567Z'\"")),
            (Action::Delete(key(), IfMatch::Any), Method::Delete, Some("*")),
        ] {
            let name = action.name();
            let request = of(action, false).unwrap();
            assert_eq!(request.method(), method, "{name}");
            assert_eq!(header(&request, "if-match").as_deref(), condition, "{name}");
        }
    }

    #[test]
    fn cosmos_merges_by_another_name() {
        let request = of(Action::InsertOrMerge(DynamicEntity::new(key())), true).unwrap();
        assert_eq!((request.method(), header(&request, "x-http-method").as_deref()), (Method::Post, Some("MERGE")));
    }

    #[test]
    fn an_etag_that_is_more_than_an_etag_is_refused() {
        for text in ["*", "a\r\nX-Evil: 1", "\u{e9}"] {
            assert!(of(Action::Delete(key(), IfMatch::Version(ETag::from(text))), false).is_err(), "{text:?}");
        }
    }
}
