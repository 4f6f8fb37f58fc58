//! Transactions as multipart requests: a batch that holds one change set, which holds a request for each operation.

use std::io::Write as _;

use azure_core::http::headers::CONTENT_TYPE;
use azure_core::http::{Method, Request};
use table_core::{Error, Result, TableName, Transaction, limits};
use uuid::Uuid;

use super::address;
use super::request::{self, Write};
use crate::endpoint::Endpoint;

/// The request that does a transaction.
///
/// # Errors
/// `LimitExceeded` where its text is longer than the service takes, though its entities are not: base64 and escapes
/// make texts longer.
pub(super) fn encode(
    endpoint: &Endpoint,
    table: &TableName,
    transaction: &Transaction,
    cosmos: bool,
) -> Result<Request> {
    let (batch, changes) = (format!("batch_{}", Uuid::new_v4()), format!("changeset_{}", Uuid::new_v4()));
    let mut body = format!("--{batch}\r\nContent-Type: multipart/mixed; boundary={changes}\r\n\r\n").into_bytes();
    for (index, operation) in transaction.operations().iter().enumerate() {
        let located = |error: Error| error.with_operation_index(index).with_key(operation.key().clone());
        let part = Write::of(table, operation, cosmos).map_err(located)?;
        // Writing to a vector cannot fail.
        let _ = write!(
            body,
            "--{changes}\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: {index}\r\n\r\n"
        );
        part.write_text(endpoint, &mut body);
    }
    body.extend_from_slice(format!("--{changes}--\r\n--{batch}--\r\n").as_bytes());
    if body.len() > limits::TRANSACTION_BYTES {
        return Err(Error::limit_exceeded(format!(
            "a transaction takes at most {} bytes, and this one takes {} as it is sent; split it",
            limits::TRANSACTION_BYTES,
            body.len()
        )));
    }
    let mut whole = request::plain(address::batch(endpoint), Method::Post);
    whole.insert_header(CONTENT_TYPE, format!("multipart/mixed; boundary={batch}"));
    whole.set_body(body);
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use azure_core::http::Body;
    use table_core::{Action, DynamicEntity, EntityKey, ErrorKind, Operation, Value};

    fn of(rows: impl IntoIterator<Item = DynamicEntity>) -> Result<Request> {
        let operations = rows.into_iter().map(|row| Operation::new(Action::InsertOrReplace(row)).unwrap()).collect();
        let endpoint = Endpoint::parse("https://contoso.table.core.windows.net", false).unwrap();
        encode(&endpoint, &TableName::new("Staff").unwrap(), &Transaction::new(operations).unwrap(), false)
    }

    fn row(name: &str) -> DynamicEntity {
        DynamicEntity::new(EntityKey::parse("p", name).unwrap())
    }

    #[test]
    fn every_operation_is_a_part_with_its_own_address() {
        let request = of([row("1"), row("a b")]).unwrap();
        let Body::Bytes(body) = request.body() else { panic!("a body of bytes") };
        let text = std::str::from_utf8(body).unwrap();
        for (index, name) in ["1", "a%20b"].iter().enumerate() {
            let line = format!(
                "Content-ID: {index}\r\n\r\nPUT https://contoso.table.core.windows.net/Staff(PartitionKey='p',RowKey='{name}') HTTP/1.1\r\n"
            );
            assert!(text.contains(&line), "{text}");
        }
        assert!(text.ends_with("--\r\n"), "{text}");
    }

    #[test]
    fn a_text_that_grows_beyond_the_limit_is_refused() {
        // 64 KiB of binary are a third more in base64.
        let bytes = || Value::from(vec![0_u8; limits::BINARY_BYTES]);
        let rows = (0..60).map(|number| row(&number.to_string()).with("A", bytes()).unwrap());
        let error = of(rows).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{error}");
    }
}
