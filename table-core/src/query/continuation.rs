//! Where a page ended, as something to keep: in a cursor of a web page, a file, a queue message.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::explain::Explain;
use crate::error::{Error, Result};
use crate::names::TableName;
use crate::store::{PageToken, Selection};

/// How many bytes a token may have: two keys of a store's own token in any spelling, and more.
const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// Where a page of a query ended.
///
/// It survives a restart: as text ([`Continuation::to_token`], which is safe in a URL) or by
/// serde, which writes the same text. It belongs to its query: another query, on another table, of
/// other keys, columns or type, refuses it. A query may change its page size from page to page;
/// what is left of its `top` is in the continuation.
///
/// It is not signed. Who can forge one can at most page through the query's own rows from another
/// place.
///
/// ```
/// # use std::sync::Arc;
/// # use table_core::{Entity, ErrorKind, MemoryStore, Table};
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[entity(partition = "{department}", row = "empid_{id:06}")]
/// # struct Employee { department: String, id: u32, name: String, age: i32 }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// # let table = Table::new(Arc::new(MemoryStore::new()), "Employees")?;
/// # table.create().await?;
/// # let employee = |id, age| Employee { department: "Sales".into(), id, name: "Jo".into(), age };
/// for id in 0..5 {
///     table.insert(&employee(id, 40)).await?;
/// }
/// let query = Employee::range("Sales").query().page_size(3);
/// let first = table.page(query.clone(), None).await?;
/// let token = first.next.expect("there is more").to_token();
///
/// // Later, perhaps in another process.
/// let second = table.page(query, Some(&token.parse()?)).await?;
/// assert_eq!((second.items.len(), second.next), (2, None));
/// // A query of another partition refuses it.
/// let other = table.page(Employee::range("Legal"), Some(&token.parse()?)).await.unwrap_err();
/// assert_eq!(other.kind(), ErrorKind::InvalidQuery);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Continuation {
    content: Content,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Content {
    /// The query's [`fingerprint`].
    #[serde(rename = "q")]
    query: u64,
    #[serde(rename = "p")]
    position: Position,
    /// How many entities are left of the query's `top`.
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    remaining: Option<usize>,
}

/// The range that is being read, and where in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Position {
    #[serde(rename = "s")]
    pub(super) step: usize,
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub(super) token: Option<PageToken>,
}

impl Continuation {
    pub(super) const fn new(query: u64, position: Position, remaining: Option<usize>) -> Self {
        Self { content: Content { query, position, remaining } }
    }

    /// Where to go on and how many entities are left, for the query that this belongs to.
    pub(super) fn resume(&self, query: u64) -> Result<(Position, Option<usize>)> {
        if self.content.query == query {
            return Ok((self.content.position.clone(), self.content.remaining));
        }
        Err(Error::invalid_query(
            "the continuation belongs to another query; use it with the query that gave it, or start from the first page",
        ))
    }

    /// The continuation as text, which is safe in a URL.
    #[must_use]
    pub fn to_token(&self) -> String {
        // Plain numbers and texts always serialise, so the fallback is never taken.
        let mut bytes = serde_json::to_vec(&self.content).unwrap_or_default();
        bytes.extend(checksum(&bytes));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    fn from_token(token: &str) -> Option<Self> {
        if token.len() > MAX_TOKEN_BYTES {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (content, sum) = bytes.split_last_chunk::<CHECKSUM_BYTES>()?;
        if *sum != checksum(content) {
            return None;
        }
        Some(Self { content: serde_json::from_slice(content).ok()? })
    }
}

impl fmt::Display for Continuation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_token())
    }
}

/// Reads what [`Continuation::to_token`] wrote.
impl FromStr for Continuation {
    type Err = Error;

    fn from_str(token: &str) -> Result<Self> {
        Self::from_token(token).ok_or_else(|| {
            Error::invalid_query(
                "the continuation token is damaged; use it as it was given, or start from the first page",
            )
        })
    }
}

impl Serialize for Continuation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_token())
    }
}

impl<'de> Deserialize<'de> for Continuation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let token = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        token.parse().map_err(de::Error::custom)
    }
}

/// What tells queries apart: FNV-1a over the table, the type's label, the columns, and the OData
/// text of each range.
///
/// All of these are text that this crate writes itself, so the number is the same in every
/// process, on every machine and with every compiler. A planner that reads other ranges gives
/// another number, which is right: positions count ranges.
pub(super) fn fingerprint(table: &TableName, label: &str, explain: &Explain) -> u64 {
    let mut text = Fnv::new();
    text.item(&table.as_str().to_ascii_lowercase());
    text.item(label);
    match explain.selection() {
        Selection::All => text.item("*"),
        Selection::Only(names) => names.iter().for_each(|name| text.item(name.as_str())),
    }
    for filter in explain.filters() {
        text.item(&filter.to_string());
    }
    text.0
}

const CHECKSUM_BYTES: usize = 4;

/// Four bytes that change when a token is damaged.
fn checksum(content: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut sum = Fnv::new();
    sum.bytes(content);
    // Folding keeps what the upper half says.
    let folded = (sum.0 >> 32) ^ (sum.0 & u64::from(u32::MAX));
    u32::try_from(folded).unwrap_or_default().to_be_bytes()
}

/// The hash FNV-1a in 64 bits.
struct Fnv(u64);

impl Fnv {
    const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// One text of several. UTF-8 has no byte FF, so it ends each.
    fn item(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        self.bytes(&[0xff]);
    }
}
