//! What a row holds in place of a property that is in a blob.

use std::fmt;

use bytes::Bytes;
use object_store::path::Path;
use sha2::{Digest, Sha256};
use table_core::{DynamicEntity, Error, PropertyName, Result, Value, reserved};

/// The version of references that this program writes and reads.
const VERSION: &str = "1";
/// Bytes that are hashed before others have a turn.
const HASH_BYTES: usize = 256 * 1024;

/// The type of a property that is in a blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// UTF-8.
    Text,
    Binary,
}

/// Where a property is, and what it must be: `blob:1;LENGTH;SHA256;KIND;NAME`.
///
/// The reference of a binary property is stored as text, and that of a text as binary: so no reader that knows
/// nothing of blobs takes it for the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) kind: Kind,
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
    pub(crate) name: Path,
}

impl Reference {
    /// The value to be stored.
    pub(crate) fn to_value(&self) -> Value {
        match self.kind {
            Kind::Binary => Value::String(self.to_string()),
            Kind::Text => Value::Binary(Bytes::from(self.to_string())),
        }
    }

    fn parse(value: &Value) -> Option<Self> {
        let (kind, text) = match value {
            Value::String(text) => (Kind::Binary, text.as_str()),
            Value::Binary(bytes) => (Kind::Text, std::str::from_utf8(bytes).ok()?),
            _ => return None,
        };
        let mut parts = text.strip_prefix(reserved::BLOB_REFERENCE)?.splitn(5, ';');
        if parts.next()? != VERSION {
            return None;
        }
        let (bytes, sha256) = (parts.next()?.parse().ok()?, parts.next()?.to_owned());
        if parts.next()? != kind.word() {
            return None;
        }
        Some(Self { kind, bytes, sha256, name: Path::parse(parts.next()?).ok()? })
    }

    /// Whether the blob holds just this.
    pub(crate) fn holds(&self, payload: &Payload, sha256: &str) -> bool {
        self.kind == payload.kind && self.bytes == payload.bytes.len() as u64 && self.sha256 == sha256
    }
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Binary => "binary",
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, bytes, sha256, name } = self;
        write!(f, "{}{VERSION};{bytes};{sha256};{};{name}", reserved::BLOB_REFERENCE, kind.word())
    }
}

/// The value of a property, as a blob holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Payload {
    pub(crate) kind: Kind,
    pub(crate) bytes: Bytes,
}

impl Payload {
    /// A value as a blob holds it; gives back what is neither text nor binary.
    pub(crate) fn of(value: Value) -> Result<Self, Value> {
        match value {
            Value::Binary(bytes) => Ok(Self { kind: Kind::Binary, bytes }),
            Value::String(text) => Ok(Self { kind: Kind::Text, bytes: Bytes::from(text) }),
            other => Err(other),
        }
    }

    /// The value of a property; `None` for a text that is no UTF-8.
    pub(crate) fn into_value(self) -> Option<Value> {
        match self.kind {
            Kind::Binary => Some(Value::Binary(self.bytes)),
            Kind::Text => String::from_utf8(self.bytes.into()).ok().map(Value::String),
        }
    }
}

/// The references of a row, by the properties that they stand for.
pub(crate) type References = Vec<(PropertyName, Reference)>;

/// The references of a row.
///
/// # Errors
/// [`Corrupted`](table_core::ErrorKind::Corrupted), naming key and property, for one that cannot be read.
pub(crate) fn references(row: &DynamicEntity) -> Result<References> {
    let Some(names) = row.get(reserved::ROW_BLOBS.as_str()).and_then(Value::as_str) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for name in names.split(',').filter(|name| !name.is_empty()) {
        // A projection has not selected all of them.
        let Some(value) = row.get(name) else { continue };
        let reference = Reference::parse(value).ok_or_else(|| {
            Error::corrupted("the property should be a reference to a blob, and is none that this program knows")
                .with_key(row.key.clone())
                .with_property(name)
        })?;
        found.push((PropertyName::new(name)?, reference));
    }
    Ok(found)
}

/// Puts references into a row, in place of the properties that they stand for.
pub(crate) fn refer(row: &mut DynamicEntity, mut references: References) {
    row.properties.remove(reserved::ROW_BLOBS.as_str());
    if references.is_empty() {
        return;
    }
    references.sort_by(|(one, _), (other, _)| one.cmp(other));
    let names: Vec<&str> = references.iter().map(|(name, _)| name.as_str()).collect();
    row.properties.insert(reserved::ROW_BLOBS, Value::String(names.join(",")));
    for (name, reference) in references {
        row.properties.insert(name, reference.to_value());
    }
}

/// The SHA-256 of a payload, in hexadecimal digits. A large one lets others have a turn.
pub(crate) async fn sha256(bytes: &[u8]) -> String {
    let mut hash = Sha256::new();
    for chunk in bytes.chunks(HASH_BYTES) {
        hash.update(chunk);
        if chunk.len() == HASH_BYTES {
            tokio::task::yield_now().await;
        }
    }
    hex(&hash.finalize())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;

    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(kind: Kind) -> Reference {
        Reference { kind, bytes: 3, sha256: "ab".repeat(32), name: Path::from("employees/0a/Photo-x;y") }
    }

    #[test]
    fn a_reference_comes_back_and_is_of_the_other_type() {
        for kind in [Kind::Text, Kind::Binary] {
            let value = reference(kind).to_value();
            assert_eq!(matches!(value, Value::String(_)), kind == Kind::Binary);
            assert_eq!(Reference::parse(&value), Some(reference(kind)));
        }
        let forged = Value::Binary(Bytes::from(reference(Kind::Binary).to_string()));
        assert_eq!(Reference::parse(&forged), None);
        assert_eq!(Reference::parse(&Value::from("blob:2;3;ab;binary;x")), None);
    }

    #[tokio::test]
    async fn a_hash_is_that_of_the_whole_payload() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc").await, abc);
        let long = vec![7_u8; HASH_BYTES * 2 + 1];
        assert_eq!(sha256(&long).await, hex(&Sha256::digest(&long)));
    }
}
