//! Continuations: where the next page begins, in words.

use crate::error::{Error, Result};
use crate::keys::EntityKey;
use crate::names::TableName;
use crate::store::PageToken;

/// The first line of our tokens, so that those of other stores are refused.
const MARK: &str = "key-1";

/// Says that the next page of a query begins at a key.
#[must_use]
pub fn token_of_key(next: &EntityKey) -> PageToken {
    encode([next.partition.as_str(), next.row.as_str()])
}

/// The key that the page of a query begins at.
///
/// # Errors
/// [`InvalidQuery`](crate::ErrorKind::InvalidQuery) for a token of another store.
pub fn key_of_token(token: &PageToken) -> Result<EntityKey> {
    let [partition, row] = decode(token)?;
    EntityKey::parse(partition, row).map_err(|error| foreign().with_source(error))
}

/// Says that the next page of a listing begins with a table.
#[must_use]
pub fn token_of_table(next: &TableName) -> PageToken {
    encode([next.as_str()])
}

/// The table that the page of a listing begins with.
///
/// # Errors
/// [`InvalidQuery`](crate::ErrorKind::InvalidQuery) for a token of another store.
pub fn table_of_token(token: &PageToken) -> Result<TableName> {
    let [name] = decode(token)?;
    TableName::new(name).map_err(|error| foreign().with_source(error))
}

/// A token of these texts. No key and no name holds a line feed, so they cannot run into each other.
fn encode<const N: usize>(parts: [&str; N]) -> PageToken {
    PageToken::new(format!("{MARK}\n{}", parts.join("\n")))
}

/// The texts of a token.
fn decode<const N: usize>(token: &PageToken) -> Result<[&str; N]> {
    let rest = token.as_str().strip_prefix(MARK).and_then(|rest| rest.strip_prefix('\n')).ok_or_else(foreign)?;
    rest.split('\n').collect::<Vec<_>>().try_into().map_err(|_| foreign())
}

fn foreign() -> Error {
    Error::invalid_query("the continuation is not of such a query on this store; begin anew without it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_leads_back_and_another_kind_does_not() {
        let token = encode(["a", ""]);
        assert_eq!(decode(&token).unwrap(), ["a", ""]);
        assert!(decode::<1>(&token).is_err());
        assert!(decode::<1>(&PageToken::new("memory-1")).is_err());
        assert!(decode::<1>(&PageToken::new("memory-2\na")).is_err());
    }
}
