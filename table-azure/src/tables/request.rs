//! Writes as requests: method, address, headers and body, alone or within a transaction.

use std::io::Write as _;

use azure_core::http::headers::{ACCEPT, CONTENT_TYPE, HeaderName, IF_MATCH, VERSION};
use azure_core::http::{Method, Request, Url};
use table_core::{Action, DynamicEntity, Error, IfMatch, Operation, Result, TableName};

use super::address::Place;
use super::entity;
use crate::endpoint::Endpoint;

/// The version of the table service that is spoken: the first that takes tokens of Microsoft Entra ID.
const SERVICE_VERSION: &str = "2020-12-06";
pub(super) const JSON: &str = "application/json;odata=minimalmetadata";
const DATA_SERVICE_VERSION: HeaderName = HeaderName::from_static("dataserviceversion");
const PREFER: HeaderName = HeaderName::from_static("prefer");
/// Says which method a `POST` stands for.
const X_HTTP_METHOD: HeaderName = HeaderName::from_static("x-http-method");
const MERGE: &str = "MERGE";

/// The headers of every request.
const ALWAYS: [(HeaderName, &str); 3] = [(VERSION, SERVICE_VERSION), (DATA_SERVICE_VERSION, "3.0"), (ACCEPT, JSON)];
/// The headers of a request with a body of JSON whose answer need not repeat it.
const OF_JSON: [(HeaderName, &str); 2] = [(CONTENT_TYPE, JSON), (PREFER, "return-no-content")];

fn insert(request: &mut Request, headers: impl IntoIterator<Item = (HeaderName, &'static str)>) {
    for (name, value) in headers {
        request.insert_header(name, value);
    }
}

/// A request without a body.
pub(super) fn plain(url: Url, method: Method) -> Request {
    let mut request = Request::new(url, method);
    insert(&mut request, ALWAYS);
    request
}

/// A request with a body of JSON whose answer need not repeat it.
pub(super) fn with_json(url: Url, method: Method, body: Vec<u8>) -> Request {
    let mut request = plain(url, method);
    insert(&mut request, OF_JSON);
    request.set_body(body);
    request
}

/// One write, to be sent alone or as a part of a transaction.
pub(super) struct Write<'o> {
    method: Method,
    place: Place<'o>,
    entity: Option<&'o DynamicEntity>,
    condition: Option<String>,
    is_merge_of_cosmos: bool,
}

impl<'o> Write<'o> {
    /// What an operation asks of the service.
    ///
    /// # Errors
    /// `InvalidValue` for an ETag that no service gave.
    pub(super) fn of(table: &'o TableName, operation: &'o Operation, cosmos: bool) -> Result<Self> {
        let action = operation.action();
        let (method, place) = match action {
            Action::Insert(_) => (Method::Post, Place::Table(table)),
            Action::Replace(entity, _) | Action::InsertOrReplace(entity) => {
                (Method::Put, Place::Entity(table, &entity.key))
            }
            Action::Merge(entity, _) | Action::InsertOrMerge(entity) => {
                (Method::Patch, Place::Entity(table, &entity.key))
            }
            Action::Delete(key, _) => (Method::Delete, Place::Entity(table, key)),
        };
        // Cosmos DB knows a merge by another name alone.
        let is_merge_of_cosmos = cosmos && method == Method::Patch;
        Ok(Self {
            method: if is_merge_of_cosmos { Method::Post } else { method },
            place,
            entity: action.entity(),
            condition: action.if_match().map(condition_of).transpose()?,
            is_merge_of_cosmos,
        })
    }

    /// The write as a request of its own.
    pub(super) fn into_request(self, endpoint: &Endpoint) -> Request {
        let url = self.place.at(endpoint);
        let mut request = match self.entity {
            Some(entity) => with_json(url, self.method, entity::encode(entity)),
            None => plain(url, self.method),
        };
        if self.is_merge_of_cosmos {
            request.insert_header(X_HTTP_METHOD, MERGE);
        }
        if let Some(condition) = self.condition {
            request.insert_header(IF_MATCH, condition);
        }
        request
    }

    /// Writes the same request as text, without the address and the headers as values of their own.
    pub(super) fn write_text(&self, endpoint: &Endpoint, text: &mut Vec<u8>) {
        // Writing to a vector cannot fail.
        let _ = write!(text, "{} {}/{} HTTP/1.1\r\n", self.method, endpoint.as_str(), self.place);
        let mut header = |name: &HeaderName, value: &str| {
            for piece in [name.as_str(), ": ", value, "\r\n"] {
                text.extend_from_slice(piece.as_bytes());
            }
        };
        let of_json = OF_JSON.into_iter().filter(|_| self.entity.is_some());
        for (name, value) in ALWAYS.into_iter().chain(of_json) {
            header(&name, value);
        }
        if self.is_merge_of_cosmos {
            header(&X_HTTP_METHOD, MERGE);
        }
        if let Some(condition) = &self.condition {
            header(&IF_MATCH, condition);
        }
        text.extend_from_slice(b"\r\n");
        if let Some(entity) = self.entity {
            entity::encode_into(text, entity);
        }
        text.extend_from_slice(b"\r\n");
    }
}

fn condition_of(if_match: &IfMatch) -> Result<String> {
    let IfMatch::Version(etag) = if_match else {
        return Ok("*".to_owned());
    };
    let text = etag.to_string();
    // `*` would match every version, and a line feed would be another header.
    if text == "*" || !text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return Err(Error::invalid_value("the ETag is not one that a table service gives; use the one that was read"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use table_core::{ETag, EntityKey};

    fn key() -> EntityKey {
        EntityKey::parse("p", "r").unwrap()
    }

    fn of(action: Action, cosmos: bool) -> Result<Request> {
        let endpoint = Endpoint::parse("https://contoso.table.core.windows.net", false).unwrap();
        let (table, operation) = (TableName::new("Staff").unwrap(), Operation::new(action).unwrap());
        Write::of(&table, &operation, cosmos).map(|write| write.into_request(&endpoint))
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
