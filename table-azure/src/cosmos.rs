//! What Cosmos DB for Table does otherwise than Table Storage, checked before anything is sent.

use table_core::store::Capabilities;
use table_core::{Error, Operation, Result, Transaction};

/// Bytes of a row key in UTF-8.
const ROW_KEY_BYTES: usize = 255;
/// Bytes of one transaction.
const TRANSACTION_BYTES: usize = 2 * 1024 * 1024;
/// Property names that it keeps for itself.
const RESERVED: [&str; 4] = ["ID", "rid", "etag", "ResourceId"];

/// What Cosmos DB does: results come in no order, and keys and transactions are smaller.
pub(crate) const fn capabilities() -> Capabilities {
    Capabilities {
        ordered: false,
        transaction_bytes: TRANSACTION_BYTES,
        row_key_utf16_units: ROW_KEY_BYTES,
        reserved_properties: &RESERVED,
        ..Capabilities::table_service()
    }
}

/// Refuses a write that Cosmos DB would refuse.
pub(crate) fn check_operation(operation: &Operation) -> Result<()> {
    let row = operation.key().row.as_str();
    if row.len() > ROW_KEY_BYTES {
        return Err(Error::limit_exceeded(format!(
            "a row key takes at most {ROW_KEY_BYTES} bytes in Cosmos DB, this one takes {}; shorten it",
            row.len()
        )));
    }
    let properties = operation.action().entity().map(|entity| &entity.properties);
    let reserved = properties.and_then(|properties| RESERVED.into_iter().find(|name| properties.get(name).is_some()));
    match reserved {
        None => Ok(()),
        Some(name) => Err(Error::invalid_name("Cosmos DB keeps this property name for itself; rename the property")
            .with_property(name)),
    }
}

/// Refuses a transaction that Cosmos DB would refuse.
pub(crate) fn check_transaction(transaction: &Transaction) -> Result<()> {
    let mut bytes = 0;
    for (index, operation) in transaction.operations().iter().enumerate() {
        bytes += operation.counted_bytes();
        let within = if bytes > TRANSACTION_BYTES { Err(too_large()) } else { check_operation(operation) };
        within.map_err(|error| error.with_operation_index(index).with_key(operation.key().clone()))?;
    }
    Ok(())
}

fn too_large() -> Error {
    Error::limit_exceeded(format!("a transaction takes at most {TRANSACTION_BYTES} bytes in Cosmos DB; split it"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use table_core::{Action, DynamicEntity, EntityKey, ErrorKind};

    fn insert(row: &str, property: &str, text: &str) -> Operation {
        let entity = DynamicEntity::new(EntityKey::parse("p", row).unwrap()).with(property, text).unwrap();
        Operation::new(Action::Insert(entity)).unwrap()
    }

    #[test]
    fn a_row_key_is_counted_in_bytes() {
        assert!(check_operation(&insert(&"x".repeat(255), "A", "")).is_ok());
        assert!(check_operation(&insert(&"\u{e9}".repeat(127), "A", "")).is_ok());
        for row in ["x".repeat(256), "\u{e9}".repeat(128)] {
            assert_eq!(check_operation(&insert(&row, "A", "")).unwrap_err().kind(), ErrorKind::LimitExceeded);
        }
    }

    #[test]
    fn reserved_names_are_refused_and_named() {
        for name in capabilities().reserved_properties {
            let error = check_operation(&insert("r", name, "")).unwrap_err();
            assert_eq!((error.kind(), error.property()), (ErrorKind::InvalidName, Some(*name)));
        }
        assert!(check_operation(&insert("r", "Id", "")).is_ok());
    }

    #[test]
    fn a_transaction_is_smaller() {
        let text = "x".repeat(30_000);
        let of = |count: usize| {
            let operations = (0..count).map(|number| insert(&number.to_string(), "A", &text)).collect();
            check_transaction(&Transaction::new(operations).unwrap())
        };
        assert!(of(34).is_ok());
        let error = of(36).unwrap_err();
        assert_eq!((error.kind(), error.operation_index()), (ErrorKind::LimitExceeded, Some(34)));
    }

    #[test]
    fn patterns_that_need_order_refuse() {
        assert!(capabilities().require_order("a log tail").is_err());
    }
}
