//! The addresses of tables and entities, and what stands in their queries.

use std::fmt;

use azure_core::http::Url;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use table_core::{EntityKey, TableName};

use crate::endpoint::Endpoint;

/// Everything but what no address gives a meaning to.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub(super) fn encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// The list of all tables.
pub(super) fn tables(endpoint: &Endpoint) -> Url {
    endpoint.at("Tables")
}

/// One table in the list of all tables.
pub(super) fn listed_table(endpoint: &Endpoint, table: &TableName) -> Url {
    endpoint.at(&format!("Tables('{table}')"))
}

/// Where entities are read and written.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// The entities of a table.
    Table(&'a TableName),
    /// One entity.
    Entity(&'a TableName, &'a EntityKey),
}

impl Place<'_> {
    pub(super) fn at(self, endpoint: &Endpoint) -> Url {
        endpoint.at(&self.to_string())
    }
}

/// The path below the endpoint.
impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table(table) => f.write_str(table.as_str()),
            Self::Entity(table, key) => {
                let (partition, row) = (Quoted(key.partition.as_str()), Quoted(key.row.as_str()));
                write!(f, "{table}(PartitionKey='{partition}',RowKey='{row}')")
            }
        }
    }
}

/// A key in an address: a quote within it is written twice, and everything unusual is encoded.
struct Quoted<'k>(&'k str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, piece) in self.0.split('\'').enumerate() {
            if position > 0 {
                f.write_str("%27%27")?;
            }
            utf8_percent_encode(piece, ENCODED).fmt(f)?;
        }
        Ok(())
    }
}

/// Where transactions are sent.
pub(super) fn batch(endpoint: &Endpoint) -> Url {
    endpoint.at("$batch")
}

/// An address with these parameters, encoded so that a space is `%20` and a plus is no space.
pub(super) fn with_query(mut url: Url, parameters: &[(&str, String)]) -> Url {
    let pairs: Vec<String> = parameters.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
    url.set_query((!pairs.is_empty()).then(|| pairs.join("&")).as_deref());
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint() -> Endpoint {
        Endpoint::parse("http://127.0.0.1:10002/devstoreaccount1", false).unwrap()
    }

    fn path(partition: &str, row: &str) -> String {
        let key = EntityKey::parse(partition, row).unwrap();
        Place::Entity(&TableName::new("Staff").unwrap(), &key).at(&endpoint()).path().to_owned()
    }

    #[test]
    fn keys_are_quoted_and_encoded() {
        for (key, text) in [
            ("a'b", "a%27%27b"),
            ("50%", "50%25"),
            ("a+b c", "a%2Bb%20c"),
            ("..", ".."),
            ("é", "%C3%A9"),
            ("\u{1f600}", "%F0%9F%98%80"),
            ("a&b=c;d,e", "a%26b%3Dc%3Bd%2Ce"),
            ("{[(<|>)]}^`\"", "%7B%5B%28%3C%7C%3E%29%5D%7D%5E%60%22"),
            ("", ""),
        ] {
            let expected = format!("/devstoreaccount1/Staff(PartitionKey='{text}',RowKey='1')");
            assert_eq!(path(key, "1"), expected);
        }
    }

    #[test]
    fn parameters_are_encoded() {
        let url = with_query(tables(&endpoint()), &[("$filter", "A eq 'x+y' and B eq '50%'".to_owned())]);
        assert_eq!(url.query(), Some("$filter=A%20eq%20%27x%2By%27%20and%20B%20eq%20%2750%25%27"));
        assert_eq!(with_query(tables(&endpoint()), &[]).query(), None);
    }
}
